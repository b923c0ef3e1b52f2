"""What an endpoint knows of the server around it, and of the kind that it serves.

Upstream: apiserver/pkg/endpoints/handlers/rest.go (RequestScope).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import ANONYMOUS
from fakekube.endpoints import negotiation
from fakekube.endpoints.negotiation import PROTOBUF, Form
from fakekube.endpoints.openwatches import OpenWatches
from fakekube.endpoints.options import WriteOptions, manager_or_user_agent
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.registry.kind import Kind, Subresource
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.store import Store
from fakekube.registry.stores import Stores
from fakekube.registry.strategy import WriteContext, minor_of
from fakekube.schema.decode import BodyReader, Codec
from fakekube.schema.definitions import Definitions
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.schema.protobuf.codec import ProtobufCodec


OWN_SCHEMES: Mapping[str, str] = MappingProxyType({
    "apiextensions.k8s.io": "apiextensions-apiserver", "apiregistration.k8s.io": "kube-aggregator"})
"""The groups whose server has a scheme of its own, in which nobody else's kinds are registered."""
OF_EVERY_SCHEME = "io.k8s.apimachinery."


class Services:
    """What every endpoint of a cluster shares."""

    def __init__(
        self, resources: ResourceRegistry, stores: Stores, clock: Clock, rng: Rng, definitions: Definitions,
    ) -> None:
        self.resources, self.stores, self.cluster = resources, stores, stores.cluster
        self.clock, self.rng, self.definitions = clock, rng, definitions
        self.watches = OpenWatches()
        self._protobuf: ProtobufCodec | None = None
        self._codecs: dict[GroupVersionKind, Codec | None] = {}
        resources.on_change(lambda kind, _last: self._codecs.pop(kind.gvk, None))

    def codec(self, gvk: GroupVersionKind) -> Codec | None:
        """The decoder of a kind, made on first use; None for a kind that is registered nowhere."""
        try:
            return self._codecs[gvk]
        except KeyError:
            schema = self.definitions.schema(gvk)
            codec = self._codecs[gvk] = Codec(schema) if schema is not None else None
            return codec

    @property
    def protobuf(self) -> "ProtobufCodec":
        """Reader and writer of protobuf, made on first use."""
        if self._protobuf is None:
            from fakekube.schema.protobuf.codec import ProtobufCodec

            self._protobuf = ProtobufCodec(self.definitions)
        return self._protobuf

    def now(self) -> str:
        """The time as it stands in metadata."""
        return format_time(self.clock.time())


class Scope:
    """One resource in one version, or one of its sub-resources."""

    __slots__ = ("_empty", "gvk", "kind", "name", "services", "store", "subresource")

    def __init__(self, services: Services, kind: Kind, store: Store, subresource: Subresource | None = None) -> None:
        self.services, self.kind, self.store, self.subresource = services, kind, store, subresource
        self.name = subresource.name if subresource else ""
        self.gvk = subresource.kind if subresource and subresource.kind else kind.gvk
        self._empty: Tree | None = None

    def reader(self, gvk: GroupVersionKind) -> BodyReader | None:
        """What reads bodies of a kind that come here; None for a kind that is registered nowhere.
        """
        if self.is_custom:
            return self.kind.codec
        codec = self.services.codec(gvk)
        if codec is None or gvk.group == self.gvk.group or codec.schema.name.startswith(OF_EVERY_SCHEME):
            return codec
        of_other = OWN_SCHEMES.get(gvk.group) != OWN_SCHEMES.get(self.gvk.group)
        return None if of_other or self.services.definitions.is_installed(gvk) else codec

    @property
    def is_custom(self) -> bool:
        """Whether what comes here are custom objects themselves, not a Scale of one."""
        return self.kind.custom and self.gvk is self.kind.gvk

    @property
    def minor(self) -> int:
        """The minor number of the release: 37 of ``1.37``."""
        return minor_of(self.store.cluster)

    @property
    def _has_table(self) -> bool:
        return self.kind.table and (self.subresource is None or self.subresource.table)

    @property
    def empty(self) -> Tree:
        """The kind's object without content, as bookmarks show it; not to be changed."""
        if self._empty is None:
            tree: Tree = {"kind": self.gvk.kind, "apiVersion": self.gvk.api_version}
            codec = self.reader(self.gvk)
            self._empty = codec.decode(tree).tree if codec else tree
        return self._empty

    def negotiate(self, request: Request, *, table: bool = True) -> Form:
        """The form of an answer: Tables only where the kind has one, protobuf where it has a
        message. Raises 406.
        """
        form = negotiation.negotiate(request, table=table and self._has_table)
        if form.media == PROTOBUF and (self.kind.custom or self.services.protobuf.message_of(self.gvk) is None):
            raise negotiation.not_acceptable()
        return form

    def context(
        self, info: RequestInfo, request: Request, operation: str, options: WriteOptions | None = None,
    ) -> WriteContext:
        """The context of one write, its warnings those of the request."""
        services = self.services
        context = WriteContext(
            services.cluster, services.rng, services.now(), request.user or ANONYMOUS, operation=operation,
            subresource=self.name,
            warnings=info.warnings, emptied=info.emptied, audit_annotations=info.audit_annotations,
        )
        if options is not None:
            info.dry_run = context.dry_run = options.dry_run
            context.options = options.tree
            agent = request.headers.get("user-agent", "")
            context.field_manager = manager_or_user_agent(options.field_manager, agent)
        return context
