"""Small parts of the storage: many sets of fields, namespaces that are not there, old states."""

import pytest

from fakekube.storage import ordering
from fakekube.storage.memory import Compacted, Storage
from fakekube.storage.ordering import MetadataOrder
from fakekube.storage.trees import RECENT_TREES
from tests.storage.pods import pod, pods


def test_only_so_many_sets_of_fields_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given objects of many sets of fields / when there are more than are remembered / then they
    are in order all the same.
    """
    monkeypatch.setattr(ordering, "MAX_ORDERS", 2)
    order = MetadataOrder()
    for number in range(5):
        found = order.stamp({f"z{number}": 1, "uid": "u", "name": "n"}, "7")
        assert list(found) == ["name", "uid", "resourceVersion", f"z{number}"]
        assert found == {"name": "n", "uid": "u", "resourceVersion": "7", f"z{number}": 1}
        assert len(order._orders) <= 2


def test_a_namespace_that_is_not_there_has_no_names() -> None:
    """Given a keyspace / when names of another namespace are counted / then there are none."""
    bucket = pods(Storage())
    for name in "abc":
        bucket.create(pod(name))
    space = bucket.objects
    namespace = pod("a")["metadata"]["namespace"]
    assert [space.count_from("none"), space.count_from("none", "a")] == [0, 0]
    assert [space.count_from(namespace, start) for start in ("", "a", "b", "c", "d")] == [3, 3, 2, 1, 0]


def test_what_did_not_change_since_is_read_from_the_present() -> None:
    """Given objects of which one changed / when an old state is read / then that one is as it was,
    the others are as they are, and what was not there is not.
    """
    bucket = pods(Storage())
    first, second = bucket.create(pod("a")), bucket.create(pod("b"))
    then = bucket.revision
    namespace = pod("a")["metadata"]["namespace"]
    bucket.create(pod("c"))
    bucket.delete(first)
    state = bucket.at(then)
    found = [state.get(namespace, name) for name in "abc"]
    assert [record and record.name for record in found] == ["a", "b", None]
    assert found[1] is second


def test_a_tree_that_is_read_often_stays_so_when_it_changes() -> None:
    """Given an object that is read often / when it changes, and is read no more / then its tree is
    kept all the same, and that of the old version is not.
    """
    storage = Storage()
    bucket = pods(storage)
    record = bucket.create(pod("a"))
    trees = storage.trees
    for _ in range(100):
        record.tree()
    for number in range(RECENT_TREES + 1):
        bucket.create(pod(f"o{number}"))
    assert record in trees._hot
    after = bucket.update(pod("a"), record)
    assert (record in trees._hot, after in trees._hot, after in trees._recent) == (False, True, False)


def test_a_fork_is_compacted_by_itself() -> None:
    """Given a storage with a history / when a fork of it is compacted / then what is older is gone
    there, and there alone.
    """
    storage = Storage()
    bucket = pods(storage)
    for name in "abc":
        bucket.create(pod(name))
    fork = storage.fork()
    fork.compact(bucket.revision - 1)
    copy = pods(fork)
    with pytest.raises(Compacted):
        copy.at(bucket.revision - 2)
    assert copy.at(bucket.revision) is not None
    assert bucket.at(bucket.revision - 2) is not None
