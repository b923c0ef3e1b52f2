"""How a cache in the server's own process learns that there is nothing for it to ask for.

Most resources of a cluster are never used. A cache that has to list and watch each of them costs as much as all the rest of
a cluster's start, so it may sleep until there is something to see. Upstream has nothing of the kind.
"""

from collections.abc import Callable
from typing import Protocol

from fakekube.apimachinery.gvk import GroupResource

Wake = Callable[[int | None], None]
"""Called once, in the middle of a write, so that it must be quick.

It is given a version at which there was nothing of a resource, or None when there may have been something.
"""
Cancel = Callable[[], object]


class Stock(Protocol):
    """Whoever knows what a server holds. What these return cancels the waiting; it is None where there is nothing to wait for."""

    def await_first(self, resource: GroupResource, wake: Wake, *, whole: bool) -> Cancel | None:
        """Wake somebody as soon as there is something of a resource to see. None when there is already.

        Unless ``whole`` is wanted, objects that came with the cluster do not count before somebody asks for the resource.
        """

    def await_changes(self, tell: Callable[[GroupResource, int | None], None]) -> Cancel:
        """Tell somebody once of each resource in which anything has changed, or does.

        It has when objects were made besides those that came with the cluster, or these are not as they were. The version is as
        for ``Wake``.
        """

    def await_owned(self, wake: Callable[[], None]) -> Cancel | None:
        """Wake somebody as soon as an object, of whatever resource, names an owner, or has a finalizer for its dependents."""
