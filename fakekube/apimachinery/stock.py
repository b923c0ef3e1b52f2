"""How a cache in the server's own process learns that there is nothing for it to ask for.

Most resources of a cluster are never used. A cache that has to list and watch each of them costs as much as all the rest of
a cluster's start, so it may sleep until there is something to see. Upstream has nothing of the kind.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from fakekube.apimachinery.gvk import GroupResource


class Waiting(NamedTuple):
    """A cache that sleeps: it is empty at ``revision``; when that is None it has to list once it wakes."""

    revision: int | None
    cancel: Callable[[], object]


class Stock(Protocol):
    """Whoever knows what a server holds."""

    def await_first(self, resource: GroupResource, wake: Callable[[], None], *, whole: bool) -> Waiting | None:
        """Call ``wake()`` once, as soon as there is something of a resource to see. None when there is already.

        Unless ``whole`` is wanted, objects that came with the cluster do not count before somebody asks for the resource.
        """
