"""A controller that waits until its caches show what it wrote itself, where a gate says that it
does.

Upstream: pkg/controller/util/consistency, and the gates ``StaleControllerConsistency...``.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import ExpectedError

if TYPE_CHECKING:
    from fakekube.cache.informer import SharedInformer


class OwnWrites:
    """The last writes for each object of a controller. Without the gate nothing is noted."""

    def __init__(self, ctx: Context, gate: str, *resources: Resource) -> None:
        self._informers: dict[Resource, SharedInformer] = {}
        if ctx.enabled(gate):
            self._informers = {resource: ctx.informer(resource) for resource in resources}
        self._consistency = Consistency()

    def note(self, key: Hashable, resource: Resource, obj: ReadOnlyTree) -> None:
        """``obj`` is how the server answered to a write for the object of ``key``."""
        informer = self._informers.get(resource)
        if informer is not None:
            self._consistency.wrote(key, informer, obj)

    def are_seen(self, key: Hashable) -> bool:
        """Whether the caches show everything that was noted for the key."""
        return self._consistency.satisfied(key)

    def check_seen(self, key: Hashable) -> None:
        """Raises ExpectedError while the caches do not show everything that was noted for the key.
        """
        if not self._consistency.satisfied(key):
            raise ExpectedError("the cache does not show yet what was written last")

    def forget(self, key: Hashable) -> None:
        """The key's object is gone."""
        self._consistency.forget(key)
