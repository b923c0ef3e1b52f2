"""Which resources have objects: a cache in the server's own process need not list the others.

Most resources of a cluster are never used. A cache that lists and watches each of them would cost
as much as the rest of a cluster's start, so a cache waits here until its resource has an object.
Upstream has no counterpart.
"""

from collections.abc import Callable
from typing import Protocol

from fakekube.apimachinery.gvk import GroupResource

Wake = Callable[[int | None], None]
"""Called once, in the middle of a write, so it must be quick.

The argument is a resource version at which the resource had no object, or None when it may have
had some.
"""
Cancel = Callable[[], object]


class ResourcePresence(Protocol):
    """Tells when a resource gets its first object.

    Each method returns a function that cancels the call. None means that there is nothing to wait
    for, and that the function will not be called.
    """

    def await_first(self, resource: GroupResource, wake: Wake, *, whole: bool) -> Cancel | None:
        """Call ``wake`` as soon as the resource has an object. None when it has one already.

        Unless ``whole``, objects that came with the cluster do not count until somebody asks for
        the resource.
        """

    def await_changes(self, tell: Callable[[GroupResource, int | None], None]) -> Cancel:
        """Call ``tell`` once for each resource in which anything has changed, now or later.

        Objects that came with the cluster are no change until one of them is changed or deleted.
        The version is as for ``Wake``.
        """

    def await_owned(self, wake: Callable[[], None]) -> Cancel | None:
        """Call ``wake`` as soon as an object of any resource names an owner.

        One that has a finalizer for its dependents counts, too.
        """
