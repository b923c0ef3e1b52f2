"""How a trace is made of what a storage retains.

Every change is looked at once, by its head, which has the cause and no state; only the states of
the changes that are told are unpacked. So it takes a time linear in the retained changes, and
little of it for each; of a large history it is read in turns with everything else on the loop. A
long way from a first request to a change is told by its two ends.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from fakekube.apimachinery import errors
from fakekube.apimachinery.causes import Cause
from fakekube.apimachinery.meta import BOOKKEEPING
from fakekube.endpoints import requestinfo
from fakekube.storage.entry import Entry, acted_on_in, time_in
from fakekube.storage.saved import key_text
from fakekube.tracing.steps import Request, Step
from fakekube.tracing.trace import Trace
from fakekube.util.treediff import MISSING, Difference, differences, value_at
from fakekube.util.turns import Turn

if TYPE_CHECKING:
    from fakekube.apimachinery.gvk import GroupResource
    from fakekube.storage.memory import Bucket, Storage
    from fakekube.storage.record import Event

TOLD_OF_AN_END = 3  # changes, of each end of a long way
MAX_DIGITS = 19
FIRST_LOOK = 64  # changes in which a field's last one is sought first
HEADS_OF_A_UNIT, COST_OF_A_HEAD, COST_OF_A_STATE, COST_OF_A_STEP = 10, 1, 20, 50  # in units of turns


class Asked(NamedTuple):
    """Of what a trace is wanted: an object, by where it is stored; the last changes of it (0: all),
    or the one that gave a field its value.
    """

    resource: "GroupResource"
    namespace: str
    name: str
    last: int
    field: str = ""


def trace(storage: "Storage", asked: Asked, *, started: float, seed: int, turn: Turn) -> Trace:
    """The causes of an object's state. ``storage`` changes no more.

    Raises APIError: 404 for an object of which nothing is known, 400 for one that never changed,
    for a field that it never had and for what is no field, 410 when none of its changes is retained
    any more; TakesLong.
    """
    own, predecessors, is_cut = _own_changes(storage, asked, turn)
    value: Any = MISSING
    fields: tuple[Difference, ...] = ()
    if asked.field:
        change = _change_of_field(storage.bucket(asked.resource), asked, own, turn)
        value, targets, fields = change.new, [change.revision], (Difference(asked.field, change.old, change.new),)
    else:
        targets = own[-asked.last:]
    log = _Log(storage, started, turn)
    ways = _Ways(log, targets)
    turn.spend(len(ways.told) * COST_OF_A_HEAD)
    steps = tuple(_steps(log, ways, dict.fromkeys(own), asked.resource, turn))
    if fields:
        steps = tuple(step._replace(fields=fields) if step.revision == targets[0] else step for step in steps)
    return Trace(
        object_name(asked.resource, asked.namespace, asked.name), started, seed, storage.log.compacted, len(own), predecessors,
        is_cut, asked.last, asked.field, value, steps)


def object_name(resource: "GroupResource", namespace: str, name: str) -> str:
    """``pods default/web-0``."""
    return f"{resource} {namespace}/{name}" if namespace else f"{resource} {name}"


def _own_changes(storage: "Storage", asked: Asked, turn: Turn) -> tuple[list[int], int, bool]:
    """The versions of the latest object of that name, how many had the name before it, and whether
    it had changes that are not retained.
    """
    resource, namespace, name = asked.resource, asked.namespace, asked.name
    found, lives, is_whole = list[int](), 0, False
    is_all_retained = storage.log.compacted == storage.log.begun
    bucket = storage.bucket(resource) if storage.has(resource) else None
    for head in bucket.heads() if bucket is not None else ():
        if head[3] == name and head[2] == namespace:
            if head[1] == "ADDED":
                lives += bool(found)
                found.clear()
                is_whole = True
            found.append(head[0])
    turn.spend(len(bucket.track) // HEADS_OF_A_UNIT if bucket is not None else 0)
    if not found:
        if bucket is None or bucket.get(namespace, name) is None:
            raise errors.not_found(resource, name)
        about = object_name(resource, namespace, name)
        if is_all_retained:
            raise errors.bad_request(f"{about} was there when the cluster began, and nothing has changed it since")
        raise errors.expired(
            f"no change of {about} is retained: what is retained begins after version {storage.log.compacted}")
    return found, lives, not is_whole and not is_all_retained


class _FieldChange(NamedTuple):
    revision: int
    old: Any
    new: Any


def _change_of_field(bucket: "Bucket", asked: Asked, own: list[int], turn: Turn) -> _FieldChange:
    """The last change of a field. Raises APIError where there is none."""
    end, size = len(own), FIRST_LOOK
    found: _FieldChange | None = None
    while end > 0 and found is None:
        begin = max(0, end - size)
        turn.spend(len(bucket.track) // HEADS_OF_A_UNIT)
        for event in bucket.events_at(dict.fromkeys(own[begin:end])):
            turn.spend(COST_OF_A_STATE)
            old, new = _values(event, asked.field)
            if old != new or type(old) is not type(new):
                found = _FieldChange(event.revision, old, new)
        end, size = begin, size * 4  # each look goes through all heads
    if found is None:
        name = object_name(asked.resource, asked.namespace, asked.name)
        raise errors.bad_request(f"no change of {name} that is retained was one of its field {asked.field}")
    return found


def _values(event: "Event", field: str) -> tuple[Any, Any]:
    """A field before and after a change."""
    try:
        new = value_at(event.record.copy_tree(), field)
        return MISSING if event.previous is None else value_at(event.previous.copy_tree(), field), new
    except ValueError as error:
        raise errors.bad_request(str(error)) from error


class _Log:
    """What is known of every retained change without its states, by version."""

    def __init__(self, storage: "Storage", started: float, turn: Turn) -> None:
        self._started, self._begins = started, storage.log.compacted
        self._buckets, self._numbers = storage.buckets, dict[int, int]()
        self.heads: dict[int, Entry] = {}
        for number, bucket in enumerate(self._buckets):
            # neither dict holds a container that is new: the cyclic collector has nothing to do
            self.heads.update((head[0], head) for head in bucket.heads())
            self._numbers.update((head[0], number) for head in bucket.heads())
            turn.spend(len(bucket.track) // HEADS_OF_A_UNIT)

    def bucket(self, revision: int) -> "Bucket":
        """Where a change was made."""
        return self._buckets[self._numbers[revision]]

    def led_by(self, revision: int) -> int:
        """The change that led to one; 0 where none is known."""
        acted_on = acted_on_in(self.heads[revision])
        if not acted_on.isdecimal() or len(acted_on) > MAX_DIGITS:
            return 0
        earlier = int(acted_on)
        return earlier if earlier < revision and earlier in self.heads else 0

    def time(self, revision: int) -> float:
        """When a change was made; what the server writes by itself comes with what was before."""
        for earlier in range(revision, self._begins, -1):
            if earlier in self.heads:
                time = time_in(self.heads[earlier])
                if time is not None:
                    return time
        return self._started

    def events(self, revisions: Iterable[int]) -> "Iterator[Event]":
        """The changes with their states, those of one bucket together."""
        wanted: dict[int, dict[int, None]] = {}
        for revision in revisions:
            wanted.setdefault(self._numbers[revision], {})[revision] = None
        for number, of_it in wanted.items():
            yield from self._buckets[number].events_at(of_it)


class _Ways:
    """From some changes back to where they began: which of those on the way are told."""

    def __init__(self, log: _Log, targets: list[int]) -> None:
        self._log = log
        on_the_way: dict[int, None] = {}
        for target in targets:
            at = target
            while at and at not in on_the_way:
                on_the_way[at] = None
                at = log.led_by(at)
        self.told: dict[int, tuple[int, int]] = {}
        """By revision: which one that is told led to it, and how many between are not."""
        self._choose(_counted(log, on_the_way), dict.fromkeys(targets))

    def _choose(self, counts: dict[int, int], targets: dict[int, None]) -> None:
        for end in sorted(revision for revision in counts if revision in targets or counts[revision] != 1):
            way, before = [end], self._log.led_by(end)
            while before and before not in targets and counts[before] == 1:
                way.append(before)
                before = self._log.led_by(before)
            self._tell(way, before)

    def _tell(self, way: list[int], before: int) -> None:
        """Tell a way, which is the latest first, that goes on from a change that is told anyhow."""
        ends = TOLD_OF_AN_END
        left_out = len(way) - 2 * ends
        if left_out <= 1:
            left_out, ends = 0, len(way)
        told = way if not left_out else [*way[:ends], *way[-ends:]]
        for number, (revision, earlier) in enumerate(zip(told, [*told[1:], before], strict=True), 1):
            self.told[revision] = earlier, left_out if left_out and number == ends else 0


def _counted(log: _Log, on_the_way: dict[int, None]) -> dict[int, int]:
    """How many of them each one led to."""
    counts = dict.fromkeys(on_the_way, 0)
    for revision in on_the_way:
        before = log.led_by(revision)
        if before:
            counts[before] += 1
    return counts


def _steps(log: _Log, ways: _Ways, own: dict[int, None], resource: "GroupResource", turn: Turn) -> list[Step]:
    """The changes that are told, with what is known of each."""
    steps = []
    for event in log.events(ways.told):
        turn.spend(COST_OF_A_STEP)
        revision, cause, record = event.revision, event.cause, event.record
        bucket, acting = log.bucket(revision), cause.acting if cause is not None else None
        led_by, left_out = ways.told[revision]
        steps.append(Step(
            revision, log.time(revision), event.type, object_name(bucket.resource, record.namespace, record.name),
            bucket.resource == resource and revision in own, None if cause is None else _request(cause),
            "" if acting is None else acting.component,
            "" if acting is None or acting.key is None else key_text(acting.key),
            "" if acting is None else acting.revision, led_by, left_out, tuple(_fields(event)),
            "" if cause is None else cause.fault))
    steps.sort(key=lambda step: step.revision)
    return steps


def _request(cause: Cause) -> Request:
    info = requestinfo.parse(cause.method, cause.path, {})
    return Request(info.verb, info.subresource, cause.method, cause.path, cause.user, cause.user_agent)


def _fields(event: "Event") -> Iterator[Difference]:
    """The fields that a change changed, without bookkeeping; none of an object that came or went.
    """
    if event.previous is not None and event.type == "MODIFIED":
        yield from differences(event.previous.copy_tree(), event.record.copy_tree(), ignored=BOOKKEEPING)
