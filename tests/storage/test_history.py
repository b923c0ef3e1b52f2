"""Past states and past events, and where they end."""

import gc
import tracemalloc
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.causes import CAUSE, Acting, Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Frame
from fakekube.storage.entry import acted_on_in, time_in
from fakekube.storage.memory import Bucket, Compacted, Event, Future, Storage
from tests.storage.pods import pod, pods


class Key(NamedTuple):
    """What a component is at work on, as its work queue has it."""

    namespace: str
    name: str


def names(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.type, event.record.name) for event in events]


@pytest.mark.spec("API-060")
def test_a_past_state_is_rebuilt(bucket: Bucket) -> None:
    """Given a, b, then c made, a changed, b deleted / when the state of b's making is read / then
    it is as it was.
    """
    a, b = bucket.create(pod("a")), bucket.create(pod("b"))
    then = bucket.revision
    bucket.create(pod("c"))
    bucket.update(pod("a", node="n1"), a)
    bucket.delete(b)
    past = bucket.at(then)
    page = past.page()
    assert [(record.revision, record.data) for record in page.records] == [(a.revision, a.data), (b.revision, b.data)]
    assert page.revision == then
    was = past.get("ns", "b")
    assert was is not None
    assert (was.uid, was.labels, was.has_owners, was.fields, was.tree()) == (b.uid, b.labels, b.has_owners, b.fields, b.tree())
    assert was.body_offset == b.body_offset
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
    """Given room for three events / when five happen in two buckets / then the oldest two are
    forgotten for both.
    """
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
    """Given room for some bytes / when large objects change / then as many of their past states are
    kept as fit; those that are there now take no room.
    """
    storage = Storage(max_bytes=10_000)
    bucket = pods(storage)
    for number in range(10):
        bucket.create(pod(f"present-{number}", node="x" * 3_000))
    assert storage.log.compacted == 1
    storage = Storage(max_bytes=10_000)
    bucket = pods(storage)
    record = bucket.create(pod("a", node="x" * 3_000))
    for _ in range(5):
        record = bucket.update(pod("a", node="x" * 3_000), record)
    assert storage.log.compacted == 5
    bucket.delete(record)
    assert storage.log.compacted == 6, "an object that was deleted as it was counts once"
    record = bucket.create(pod("b", node="x" * 3_000))
    bucket.delete(record, final=pod("b", node="y" * 4_000))
    assert storage.log.compacted == 8, "the state before a deletion and another last one both count"


def test_no_event_is_made_that_nobody_wants(bucket: Bucket) -> None:
    """Given a watcher of one namespace / when objects of two are made / then it gets an event
    without any frame for the one.
    """
    events: list[Event] = []
    bucket.subscribe(bucket.revision, "ns", events.append)
    bucket.create(pod("a"))
    bucket.create(pod("a", "other"))
    event, = events
    assert event.frames is None
    frame = event.frame("key", lambda: Frame(b"data"))
    assert event.frame("key", lambda: Frame(b"other")) is frame


@pytest.mark.parametrize("plain_events", [5, 1_000])
def test_a_long_history_is_nothing_to_the_collector(plain_events: int) -> None:
    """Given objects that were changed and deleted, with and without a cause / when many more are /
    then the collector follows no more containers than before, whether states are packed or not.
    """
    storage = Storage(plain_events=plain_events, hot_trees=0)
    bucket = pods(storage)

    def containers_after(count: int) -> int:
        for number in range(count):
            CAUSE.set(Cause(1.0, "PUT", "/", "u", "agent", Acting("job", Key("ns", "a"), "1")) if number % 2 else None)
            record = bucket.create(pod("a", labels={"app": f"x{number}"}))
            bucket.delete(bucket.update(pod("a", node="n1"), record), final=pod("a", node=f"n{number}"))
        CAUSE.set(None)
        for _ in range(3):  # a tuple of tuples is let go once these are
            gc.collect()
        return len(gc.get_objects())

    containers_after(10)
    before = containers_after(10)
    assert containers_after(300) - before < 50
    assert len(bucket.track) == 960


def test_old_states_take_little_memory_and_are_the_same() -> None:
    """Given an object that changes in a few bytes 3,000 times / when the history is read, from the
    beginning and from somewhere / then every state is the one that was stored, and all of them took
    a tenth of their bytes at most.
    """
    storage = Storage(hot_trees=0)
    bucket = pods(storage)
    filler = "".join(f"{number:x}" for number in range(1_000))
    record = bucket.create(pod("a", node=filler))
    stored = [record.data]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(3_000):
        record = bucket.update(pod("a", node=f"{filler}{number}"), record)
        if number % 100 == 0:
            stored.append(record.data)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    plain = 2_064 * len(record.data)  # those of late, which are as they are
    assert taken - plain < 3_000 * 500 + 936 * len(record.data) / 10
    events = bucket.history(1)
    assert [events[0].record.data, *(event.record.data for event in events[1::100])] == stored
    assert [event.revision for event in bucket.history(700)] == list(range(701, storage.revision + 1))
    assert bucket.at(700).records("ns")[0].revision == 700


def test_packed_history_is_forgotten_change_by_change() -> None:
    """Given a history with room for 200 changes of which all but the latest are packed / when 400
    come / then exactly the latest 200 can be read, and a fork that goes on forgets by itself.
    """
    storage = Storage(max_events=200, plain_events=20)
    bucket = pods(storage)
    record = bucket.create(pod("a"))
    for number in range(399):
        record = bucket.update(pod("a", node=f"n{number}"), record)
    assert (len(bucket.track), storage.log.compacted) == (200, 201)
    assert [event.revision for event in bucket.history()] == list(range(202, 402))
    fork = pods(storage.fork())
    fork.update(pod("a", node="x"), record)
    assert (len(fork.track), fork.compacted, bucket.compacted) == (200, 202, 201)
    storage.compact(300)
    assert [event.revision for event in bucket.history()] == list(range(301, 402))
    assert [event.revision for event in fork.history()] == list(range(203, 403))


