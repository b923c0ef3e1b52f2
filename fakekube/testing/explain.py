"""How it came to this: what is said of pods and Jobs, the last Events and writes or those that led
to a change.

What every failed assertion of this package prints, and what the pytest plugin adds to the report of
a failed test.
"""

from collections.abc import Iterator

from fakekube.apimachinery.meta import BOOKKEEPING, TIMES
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import EVENTS
from fakekube.composition import reasons
from fakekube.storage.saved import key_text
from fakekube.testing.history import Change, History
from fakekube.tracing.text import offset_text
from fakekube.util.treediff import Difference, differences

MAX_CHAIN = 12
LAST_WRITES = LAST_EVENTS = 15
MAX_FIELDS = 6
NOISE = ("leases", "events")
"""Resources whose writes explain nothing, or are told by what they say."""


def offset(history: History, time: float) -> str:
    """``+1h02m05s`` after the cluster began."""
    return offset_text(time - history.started)


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
    if acting is not None and acting.revision:
        text += f", acting on #{acting.revision}"
    return f"{text}, which met the fault {cause.fault}" if cause.fault else text


def chain(history: History, change: Change) -> list[Change]:
    """A change and those that led to it, the latest first: each write acted on what the next one
    had changed.

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
    """The latest changes, oldest first, without those that explain nothing, and without Events."""
    return [change for change in history.changes if change.resource.resource not in NOISE][-count:]


def last_events(history: History, count: int = LAST_EVENTS) -> list[Change]:
    """The latest write of each of the latest Events, oldest first."""
    latest: dict[str, Change] = {}
    for change in history.changes:
        if change.resource == EVENTS.group_resource and change.type != "DELETED":
            latest.pop(change.event.record.uid, None)
            latest[change.event.record.uid] = change
    return list(latest.values())[-count:]


def fields(change: Change) -> tuple[Difference, ...]:
    """The fields that a write changed, without bookkeeping; none of an object that came or went."""
    before = change.before
    if before is None or change.type == "DELETED" or change.resource == EVENTS.group_resource:
        return ()
    return tuple(differences(before, change.object, ignored=BOOKKEEPING))


def lines(history: History, change: Change, max_fields: int = MAX_FIELDS) -> Iterator[str]:
    """One write, and below it the fields that it changed."""
    yield line(history, change)
    changed = [field for field in fields(change) if field.path.rpartition(".")[2] not in TIMES]
    for field in changed[:max_fields]:
        yield f"    {field}"
    if len(changed) > max_fields:
        yield f"    and {len(changed) - max_fields} more"


def event_line(history: History, change: Change) -> str:
    """One Event: when it was last written, what it is about and what it says."""
    event = change.object
    about = event.get("involvedObject") or {}
    name = "/".join(part for part in (about.get("namespace"), about.get("name")) if part)
    times = f" ({event['count']} times)" if (event.get("count") or 1) > 1 else ""
    return (f"{offset(history, change.time)} {event.get('type', '')} {event.get('reason', '')} "
            f"{str(about.get('kind', '')).lower()} {name}: {event.get('message', '')}{times}")


def replay(history: History) -> str:
    """What brings the same history about again."""
    options = history.snapshot.options
    return (
        f"seed {options.seed}, Kubernetes {options.kubernetes_version}, clock {options.clock}: "
        f"@pytest.mark.fakekube(seed={options.seed}) or Cluster(seed={options.seed}) has the same history again")


def explanation(history: History, change: Change | None = None, *, told: str = "") -> Iterator[str]:
    """Lines: what led to a change; or why pods and Jobs are as they are, the last Events and
    writes. Then how to replay it.

    What stands in the text ``told`` is not said again.
    """
    for title, entries in _parts(history, change, told):
        new = [entry for entry in entries if entry[0] not in told]
        if new:
            yield title
            for entry in new:
                yield from (f"  {text}" for text in entry)
    if (again := replay(history)) not in told:
        yield again


def _parts(history: History, change: Change | None, told: str) -> Iterator[tuple[str, list[list[str]]]]:
    if change is not None:
        yield "which came about like this, the latest first:", [[*lines(history, one)] for one in chain(history, change)]
        return
    storage = history.snapshot.storage
    yield "what is said of pods and Jobs:", [[text] for text in reasons.lines(storage)]
    said = [one.message for one in reasons.reasons(storage)]
    yield "the last Events:", [
        [event_line(history, one)] for one in last_events(history) if not _is_said(one.object, said, told)]
    yield "the last writes:", [[*lines(history, one)] for one in last_writes(history)]


def _is_said(event: Tree, said: list[str], told: str) -> bool:
    """Whether the reason of some pod is this Event's, or the text has its message."""
    message = str(event.get("message") or "")
    return f"{event.get('reason')}: {message}" in said or (event.get("type") == "Warning" and bool(message) and message in told)
