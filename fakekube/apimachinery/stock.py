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
    """Whoever knows what a server holds. ``wake`` is called once, in the middle of a write: it must be quick."""

    def await_first(self, resource: GroupResource, wake: Callable[[], None], *, whole: bool) -> Waiting | None:
        """Call ``wake()`` as soon as there is something of a resource to see. None when there is already.

        Unless ``whole`` is wanted, objects that came with the cluster do not count before somebody asks for the resource.
        """

    def await_change(self, resource: GroupResource, wake: Callable[[int | None], None]) -> Callable[[], object] | None:
        """Call ``wake(since)`` as soon as anything of a resource changes; what is returned cancels that.

        ``since`` is a version at which there was nothing, None when there was something. Nobody is called, and None returned,
        when it has changed already: objects were made besides those that came with the cluster, or these are not as they were.
        """

    def await_owned(self, wake: Callable[[], None]) -> Callable[[], object] | None:
        """Call ``wake()`` as soon as an object, of whatever resource, names an owner, or has a finalizer for its dependents.

        What is returned cancels that. None when there is such an object.
        """