def test_the_cause_is_told_with_the_history(bucket: Bucket) -> None:
    """Given writes with a cause, with none, and with one that nobody acted on / when the history is
    read / then each has its own, as the watcher heard it.
    """
    causes = [
        Cause(1.0, "POST", "/a", "u", "agent", Acting("job", Key("ns", "a"), "1")), None,
        Cause(2.0, "POST", "/b", "u", "agent", None), Cause(3.0, "POST", "/c", "u", "agent", Acting("", None, "7"))]
    heard: list[Event] = []
    bucket.subscribe(bucket.revision, "", heard.append)
    for number, cause in enumerate(causes):
        CAUSE.set(cause)
        bucket.create(pod(f"p{number}"))
    CAUSE.set(None)
    assert [event.cause for event in heard] == [event.cause for event in bucket.history()] == causes


def test_an_event_of_the_past_has_the_states_of_then(bucket: Bucket) -> None:
    """Given an object that was made, changed twice, deleted, and made again / when its history is
    read from anywhere / then each event has the state after it and the one before, and what is
    there now is there only once.
    """
    told: list[tuple[str, int, bytes, bytes | None]] = []

    def tell(event: Event) -> tuple[str, int, bytes, bytes | None]:
        return event.type, event.record.revision, event.record.data, None if event.previous is None else event.previous.data

    bucket.subscribe(bucket.revision, "", lambda event: told.append(tell(event)))
    record = bucket.create(pod("a"))
    for node in ("n1", "n2"):
        record = bucket.update(pod("a", node=node), record)
    bucket.delete(record)
    bucket.delete(bucket.create(pod("a", node="n3")), final=pod("a", node="n4"))
    again = bucket.create(pod("a", node="n5"))
    for since in range(1, bucket.revision + 1):
        events = bucket.history(since)
        assert [tell(event) for event in events] == told[since - 1:]
        assert all(
            event.previous in (before.record, None) and (event.previous is None) == (event.type == "ADDED")
            for before, event in pairwise(events))
    assert bucket.history()[-1].record is again


def test_a_history_begins_where_it_is_told_to() -> None:
    """Given a new storage whose history is to begin at 8 / then nothing is said to be lost before
    that, and what follows is told from there on.
    """
    storage = Storage()
    storage.begin(8)
    assert (storage.revision, storage.log.begun, storage.log.compacted) == (8, 8, 8)
    bucket = pods(storage)
    bucket.create(pod("b"))
    assert [(event.record.name, event.revision) for event in bucket.history(8)] == [("b", 9)]


def test_a_storage_names_its_buckets_in_their_order() -> None:
    """Given buckets / then they are told in the order in which they were added."""
    storage = Storage()
    first = pods(storage)
    second = storage.add_bucket(GroupResource("g", "others"), fields=None)
    assert storage.buckets == (first, second)


def test_what_is_to_be_done_after_a_commit_is_done_once_and_in_order(storage: Storage, bucket: Bucket) -> None:
    """Given a subscriber that answers a write with two of its own / then these follow at once, and
    what they lead to; nothing is left to be done.
    """
    written: list[str] = []

    def answer(event: Event) -> None:
        name = event.record.name
        if name == "a":
            storage.afterwards(lambda: written.append(bucket.create(pod("b")).name))
            storage.afterwards(lambda: written.append(bucket.create(pod("c")).name))
        elif name == "c":
            storage.afterwards(lambda: written.append(bucket.create(pod("d")).name))

    bucket.subscribe(1, "", answer)
    bucket.create(pod("a"))
    assert written == ["b", "c", "d"]
    bucket.create(pod("e"))
    assert written == ["b", "c", "d"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["write", "delete", "delete with a last state"])), max_size=40),
    st.sampled_from([0, 2, 1_000]), st.sampled_from([5, 1_000]), st.data())
def test_some_changes_are_read_as_all_of_them_are(
    actions: list[tuple[str, str]], plain_events: int, max_events: int, data: st.DataObject,
) -> None:
    """Given objects that were made, changed and deleted, of which the history is retained in part
    and packed in part / when some of the changes are read / then they are as among all of them, and
    the heads of all say the same but for the states.
    """
    storage = Storage(max_events=max_events, plain_events=plain_events)
    bucket = pods(storage)
    for number, (name, action) in enumerate(actions):
        record = bucket.get("ns", name)
        CAUSE.set(Cause(float(number), "PUT", "/", "u", "agent", Acting("job", "k", str(number))))
        if record is None:
            bucket.create(pod(name, node=f"n{number}"))
        elif action == "write":
            bucket.update(pod(name, node=f"n{number}"), record)
        else:
            bucket.delete(record, final=pod(name, node=f"n{number}") if action != "delete" else None)
    CAUSE.set(None)
    everything = bucket.history()
    heads = list(bucket.heads())
    assert [(head[0], head[1], head[3], time_in(head), acted_on_in(head)) for head in heads] == [
        (event.revision, event.type, event.record.name, event.cause.time, event.cause.acting.revision)
        for event in everything if event.cause is not None and event.cause.acting is not None]
    wanted = data.draw(st.sets(st.sampled_from([event.revision for event in everything]))) if everything else set()
    read = sorted(map(whole, bucket.events_at(wanted)), key=lambda found: found[0])
    assert read == [whole(event) for event in everything if event.revision in wanted]


def whole(event: Event) -> tuple[Any, ...]:
    return (event.revision, event.type, event.record.data, None if event.previous is None else event.previous.data, event.cause)
