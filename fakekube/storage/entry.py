"""What is kept of one change: what it undid, and why it was made.

That is the state before it, as bytes. The state after it is that before the object's next change,
or what the bucket holds now, so that no state is kept twice, and what is retained of an object that
never changed is no copy of it. An entry is a flat tuple of texts, bytes and numbers: Python's
cyclic collector stops looking at such a tuple as soon as it has seen it once, and a long history
costs no pause.
"""

from fakekube.apimachinery.causes import Acting, Cause
from fakekube.storage.record import EventType

Entry = tuple[
    int, EventType, str, str, int, bytes | None, bytes | None,
    float | None, str, str, str, str, str | None, object, object, str, str,
]
"""Revision, type, namespace and name of a change; revision and bytes of the state before (0 and
None: there was none); the bytes of the last state when it is a deletion and that was another one;
then the cause (its time is None when there is none) and what acted (its component is None when
nothing did), its key in two parts when it is a pair (else the second one is None), and the fault
that the request met.
"""

ENTRY_BYTES = 500
"""What an entry takes beside its states, about: the tuple, numbers, the path of a request and its
share of the queues."""


def entry_of(
    revision: int, type_: EventType, key: tuple[str, str], before: tuple[int, bytes] | None, last: bytes | None,
    cause: Cause | None,
) -> Entry:
    """What is kept of a change."""
    namespace, name = key
    before_revision, before_data = before or (0, None)
    if cause is None:
        return (revision, type_, namespace, name, before_revision, before_data, last,
                None, "", "", "", "", None, None, None, "", "")
    time, method, path, user, user_agent, acting, fault = cause
    if acting is None:
        return (revision, type_, namespace, name, before_revision, before_data, last,
                time, method, path, user, user_agent, None, None, None, "", fault)
    component, work, acted_on = acting
    first, second = work if isinstance(work, tuple) and len(work) == 2 else (work, None)
    return (revision, type_, namespace, name, before_revision, before_data, last,
            time, method, path, user, user_agent, component, first, second, acted_on, fault)


def cause_in(entry: Entry) -> Cause | None:
    """The cause of a change."""
    time, method, path, user, user_agent, component, first, second, acted_on, fault = entry[7:]
    if time is None:
        return None
    work = first if second is None else (first, second)
    acting = None if component is None else Acting(component, work, acted_on)
    return Cause(time, method, path, user, user_agent, acting, fault)


def time_in(entry: Entry) -> float | None:
    """When the request behind a change came, in Unix seconds; None when there was none."""
    return entry[7]


def acted_on_in(entry: Entry) -> str:
    """The version of the object whose change led to this one; empty when none is known."""
    return entry[15]


def size_of(entry: Entry) -> int:
    """How many bytes an entry takes, about."""
    return ENTRY_BYTES + len(entry[5] or b"") + len(entry[6] or b"")
