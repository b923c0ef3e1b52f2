"""What is wrong with a run whatever it was to do: oracles that need no code.

Each is a pure function of a history, the requests, and who is looked at; it says in sentences what
it found. They would rather miss a bug than accuse somebody who does nothing wrong: each asks for
more than a suspicion, and leaves time for what is still to come. Acto (Gu et al., SOSP 2023) and
Sieve compare end states besides, which ``crash_points`` does here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery.meta import BOOKKEEPING, TIMES
from fakekube.apiserver.filters import FORBIDDEN, LogEntry
from fakekube.composition.controllermanager import selected
from fakekube.testing.history import Change, History
from fakekube.util.treediff import Difference, differences, shown

GRACE_SECONDS = 60.0
"""So long something may wait for the garbage collector, or for whoever takes a finalizer off."""

MOST_WRITES = 10
"""So often a writer may write one object while nobody else does anything."""

RESTLESS_SECONDS = 1.0
"""Writes that are further apart, on average, are a clock's and no loop's: leaders renew every two
seconds.
"""

LASTING_SECONDS = 10.0
"""So long writes go on that are no burst, after which one rests."""

RESYNC_SECONDS = 10.0
"""Who updates what has not changed no more often than that does so by a resync."""

AT_WORK_SECONDS = 3_600.0
"""So long who cleans up may take after each sign of it: a retry may be due in ten minutes."""

MOST_SWINGS = 3
"""So often a field may change between two values while nobody else does anything."""

WORDS = ("events", "leases")

FINALIZERS_OF_THE_SERVER = (
    "foregroundDeletion", "orphan", "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection")
"""Who deletes or creates an object is the one in whose request the server puts them on."""

COLLECTOR = "garbagecollector"


class Finding(NamedTuple):
    """Something that is wrong: which oracle says so, of what, and the sentence."""

    oracle: str
    object: str
    text: str

    def __str__(self) -> str:
        return f"{self.oracle}: {self.text}"


class Who(NamedTuple):
    """Whose writes are looked at: patterns of user agents and users; without any, everybody's."""

    user_agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    def wrote(self, change: Change) -> bool:
        """Whether a change is theirs."""
        cause = change.cause
        return cause is not None and self._is(cause.user_agent, cause.user)

    def asked(self, entry: LogEntry) -> bool:
        """Whether a request is theirs."""
        return self._is(entry.user_agent, entry.user)

    def _is(self, agent: str, user: str) -> bool:
        by_agent = not self.user_agents or any(fnmatchcase(agent, pattern) for pattern in self.user_agents)
        return by_agent and (not self.users or any(fnmatchcase(user, pattern) for pattern in self.users))


Oracle = Callable[[History, Sequence[LogEntry], Who], "Iterator[tuple[str, str]]"]
"""What it found: objects and sentences."""


def findings(
    history: History, requests: Sequence[LogEntry], who: Sequence[Who] = (Who(),), names: Iterable[str] | None = None,
) -> list[Finding]:
    """What the oracles of these names (None: all) find in a run that has ended, of anybody of
    ``who``; each once. KeyError for a name of none.
    """
    found: dict[Finding, None] = {}
    for name in ORACLES if names is None else names:
        for one in who:
            for about, text in ORACLES[name](history, requests, one):
                found[Finding(name, about, text)] = None
    return list(found)


def _last_states(history: History) -> dict[str, Change]:
    """The latest change of each object that is there at the end."""
    latest = {change.event.record.uid: change for change in history.changes}
    return {uid: change for uid, change in latest.items() if change.type != "DELETED"}


def _deletions(history: History) -> dict[str, Change]:
    return {change.event.record.uid: change for change in history.changes if change.type == "DELETED"}


def _owners(change: Change) -> list[Any]:
    return change.object["metadata"].get("ownerReferences") or []


def _created_by(history: History, who: Who) -> frozenset[str]:
    return frozenset(change.event.record.uid for change in history.changes if change.type == "ADDED" and who.wrote(change))


