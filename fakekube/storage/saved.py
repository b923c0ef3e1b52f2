"""A storage as lines of JSON, and back: every object, and the retained history with what it was
before and why.

    {"bucket": {"group": "", "resource": "pods", "sortsKeys": false, "records": 3, "events": 2}}
    <an object>                    ``records`` of them as they are stored, past states too
    [0, 2]                         which of them are there now
    ["MODIFIED", 2, 1, <cause>]    ``events`` of them: new state, the one before, cause (or null)

Objects are written and read byte for byte. Upstream: etcd's snapshots, which are its database file.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery.causes import Acting, Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.entry import Entry, entry_of
from fakekube.storage.memory import Bucket, Fields, Storage
from fakekube.util.clock import is_holdable

if TYPE_CHECKING:
    from fakekube.storage.record import Record

FieldsOf = Callable[[GroupResource], Fields | None]
"""The selectable texts of a resource's objects."""

EVENT_TYPES = ("ADDED", "MODIFIED", "DELETED")


class Damaged(Exception):
    """Lines that are not as ``dump`` writes them; the text says what is wrong."""


def dump(storage: Storage) -> Iterator[bytes]:
    """The lines, without their ends."""
    for bucket in storage.buckets:
        yield from _dump_bucket(bucket)


def _dump_bucket(bucket: Bucket) -> Iterator[bytes]:
    present, history = bucket.records(), bucket.history()
    numbers: dict[Record, int] = {}
    for record in present:
        numbers[record] = len(numbers)
    for event in history:
        for state in (event.previous, event.record):
            if state is not None and state not in numbers:
                numbers[state] = len(numbers)
    resource = bucket.resource
    yield orjson.dumps({"bucket": {
        "group": resource.group, "resource": resource.resource, "sortsKeys": bucket.encoder.sort_keys, "records": len(numbers),
        "events": len(history)}})
    for record in numbers:
        yield record.data
    yield orjson.dumps([numbers[record] for record in present])
    for event in history:
        previous = None if event.previous is None else numbers[event.previous]
        yield orjson.dumps([event.type, numbers[event.record], previous, _cause(event.cause)])


def _cause(cause: Cause | None) -> list[Any] | None:
    if cause is None:
        return None
    acting = cause.acting
    saved = [*cause[:5], None if acting is None else [
        acting.component, None if acting.key is None else key_text(acting.key), acting.revision]]
    return [*saved, cause.fault] if cause.fault else saved


def key_text(key: object) -> str:
    """What a component was at work on, as it is written: ``namespace/name`` of a pair."""
    return "/".join(str(part) for part in key if part) if isinstance(key, tuple) else str(key)


def load(lines: Iterator[bytes], *, revision: int, compacted: int, begun: int, fields_of: FieldsOf) -> Storage:
    """The storage that was dumped.

    Raises Damaged, and leaves what comes after the last bucket unread.
    """
    storage = Storage()
    storage.revision = revision
    tracks = []
    try:
        for line in lines:
            head = orjson.loads(line)["bucket"]
            resource = GroupResource(head["group"], head["resource"])
            bucket = storage.add_bucket(resource, fields=fields_of(resource), sort_keys=head["sortsKeys"])
            _load_bucket(bucket, lines, head["records"], head["events"])
            tracks.append(bucket.track)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise Damaged(f"a line cannot be read: {error}") from error
    except StopIteration:
        raise Damaged("it ends too early") from None
    storage.log.take_over(tracks, compacted, begun)
    return storage


def _load_bucket(bucket: Bucket, lines: Iterator[bytes], records: int, events: int) -> None:
    states = [bucket.encoder.decode(next(lines)) for _ in range(records)]
    present = [states[number] for number in orjson.loads(next(lines))]
    history: deque[Entry] = deque()
    latest: dict[tuple[str, str], Record | None] = {}
    for _ in range(events):
        type_, new, old, cause = orjson.loads(next(lines))
        if type_ not in EVENT_TYPES:
            raise ValueError(f"{type_!r} is no event")
        record, previous = states[new], None if old is None else states[old]
        key = record.namespace, record.name
        if latest.get(key, previous) is not previous:
            raise ValueError(f"the history of {key[0]}/{key[1]} has a gap before {record.revision}")
        gone = type_ == "DELETED"
        latest[key] = None if gone else record
        history.append(entry_of(
            record.revision, type_, key, None if previous is None else (previous.revision, previous.data),
            record.data if gone else None, _cause_of(cause)))
    bucket.fill(present, history)
    for key, last in latest.items():
        if bucket.get(*key) is not last:
            raise ValueError(f"the history of {key[0]}/{key[1]} does not end with what is there")


def _cause_of(saved: list[Any] | None) -> Cause | None:
    if saved is None:
        return None
    time, method, path, user, agent, acting, *fault = saved
    if not is_holdable(time):
        raise ValueError(f"{time!r} is no time of a cluster")
    if acting is not None:
        component, key, revision = acting
        acting = Acting(str(component), key, str(revision))
    return Cause(time, str(method), str(path), str(user), str(agent), acting, *map(str, fault))
