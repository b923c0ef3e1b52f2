"""What a dump that was changed by hand, or cut off, comes to."""

from collections.abc import Callable

import orjson
import pytest

from fakekube.storage import saved
from fakekube.storage.memory import Storage
from tests.storage.pods import pod, pods

PRESENT, EVENTS = 3, 4


def dumped() -> list[bytes]:
    """One pod that was changed, as lines: the bucket, its two states, which of them are there, and
    the events.
    """
    storage = Storage()
    bucket = pods(storage)
    first = bucket.create(pod("a"))
    tree = first.copy_tree()
    tree["spec"]["nodeName"] = "n"
    bucket.update(tree, first)
    return list(saved.dump(storage))


def load(lines: list[bytes]) -> Storage:
    return saved.load(iter(lines), revision=3, compacted=1, begun=1, fields_of=lambda _: None)


def changed(line: int, change: Callable[[object], object]) -> list[bytes]:
    lines = dumped()
    lines[line] = orjson.dumps(change(orjson.loads(lines[line])))
    return lines


def test_a_dump_is_read_again() -> None:
    """Given a dump / when it is read / then the storage has the same present and past."""
    [bucket] = load(dumped()).buckets
    assert [record.name for record in bucket.records()] == ["a"]
    assert [event.type for event in bucket.history(1)] == ["ADDED", "MODIFIED"]


@pytest.mark.parametrize(("lines", "text"), [
    (dumped()[:-1], "it ends too early"), (dumped()[:1], "it ends too early"),
    (changed(PRESENT, lambda _: [1]), "does not end with what is there"),
    (changed(PRESENT, lambda _: [9]), "a line cannot be read"),
    (changed(EVENTS, lambda event: ["CHANGED", *event[1:]]), "'CHANGED' is no event"),
    (changed(EVENTS + 1, lambda event: [event[0], event[1], event[1], event[3]]), "has a gap before"),
    (changed(EVENTS, lambda event: [*event[:3], ["x", "PUT", "/", "u", "a", None]]), "a line cannot be read"),
    (changed(EVENTS, lambda event: [*event[:3], [-1e300, "PUT", "/", "u", "a", None]]), "is no time of a cluster"),
    (changed(EVENTS, lambda event: [*event[:3], [1, "PUT", "/", "u", "a", ["job"]]]), "a line cannot be read"),
    ([b"[]", *dumped()[1:]], "a line cannot be read"), ([b"{}", *dumped()[1:]], "a line cannot be read"),
    ([b"{", *dumped()[1:]], "a line cannot be read"),
])
def test_a_damaged_dump_is_refused_with_what_is_wrong(lines: list[bytes], text: str) -> None:
    """Given lines that are cut off, are no JSON, or contradict each other / when they are read /
    then they are refused, and why.
    """
    with pytest.raises(saved.Damaged, match=text):
        load(lines)
