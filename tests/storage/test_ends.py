"""What ends, expires or is waited for in a storage."""

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Compacted, Event, Record, Storage
from fakekube.storage.watchcache import Subscribers
from tests.storage.pods import PODS, pod, pods

NODES = GroupResource("", "nodes")


def test_reads_and_watches_expire_apart_and_never_come_back(storage: Storage, bucket: Bucket) -> None:
    """Given a history / when reads expire, then watches, then earlier ones / then watches from
    before are refused with the oldest that is left, and the history itself stays.
    """
    for name in "abcde":
        bucket.create(pod(name))
    storage.expire(4)
    assert (storage.oldest_readable, storage.oldest_watchable) == (4, 0)
    bucket.subscribe(1, "", print).cancel()
    storage.expire(3, watches=True)
    assert (storage.oldest_readable, storage.oldest_watchable) == (4, 4)
    with pytest.raises(Compacted) as gone:
        bucket.subscribe(3, "", print)
    assert gone.value.oldest == 4
    told: list[int] = []
    bucket.subscribe(4, "", lambda event: told.append(event.revision))
    assert told == [5, 6]
    assert (len(bucket.history()), storage.log.compacted) == (5, 1)


def test_a_storage_that_retires_ends_every_subscription(storage: Storage, bucket: Bucket) -> None:
    """Given subscriptions of several sorts in two buckets, and somebody who wants to know / when
    the storage retires / then all are closed, each once, and nobody is told anything after.
    """
    nodes = storage.add_bucket(NODES, fields=None)
    ended: list[str] = []
    told: list[Event] = []

    def subscribe(bucket: Bucket, namespace: str, field: tuple[str, str] | None, name: str) -> None:
        bucket.subscribe(1, namespace, told.append, field=field, closed=lambda: ended.append(name))

    subscribe(bucket, "", None, "all")
    subscribe(bucket, "ns", None, "namespace")
    subscribe(bucket, "", ("spec.nodeName", "n"), "field")
    subscribe(nodes, "", None, "nodes")
    bucket.subscribe(1, "", told.append)
    storage.on_retire[lambda: ended.append("storage")] = None
    storage.retire()
    assert ended == ["all", "namespace", "field", "nodes", "storage"]
    assert (bucket.retired, nodes.retired, bucket.dropped) == (True, True, False)
    bucket.create(pod("a", node="n"))
    assert told == []


def test_only_what_is_empty_is_dropped(storage: Storage, bucket: Bucket) -> None:
    """Given a bucket with an object / when it is dropped, before and after the object went / then
    it is refused at first, and says so itself then; one that is not there is dropped without words.
    """
    record = bucket.create(pod("a"))
    with pytest.raises(AssertionError, match="pods still has objects"):
        storage.drop_bucket(PODS)
    again = Storage()
    bucket = pods(again)
    bucket.delete(bucket.create(pod("a")))
    again.drop_bucket(PODS)
    again.drop_bucket(NODES)
    assert (bucket.dropped, again.has(PODS), again.buckets, record.revision) == (True, False, (), 2)


def test_a_bucket_of_another_storage_is_adopted_once(storage: Storage, bucket: Bucket) -> None:
    """Given objects of another storage / when they are adopted / then they are there, and written
    to apart; what has a bucket already is refused.
    """
    other = Storage()
    record = pods(other).create(pod("a"))
    with pytest.raises(AssertionError, match="pods has objects of its own"):
        storage.adopt(pods(other))
    fresh = Storage()
    fresh.adopt(pods(other))
    assert pods(fresh).get("ns", "a") is record
    pods(other).delete(record)
    assert (len(pods(fresh)), len(pods(other))) == (1, 0)


def test_who_waits_for_a_record_is_woken_once(storage: Storage, bucket: Bucket) -> None:
    """Given those who wait for an object / when it comes, comes again, or is there already, or they
    wait no longer / then each is woken once at most.
    """
    woken: list[str] = []

    def waits_for(name: str, note: str) -> object:
        def fits(record: Record) -> bool:
            return record.name == name

        return storage.await_record(fits, lambda: woken.append(note))

    waits_for("a", "first")
    waits_for("a", "second")
    waits_for("b", "third")
    cancel = waits_for("a", "cancelled")
    assert callable(cancel)
    cancel()
    record = bucket.create(pod("a"))
    assert woken == ["first", "second"]
    bucket.update(pod("a", node="n"), record)
    assert woken == ["first", "second"]
    assert waits_for("a", "late") is None
    cancel()
    bucket.create(pod("b"))
    assert woken == ["first", "second", "third"]
    assert storage.sought == {}


def test_a_storage_can_be_written_to_after_a_subscriber_failed(storage: Storage, bucket: Bucket) -> None:
    """Given a subscriber that raises, at once and in what it does afterwards / when objects are
    made / then the error comes out, and the next one is stored and told as ever.
    """
    told: list[str] = []

    def fail_later() -> None:
        raise ValueError("b")

    def fail(event: Event) -> None:
        told.append(event.record.name)
        if event.record.name == "a":
            raise ValueError("a")
        if event.record.name == "b":
            storage.afterwards(fail_later)
            storage.afterwards(lambda: told.append("afterwards"))

    bucket.subscribe(1, "", fail)
    for name in "ab":
        with pytest.raises(ValueError, match=name):
            bucket.create(pod(name))
    bucket.create(pod("c"))
    assert (told, storage.revision) == (["a", "b", "c", "afterwards"], 4)


def test_subscribers_are_forgotten_with_the_last_of_their_sort() -> None:
    """Given subscribers of every sort / when they cancel one by one, some twice / then those left
    are told what concerns them, and in the end nobody is there to make an event for.
    """
    bucket, subscribers = pods(Storage()), Subscribers()
    bucket._subscribers = subscribers
    told: list[str] = []
    sorts: list[tuple[str, tuple[str, str] | None]] = [
        ("", None), ("ns", None), ("ns", ("spec.nodeName", "n")), ("", ("spec.nodeName", "n")), ("", ("spec.nodeName", "m")),
        ("", ("metadata.name", "a")), ("", ("metadata.namespace", "ns")), ("", ("none", "")), ("other", ("metadata.name", "a"))]
    made = []
    for namespace, field in sorts:
        def deliver(event: Event, note: str = f"{namespace or '*'} {field[0] + '=' + field[1] if field else '*'}") -> None:
            told.append(f"{event.type} {event.revision} {note}")

        made.append(bucket.subscribe(1, namespace, deliver, field=field))
    bucket.update(pod("a", node="m"), bucket.create(pod("a", node="n")))
    assert told == [
        "ADDED 2 * *", "ADDED 2 ns *", "ADDED 2 ns spec.nodeName=n", "ADDED 2 * spec.nodeName=n",
        "ADDED 2 * metadata.name=a", "ADDED 2 * metadata.namespace=ns", "ADDED 2 * none=",
        "MODIFIED 3 * *", "MODIFIED 3 ns *", "MODIFIED 3 * spec.nodeName=m", "MODIFIED 3 ns spec.nodeName=n",
        "MODIFIED 3 * spec.nodeName=n", "MODIFIED 3 * metadata.name=a", "MODIFIED 3 * metadata.namespace=ns",
        "MODIFIED 3 * none="]
    for number, subscription in enumerate(made):
        assert subscribers
        subscription.cancel()
        subscription.cancel()
        del told[:]
        bucket.create(pod(f"b{number}", node="n"))
        assert len(told) == [5, 4, 3, 2, 2, 2, 1, 0, 0][number]
    assert not subscribers
    assert (subscribers._plain, subscribers._by_field) == ({}, {})
