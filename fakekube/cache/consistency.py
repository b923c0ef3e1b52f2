"""Reading one's own writes: what was written for a key, and whether the caches show it yet.

A controller that reads a cache which does not show its own last write yet would do the same thing
once more.
Upstream: pkg/controller/util/consistency.
"""

from collections.abc import Hashable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.cache.informer import SharedInformer


class Consistency:
    """The last version written into each cache's resource, by key."""

    def __init__(self) -> None:
        self._written: dict[Hashable, dict[SharedInformer, str]] = {}

    def wrote(self, key: Hashable, informer: SharedInformer, obj: ReadOnlyTree) -> None:
        """``obj`` is how the server answered to a write for ``key``; ``informer`` is the cache that
        will show it.
        """
        self._written.setdefault(key, {})[informer] = meta.resource_version_of(obj)

    def satisfied(self, key: Hashable) -> bool:
        """Whether the caches have come to everything that was written for the key."""
        written = self._written.get(key)
        if written is None:
            return True
        if not all(informer.has_reached(version) for informer, version in written.items()):
            return False
        del self._written[key]
        return True

    def forget(self, key: Hashable) -> None:
        """The key's object is gone."""
        self._written.pop(key, None)
