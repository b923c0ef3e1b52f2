"""Past states and past events, and where they end."""

import pytest

from fakekube.storage.memory import Bucket, Compacted, Event, Future, Storage
from tests.storage.pods import pod, pods


def names(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.type, event.record.name) for event in events]


@pytest.mark.spec("API-060")
def test_a_past_state_is_rebuilt(bucket: Bucket) -> None:
    """Given a, b, then c made, a changed, b deleted / when the state of b's making is read / then it is as it was."""
    a, b = bucket.create(pod("a")), bucket.create(pod("b"))
    then = bucket.revision
    bucket.create(pod("c"))
    bucket.update(pod("a", node="n1"), a)
    bucket.delete(b)
    past = bucket.at(then)
    assert past.page().records == [a, b]
    assert past.page().revision == then
    assert past.get("ns", "b") is b
    assert past.get("ns", "c") is None
    assert [record.name for record in bucket.records()] == ["a", "c"]


def test_the_future_and_the_forgotten_past_are_told_apart(storage: Storage, bucket: Bucket) -> None:
    """Given a compacted history / when other revisions are asked for
    / then Compacted says the oldest, Future the newest.
    """
    for name in "abc":
        bucket.create(pod(name))
    storage.compact(3)
    with pytest.raises(Compacted) as gone:
        bucket.at(2)
    assert gone.value.oldest == 3
    with pytest.raises(Future) as ahead:
        bucket.at(5)
    assert ahead.value.current == 4
    assert len(bucket.at(3).page().records) == 2


def test_history_is_bounded_in_events() -> None:
    """Given room for three events / when five happen in two buckets / then the oldest two are forgotten for both."""
    storage = Storage(max_events=3)
    bucket = pods(storage)
    for name in "abcde":
        bucket.create(pod(name))
    with pytest.raises(Compacted):
        bucket.subscribe(2, "", print)
    events: list[Event] = []
    bucket.subscribe(3, "", events.append)
    assert names(events) == [("ADDED", "c"), ("ADDED", "d"), ("ADDED", "e")]


def test_history_is_bounded_in_bytes() -> None:
    """Given room for some bytes / when large objects come / then as many events are kept as fit."""
    storage = Storage(max_bytes=10_000)
    bucket = pods(storage)
    for name in "abcdef":
        bucket.create(pod(name, node="x" * 3_000))
    assert storage.log.compacted == 4


def test_frames_are_let_go_once_an_event_is_old(bucket: Bucket) -> None:
    """Given an event with a frame / when many more events happened / then the log no longer holds the frame."""
    events: list[Event] = []
    bucket.subscribe(bucket.revision, "", events.append)
    bucket.create(pod("a"))
    assert events[0].frames == {}
    for number in range(100):
        bucket.create(pod(f"b{number}"))
    assert events[0].frames is None