def orphans(history: History, _: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """What they made, and all of whose owners are gone for longer than the garbage collector needs.

    Where none runs, that is nobody's fault.
    """
    if COLLECTOR not in selected(history.snapshot.options.controllers):
        return
    states, gone, made = _last_states(history), _deletions(history), _created_by(history, who)
    for uid, change in states.items():
        owners = _owners(change) if uid in made else []
        if not owners or any(owner["uid"] in states for owner in owners):
            continue
        since = max((gone[owner["uid"]].time if owner["uid"] in gone else change.time) for owner in owners)
        if history.now - since > GRACE_SECONDS:
            names = ", ".join(f"{owner['kind']} {owner['name']}" for owner in owners)
            yield change.name, f"{change.name} is still there {history.now - since:g} s after its owner {names} has gone"


def stuck_finalizers(history: History, requests: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """A finalizer that they put on, and nobody takes off an object that is to go.

    Who writes that object then, or has made something since that is still there, is at work on it,
    and has an hour.
    """
    put_on = _put_on(history, who)
    states = _last_states(history)
    is_inside = any(
        change.cause is not None and change.cause.acting is not None for change in history.changes if who.wrote(change))
    for uid, change in states.items():
        metadata = change.object["metadata"]
        left = [one for one in metadata.get("finalizers") or [] if (uid, one) in put_on]
        if not left or "deletionTimestamp" not in metadata:
            continue
        began = next(
            one for one in history.changes if one.event.record.uid == uid and "deletionTimestamp" in one.object["metadata"])
        if not is_inside and not any(who.asked(entry) and entry.time > began.time for entry in requests):
            continue  # nothing is heard of it since, so it may have ended
        work = [
            one.time for one in history.changes if one.revision > began.revision and who.wrote(one)
            and (one.event.record.uid == uid or (one.type == "ADDED" and one.event.record.uid in states))]
        waits = history.now - began.time
        if waits > GRACE_SECONDS and (not work or history.now - work[-1] > AT_WORK_SECONDS):
            yield change.name, f"{change.name} waits {waits:g} s for somebody to take off its finalizer {left[0]}"


def _put_on(history: History, who: Who) -> dict[tuple[str, str], None]:
    """The finalizers that are theirs, by the uids of objects."""
    put_on: dict[tuple[str, str], None] = {}
    for change in history.changes:
        if who.wrote(change):
            before = (change.before or {}).get("metadata", {}).get("finalizers") or []
            for finalizer in change.object["metadata"].get("finalizers") or []:
                if finalizer not in before and finalizer not in FINALIZERS_OF_THE_SERVER:
                    put_on[change.event.record.uid, finalizer] = None
    return put_on


def _alone(history: History, who: Who) -> Iterator[list[Change]]:
    """Runs of changes that are all theirs, with nothing of others between them."""
    run: list[Change] = []
    for change in history.changes:
        if change.resource.resource in WORDS:
            continue
        if who.wrote(change):
            run.append(change)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _by_object(changes: Iterable[Change]) -> dict[str, list[Change]]:
    grouped: dict[str, list[Change]] = {}
    for change in changes:
        grouped.setdefault(change.event.record.uid, []).append(change)
    return grouped


def restless(history: History, _: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """They write one object again and again until the end, while nobody else does anything, and
    faster than by the clock.
    """
    runs = list(_alone(history, who))
    if not runs:
        return
    for changes in _by_object(runs[-1]).values():
        writes = [change for change in changes if change.type == "MODIFIED"]
        if len(writes) <= MOST_WRITES:
            continue
        seconds = writes[-1].time - writes[0].time
        # of the latest: who backs off writes slower and slower
        is_fast = writes[-1].time - writes[-1 - MOST_WRITES].time < MOST_WRITES * RESTLESS_SECONDS
        is_going_on = history.now - writes[-1].time < RESTLESS_SECONDS
        if is_fast and is_going_on and seconds >= LASTING_SECONDS:
            yield writes[-1].name, (
                f"{writes[-1].name} was written {len(writes)} times in {seconds:g} s, until the end, "
                "while nobody else wrote anything")


def idle_writes(history: History, requests: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """They update one object again and again as it is already, and faster than they would by a
    resync.
    """
    changed: dict[tuple[str, str], int] = {}
    stored: dict[tuple[str, str], None] = {}
    for change in history.changes:
        stored[change.resource] = None
        if who.wrote(change) and change.cause is not None and change.cause.method == "PUT":
            key = change.cause.user_agent, change.cause.path
            changed[key] = changed.get(key, 0) + 1
    sent: dict[tuple[str, str], list[float]] = {}
    for entry in requests:
        # what another server stores, or a pod answers, is in no history
        is_ours = (entry.group, entry.resource) in stored and entry.subresource != "proxy" and not entry.dry_run
        if entry.verb == "update" and entry.code == 200 and entry.resource not in WORDS and is_ours and who.asked(entry):
            sent.setdefault((entry.user_agent, entry.path), []).append(entry.time)
    for (agent, path), times in sent.items():
        idle = len(times) - changed.get((agent, path), 0)
        if idle > MOST_WRITES and (times[-1] - times[0]) / (len(times) - 1) < RESYNC_SECONDS:
            yield path, f"{idle} of {len(times)} updates of {path} by {agent} changed nothing"


def swinging_status(history: History, _: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """They write a field of a status as A, B, A, B, while nobody else does anything, and faster
    than by the clock.
    """
    for run in _alone(history, who):
        for changes in _by_object(run).values():
            yield from _swings(changes)


def _swings(changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    before: dict[str, tuple[Any, Any]] = {}
    swings: dict[str, list[float]] = {}
    for change in changes:
        if change.type != "MODIFIED":
            continue
        fields = [
            field for field in differences(change.before or {}, change.object, ignored=BOOKKEEPING)
            if field.path.startswith("status.") and field.path.rpartition(".")[2] not in TIMES]
        if any(_has_grown(field) for field in fields):  # something has happened again: a container ran once more
            swings.clear()
        for field in fields:
            pair = shown(field.old), shown(field.new)
            times = swings.setdefault(field.path, [])
            if before.get(field.path) != pair[::-1]:
                times.clear()
            before[field.path] = pair
            times.append(change.time)
            if len(times) == MOST_SWINGS + 1 and times[-1] - times[0] < MOST_SWINGS * RESTLESS_SECONDS:
                yield change.name, (
                    f"{field.path} of {change.name} swings between {pair[0]} and {pair[1]} while nobody else wrote anything")
            elif len(times) > MOST_SWINGS:
                del times[0]


def _has_grown(field: Difference) -> bool:
    """Whether a counter has."""
    return type(field.old) is int and type(field.new) is int and field.old < field.new


def overwritten(history: History, _: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """Their update brings back what another has changed, of which they had not heard.

    Who has set a field before may set it back: it is theirs.
    """
    latest: dict[str, Change] = {}
    for change in history.changes:
        uid, cause, other = change.event.record.uid, change.cause, latest.get(change.event.record.uid)
        latest[uid] = change
        if other is None or cause is None or cause.method != "PUT" or not who.wrote(change) or who.wrote(other):
            continue
        seen = cause.acting.revision if cause.acting is not None else ""
        if other.type != "MODIFIED" or not seen.isdecimal() or int(seen) >= other.revision:
            continue
        ours = {field.path: (field.old, field.new) for field in _fields(change)}
        for field in _fields(other):
            if ours.get(field.path) == (field.new, field.old) and not _is_theirs(history, who, change, field.path):
                yield change.name, (
                    f"{field.path} of {change.name}, which {other.cause.user_agent if other.cause else 'the server'} had "
                    f"changed in #{other.revision}, is as before after #{change.revision}, whose writer had seen #{seen}")


def _is_theirs(history: History, who: Who, late: Change, path: str) -> bool:
    """Whether they have set a field of an object before a change, or all that is around it."""
    earlier = (
        change for change in history.changes
        if change.event.record.uid == late.event.record.uid and change.revision < late.revision and who.wrote(change))
    return any(path.startswith(field.path) for change in earlier for field in _fields(change))


def _fields(change: Change) -> Iterator[Difference]:
    return (field for field in differences(change.before or {}, change.object, ignored=BOOKKEEPING)
            if field.path.rpartition(".")[2] not in TIMES)


def acts_for_the_gone(history: History, _: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """They make something for an owner of whose end they had heard: what they acted on was a later
    change of the owner's kind, since watches of other kinds may be ahead.
    """
    gone = _deletions(history)
    for change in history.changes:
        if change.type != "ADDED" or not who.wrote(change) or change.cause is None or change.cause.acting is None:
            continue
        seen = history.change_at(change.cause.acting.revision)
        for owner in _owners(change) if seen is not None else ():
            end = gone.get(owner["uid"])
            if end is not None and seen is not None and seen.resource == end.resource and seen.revision >= end.revision:
                yield change.name, (
                    f"{change.name} was made for {owner['kind']} {owner['name']}, which was gone since #{end.revision}, "
                    f"by a writer that had seen #{seen.revision}")


def refused(_: History, requests: Sequence[LogEntry], who: Who) -> Iterator[tuple[str, str]]:
    """They ask for what their roles do not allow."""
    for entry in requests:
        if entry.decision == FORBIDDEN and not entry.fault and who.asked(entry):
            yield entry.path, f"{entry.user} may not {entry.verb} {entry.path}: {entry.reason or 'no role allows it'}"


ORACLES: Mapping[str, Oracle] = MappingProxyType({
    "orphans": orphans,
    "stuck-finalizers": stuck_finalizers,
    "restless": restless,
    "idle-writes": idle_writes,
    "swinging-status": swinging_status,
    "overwritten": overwritten,
    "acts-for-the-gone": acts_for_the_gone,
    "refused": refused,
})
"""By name."""

ALL = "all"


class OracleError(ValueError):
    """A text that names no oracle; it says which there are."""


def oracles_of(value: object) -> tuple[str, ...]:
    """The oracles that an option names: one, several with commas or as a list, or ``all``.

    Raises OracleError.
    """
    texts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    names = [str(text).strip() for text in texts]
    if names == [ALL]:
        return tuple(ORACLES)
    for name in names:
        if name not in ORACLES:
            raise OracleError(f"{name!r} is no oracle: known are {', '.join(ORACLES)}, and {ALL} for all of them")
    return tuple(dict.fromkeys(names))
