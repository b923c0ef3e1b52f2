"""Why something was written: what a write remembers, so that a history can be read backwards.

A controller's work queue notes the version of the object whose change brought a key into it; the
worker that takes the key acts on that version; a request that is made meanwhile carries it into the
server, which hangs it on the event of the commit. All of it goes by context variables, so that
nobody hands it on, and costs a write less than a microsecond. Over a network only the request
itself is known. Upstream has audit logs, which know the request and not what it answered to.
"""

from contextvars import ContextVar
from typing import NamedTuple


class Acting(NamedTuple):
    """What a component is doing: ``component`` names its queue, ``key`` what it works on (None: it
    only hears of something).

    ``revision`` is the version of the object whose change led to this, as it stands in objects;
    empty when none did.
    """

    component: str
    key: object
    revision: str


class Cause(NamedTuple):
    """The request behind a write. ``time`` is Unix seconds; ``fault`` names what was made to go
    wrong with it, and nothing else was.
    """

    time: float
    method: str
    path: str
    user: str
    user_agent: str
    acting: Acting | None
    fault: str = ""


ACTING: ContextVar[Acting | None] = ContextVar("fakekube-acting", default=None)
"""What the running task does, for those who write on its behalf."""

CAUSE: ContextVar[Cause | None] = ContextVar("fakekube-cause", default=None)
"""The request that is being answered, for the storage."""


def revision_acted_on() -> str:
    """The version of the object on whose account the running task is at work; empty when there is
    none.
    """
    acting = ACTING.get()
    return acting.revision if acting is not None else ""
