"""What admission plugins that ask others, or that read configurations, may use of the server.

Upstream: apiserver/pkg/admission/initializer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakekube.registry.buckets import Buckets
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.stores import Stores
from fakekube.registry.strategy import minor_of

if TYPE_CHECKING:
    from fakekube.apimachinery.gvk import GroupVersionKind
    from fakekube.apimachinery.types import Tree
    from fakekube.auth.authorizer import Authorizer
    from fakekube.schema.decode import Codec
    from fakekube.schema.definitions import Definitions
    from fakekube.util.activity import Activity
    from fakekube.util.clock import Clock
    from fakekube.util.rng import Rng
    from fakekube.webhooks.callables import Callables
    from fakekube.webhooks.client import WebhookClient


@dataclass(frozen=True, kw_only=True)
class Services:
    """Parts of the server.

    ``codec`` gives the decoder of a kind, ``client`` what calls webhooks, made when the first one
    is called. ``callables`` are the webhooks that are Python functions of this process.
    """

    resources: ResourceRegistry
    buckets: Buckets
    stores: Stores
    definitions: "Definitions"
    codec: "Callable[[GroupVersionKind], Codec | None]"
    client: "Callable[[], WebhookClient]"
    callables: "Callables"
    authorizer: "Authorizer"
    rng: "Rng"
    clock: "Clock"
    activity: "Activity"
    configuration: "Mapping[str, Tree]"

    @property
    def minor(self) -> int:
        """The minor number of the release: 37 of ``1.37``."""
        return minor_of(self.stores.cluster)

    def equivalents(self, kind: Kind) -> Sequence[Kind]:
        """The other kinds that show the same stored objects, in the order of discovery."""
        resource = kind.storage_resource
        return [each for each in self.resources.kinds if each.storage_resource == resource and each is not kind]
