"""The whole contract of a controller's author: a name in, a Result or an error out.

Upstream: controller-runtime/pkg/reconcile, without ``Result.Requeue``. A request carries a name and never an event:
reconcile looks at what is, makes it what it should be, and may be called at any time, for no reason, and again.
"""

from datetime import timedelta
from typing import NamedTuple, Protocol


class Request(NamedTuple):
    """What to reconcile. The namespace of what is in none is empty."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Result(NamedTuple):
    """How it went: well, and perhaps to be looked at again after ``requeue_after``.

    ``daemon``: looking again never pulls virtual time forward by itself; for what recurs for ever (a resync, a cron).
    """

    requeue_after: timedelta | None = None
    daemon: bool = False


class TerminalError(Exception):
    """Trying again would not help: logged, and not retried until the next event."""


class Reconciler(Protocol):
    """Makes one object what it should be."""

    async def reconcile(self, request: Request) -> Result | None:
        """None is a plain Result. Whatever is raised is logged and retried with back-off."""
