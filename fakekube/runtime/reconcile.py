"""The whole contract of a controller's author: a name in, a Result or an error out.

Upstream: controller-runtime/pkg/reconcile, without ``Result.Requeue``. A request carries a name and
never an event: reconcile reads the present state, makes it what it should be, and may be called at
any time, for no reason, and again.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from fakekube.apimachinery.meta import ObjectKey
from fakekube.workqueue.queue import WorkQueue

if TYPE_CHECKING:
    from typing import TypeGuard


Request = ObjectKey
"""What to reconcile. The namespace of what is in none is empty."""


class Result(NamedTuple):
    """The reconcile went well; with ``requeue_after`` the object is reconciled again after that
    time.

    ``daemon``: the wait never pulls virtual time forward by itself; for what recurs for ever (a
    resync, a cron).
    """

    requeue_after: timedelta | None = None
    daemon: bool = False

    @classmethod
    def after(cls, seconds: float, *, daemon: bool = False) -> Self:
        """Again after so many seconds: after a moment, not at once, where less than a timedelta
        can tell is left, or a reconcile that waits for a time would be done again and again and
        time would never get there.
        """
        wait = timedelta(seconds=seconds)
        return cls(timedelta.resolution if seconds > 0 and not wait else wait, daemon)


class TerminalError(Exception):
    """Trying again would not help: logged, and not retried until the next event."""


class ExpectedError(Exception):
    """What is waited for is not there yet, or was changed by somebody else: told in a line without
    a traceback, and retried with back-off.
    """


class Reconciler(Protocol):
    """Makes one object what it should be.

    It may also have a method ``setup(queue)``, see ``HasSetup``.
    """

    async def reconcile(self, request: Any) -> Result | None:
        """``request`` is a key of the controller's queue: a Request, unless the reconciler adds
        keys of its own.

        None is a plain Result. Whatever is raised is logged and retried with back-off.
        """


class HasSetup(Protocol):
    """A reconciler that listens to more than its declaration says, or that has timers or queues of
    its own.
    """

    def setup(self, queue: WorkQueue[Any]) -> None:
        """Add handlers, timers and tasks by the context; ``queue`` holds the controller's keys.

        Called once, when the sources of the declaration are registered and the workers are started.
        """


def has_setup(reconciler: object) -> "TypeGuard[HasSetup]":
    """Whether a reconciler wants to be set up."""
    return hasattr(reconciler, "setup")
