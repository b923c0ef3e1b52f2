"""How much is retained and held, to the last event, byte and tree."""

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Compacted, Record, Storage
from fakekube.util.memory import ENABLED
from tests.storage.pods import PODS, pod, pods

remembering = pytest.mark.skipif(not ENABLED, reason="speaks of what is remembered, and memos are switched off")


def pass_by(bucket: Bucket, count: int) -> None:
    for _ in range(count):
        bucket.create(pod(f"other-{bucket.revision}"))


def test_a_storage_has_its_bounds_and_a_fork_the_same() -> None:
    """Given storages with their usual bounds and with others / when they are forked / then the
    forks have these bounds, the same sort of cache, and the same revisions.
    """
    usual, other = Storage(), Storage(max_events=7, max_bytes=8, plain_events=9, hot_trees=10, check_trees=True)
    for storage, bounds in ((usual, (100_000, 134_217_728, 2_000, 500 if ENABLED else 0)), (other, (7, 8, 9, 10))):
        for one in (storage, storage.fork()):
            assert (one.log.max_events, one.log.max_bytes, one.plain_events, one.trees.capacity) == bounds
            assert type(one.trees) is type(storage.trees)
    assert type(other.trees) is not type(usual.trees)
    pods(usual)
    for name in "abcde":
        usual.bucket(PODS).create(pod(name))
    usual.compact(3)
    usual.expire(4, watches=True)
    usual.expire(5)
    fork = usual.fork()
    for one in (usual, fork):
        assert (one.revision, one.oldest_readable, one.oldest_watchable) == (6, 5, 4)
        assert (one.log.compacted, one.log.begun, one.bucket(PODS).changes) == (3, 1, 5)


@pytest.mark.parametrize(("room", "compacted"), [(1_499, 3), (1_500, 2), (1_999, 2), (2_000, 1)])
def test_a_change_takes_five_hundred_bytes_beside_its_states(room: int, compacted: int) -> None:
    """Given room for some bytes / when four objects are made, of which no state was superseded /
    then as many are retained as take 500 bytes each, the last byte being used.
    """
    storage = Storage(max_bytes=room)
    pass_by(pods(storage), 4)
    assert storage.log.compacted == compacted


def test_exactly_so_many_events_are_retained() -> None:
    """Given room for three events / when a third and a fourth come / then the first is forgotten
    with the fourth.
    """
    storage = Storage(max_events=3)
    pass_by(pods(storage), 3)
    assert storage.log.compacted == 1
    pass_by(pods(storage), 1)
    assert storage.log.compacted == 2


def test_what_is_forgotten_does_not_depend_on_packing_or_forks() -> None:
    """Given the same changes in storages that pack early, late and not at all, one of them forked
    again and again / when room runs out / then all forget the same at the same time.
    """
    storages = [Storage(max_bytes=90_000, plain_events=plain) for plain in (0, 1, 3, 70, 10_000)] + [
        Storage(max_bytes=90_000, plain_events=2)]
    for number in range(300):
        if number % 10 == 0:
            storages[-1] = storages[-1].fork()
        for storage in storages:
            bucket = pods(storage)
            record = bucket.get("ns", "a")
            node = "n" * (number * 37 % 900)
            if record is None:
                bucket.create(pod("a", node=node))
            elif number % 7:
                bucket.update(pod("a", node=node), record)
            else:
                bucket.delete(record, final=pod("a", node=node) if number % 2 else None)
        assert len({storage.log.compacted for storage in storages}) == 1
        lengths = [(len(pods(storage).track), len(pods(storage).history())) for storage in storages]
        assert lengths == [lengths[0]] * len(storages)
        assert lengths[0][0] == storages[0].revision - storages[0].log.compacted
    assert storages[0].log.compacted == 215


def test_a_compaction_forgets_up_to_a_revision_and_not_the_future() -> None:
    """Given objects in two resources / when the history is compacted, again to an older revision,
    and to one to come / then it begins at the newest of these, and the last is refused.
    """
    storage = Storage()
    bucket, nodes = pods(storage), storage.add_bucket(GroupResource("", "nodes"), fields=None)
    for name in "ab":
        bucket.create(pod(name))
        nodes.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}})
    storage.compact(3)
    storage.compact(2)
    assert (storage.log.compacted, len(bucket.track), len(nodes.track)) == (3, 1, 1)
    with pytest.raises(AssertionError, match="cannot compact the future"):
        storage.compact(6)
    with pytest.raises(Compacted, match="history begins at 3"):
        bucket.history(2)
    storage.compact()
    assert (storage.log.compacted, len(bucket.track), len(nodes.track)) == (5, 0, 0)
    assert storage.log.begun == 1


@remembering
def test_the_latest_trees_are_held_and_the_next_lets_one_go() -> None:
    """Given an object that nobody reads / when 127 others come, and another / then it is held until
    that.
    """
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    pass_by(bucket, 127)
    assert record.held_tree is not None
    pass_by(bucket, 1)
    assert record.held_tree is None


@remembering
@pytest.mark.parametrize(("more", "held"), [(0, True), (1, False)])
def test_trees_of_a_mebibyte_are_held(more: int, held: bool) -> None:
    """Given objects that take a mebibyte together, or a byte more / then the oldest is held, or is
    let go; one that was superseded takes no room.
    """
    bare = len(pods(Storage()).create(pod("a")).data)
    bucket = pods(Storage())
    changed = bucket.create(pod("a", node="x" * 700_000))
    first = bucket.update(pod("a"), changed)
    second = bucket.create(pod("b", node="x" * (1_048_576 - 2 * bare + more)))
    assert len(first.data) + len(second.data) == 1_048_576 + more
    assert (first.held_tree is not None) is held
    assert second.held_tree is not None
    assert changed.held_tree is None


def test_a_checking_cache_proves_what_it_lets_go_and_what_is_superseded() -> None:
    """Given room for two trees in a storage that checks / when a tree that was changed is pushed
    out, or superseded / then that is found; without a change, nothing is.
    """
    for spoilt in (False, True):
        for superseded in (False, True):
            bucket = pods(Storage(hot_trees=2, check_trees=True))
            record = bucket.create(pod("a"))
            bucket.create(pod("b"))
            if spoilt:
                record.tree()["spec"]["nodeName"] = "elsewhere"

            def go_on(bucket: Bucket = bucket, record: Record = record, superseded: bool = superseded) -> Record:
                return bucket.update(pod("a", node="n"), record) if superseded else bucket.create(pod("c"))

            if spoilt:
                with pytest.raises(AssertionError, match=r"^somebody changed the shared tree of <Record ns/a at 2>"):
                    go_on()
            else:
                assert go_on().revision == 4
                bucket.storage.trees.check()
