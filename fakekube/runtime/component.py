"""What a manager runs: something that starts with a context and stops.

A controller is one, and a kubelet, or a scheduler.
"""

from typing import TYPE_CHECKING, Protocol

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Json
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from typing import TypeGuard


class WrongOption(ValueError):
    """An option of the context (``option``) that a component cannot start with; the text says why.
    """

    option = ""


class Component(Protocol):
    """Something with informers, queues and tasks of its own."""

    async def start(self, ctx: Context) -> None:
        """Register handlers, make queues, spawn tasks on ``ctx.tasks``; return without waiting for
        caches.
        """

    async def stop(self) -> None:
        """Called before the context is closed. It may be started again, with another context."""


class Runnable(Component, Protocol):
    """A component as a manager takes it, with a name.

    ``user_agent`` (empty: its name) and ``user`` (None: the manager's) say who it is to the server.
    """

    name: str
    user_agent: str
    user: UserInfo | None


class Killable(Protocol):
    """A component that can die at once, before it is stopped: what it does later counts for
    nothing.
    """

    def kill(self) -> None:
        """Be dead. Returns at once; harmless when it is."""


def is_killable(component: object) -> "TypeGuard[Killable]":
    """Whether a component can die at once."""
    return hasattr(component, "kill")


class Snapshotted(Protocol):
    """A component with a state of its own that objects do not show, such as what runs on a node."""

    def dump(self) -> Json:
        """All of that state, as JSON."""

    def load(self, state: Json) -> None:
        """Take over a state that such a component dumped, perhaps in another process."""


def is_snapshotted(component: object) -> "TypeGuard[Snapshotted]":
    """Whether a component has a state of its own, which snapshots hold."""
    return hasattr(component, "dump")
