"""How it came to this: the writes that led to a change, the latest writes, and how to see all of it again.

What every failed assertion of this package prints, and what the pytest plugin adds to the report of a failed test.
"""

from collections.abc import Iterator

from fakekube.storage.saved import key_text
from fakekube.testing.history import Change, History

MAX_CHAIN = 12
LAST_WRITES = 15
NOISE = ("leases",)
"""Resources whose writes explain nothing."""


def offset(history: History, time: float) -> str:
    """``+1h02m05s`` after the cluster began."""
    seconds = time - history.started
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    rest = f"{seconds - whole // 60 * 60:g}"
    text = f"{hours}h{minutes:02}m" if hours else f"{minutes}m" if minutes else ""
    return f"+{text}{rest}s"


def line(history: History, change: Change) -> str:
    """One write: version, time, object, request, who sent it, and what it acted on."""
    head = f"#{change.revision} {offset(history, change.time)} {change.type} {change.name}"
    cause = change.cause
    if cause is None:
        return f"{head}  by the server itself"
    text = f"{head}  {cause.method} {cause.path}  by {cause.user_agent} as {cause.user}"
    acting = cause.acting
    if acting is not None and acting.component:
        text += f", {acting.component} at {key_text(acting.key)}"
    return text + (f", acting on #{acting.revision}" if acting is not None and acting.revision else "")


def chain(history: History, change: Change) -> list[Change]:
    """A change and those that led to it, the latest first: each write acted on what the next one had changed.

    Where the writer is not known to have acted on anything, it ends.
    """
    found: list[Change] = []
    one: Change | None = change
    while one is not None and len(found) < MAX_CHAIN and one not in found:
        found.append(one)
        acting = one.cause.acting if one.cause is not None else None
        one = history.change_at(acting.revision) if acting is not None else None
    return found


def last_writes(history: History, count: int = LAST_WRITES) -> list[Change]:
    """The latest changes, oldest first, without those that explain nothing."""
    return [change for change in history.changes if change.resource.resource not in NOISE][-count:]


def replay(history: History) -> str:
    """What brings the same history about again."""
    options = history.snapshot.options
    return (
        f"seed {options.seed}, Kubernetes {options.kubernetes_version}, clock {options.clock}: "
        f"@pytest.mark.fakekube(seed={options.seed}) or Cluster(seed={options.seed}) has the same history again")


def explanation(history: History, change: Change | None = None) -> Iterator[str]:
    """Lines: what led to a change, or the latest writes; then how to replay it."""
    if change is not None:
        yield "which came about like this, the latest first:"
        for one in chain(history, change):
            yield f"  {line(history, one)}"
    else:
        yield "the last writes:"
        for one in last_writes(history):
            yield f"  {line(history, one)}"
    yield replay(history)
