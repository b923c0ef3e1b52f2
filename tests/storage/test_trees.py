"""Decoded objects: shared, few, and never changed."""

import pytest

from fakekube.storage.memory import Bucket, Record, Storage
from fakekube.storage.trees import RECENT_TREES
from fakekube.util.memory import ENABLED
from tests.storage.pods import pod, pods

pytestmark = pytest.mark.skipif(not ENABLED, reason="speaks of what is remembered, and memos are switched off")


def test_a_hot_tree_is_decoded_once_and_shared() -> None:
    """Given a stored object / when it is read twice / then both readers get the same tree."""
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    assert record.tree() is record.tree()
    assert record.copy_tree() is not record.tree()


def test_the_tree_that_was_written_is_the_tree_that_is_read() -> None:
    """Given a created object / when it is read / then nothing was decoded for it, and it carries
    its revision.
    """
    bucket = pods(Storage())
    tree = pod("a")
    record = bucket.create(tree)
    assert record.tree()["spec"] is tree["spec"]
    assert record.tree()["metadata"]["resourceVersion"] == "2"
    assert "resourceVersion" not in tree["metadata"]


def use(record: Record, times: int) -> None:
    for _ in range(times):
        record.tree()


def pass_by(bucket: Bucket, count: int = RECENT_TREES) -> None:
    for _ in range(count):
        bucket.create(pod(f"other-{bucket.revision}"))


def test_a_tree_that_nobody_comes_back_to_is_let_go() -> None:
    """Given an object whose writer read it / when others come after it / then its tree goes, and is
    decoded again.
    """
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    use(record, 2)
    pass_by(bucket)
    assert record.held_tree is None
    assert record.tree()["metadata"]["name"] == "a"


def test_a_tree_that_somebody_has_is_not_decoded_again() -> None:
    """Given an object whose tree a cache of this process keeps / when the storage let it go / then
    a reader gets that one.
    """
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    kept = record.tree()
    pass_by(bucket)
    assert record.held_tree is None
    assert record.tree() is kept


def test_a_tree_that_is_used_again_and_again_stays() -> None:
    """Given an object that is read often / when many others come / then it stays decoded, and so
    does its successor.
    """
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    use(record, 3)
    pass_by(bucket, 100)
    assert record.held_tree is not None
    changed = bucket.update(pod("a", node="n1"), record)
    pass_by(bucket, 100)
    assert changed.held_tree is not None


def test_only_so_many_stay_and_the_idle_go_first() -> None:
    """Given room for two hot trees, one of them in use / when a third becomes hot / then the idle
    one goes.
    """
    bucket = pods(Storage(hot_trees=2))
    used, idle, third = (bucket.create(pod(name)) for name in ("used", "idle", "third"))
    for record in (used, idle, third):
        use(record, 3)
    pass_by(bucket, RECENT_TREES - 1)
    assert used.held_tree is not None
    use(used, 1)
    pass_by(bucket, 1)
    assert [record.held_tree is None for record in (used, idle, third)] == [False, True, False]


def test_a_superseded_tree_is_let_go() -> None:
    """Given an object / when it is updated / then the old tree is no longer held, but can still be
    had.
    """
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    bucket.update(pod("a", node="n1"), record)
    assert record.held_tree is None
    assert record.tree()["spec"] == {"nodeName": ""}


def test_a_superseded_tree_that_is_read_again_is_let_go_but_once() -> None:
    """Given room for two hot trees / when an object that was read often is superseded, read again
    and passed by, time and again / then nothing goes wrong, and every state is told as it was.
    """
    bucket = pods(Storage(hot_trees=2))
    for number in range(5):
        record = bucket.create(pod(f"a-{number}"))
        use(record, 4)
        bucket.update(pod(f"a-{number}", node="n1"), record)
        use(record, 1)
        pass_by(bucket, 100)
        assert record.tree()["spec"] == {"nodeName": ""}


def test_in_tests_a_changed_tree_is_found(bucket: Bucket, storage: Storage) -> None:
    """Given a storage that checks / when somebody changes a shared tree / then the next use of it
    fails.
    """
    record = bucket.create(pod("a"))
    record.tree()["spec"]["nodeName"] = "elsewhere"
    with pytest.raises(AssertionError, match="changed the shared tree"):
        record.tree()
    with pytest.raises(AssertionError, match="changed the shared tree"):
        storage.trees.check()


def test_without_room_nothing_is_kept() -> None:
    """Given room for no tree / when an object is written, read and changed / then every answer is
    decoded from the bytes, and nothing is held, neither by the cache nor because somebody else has
    it.
    """
    bucket = pods(Storage(hot_trees=0))
    record = bucket.create(pod("a"))
    kept = record.tree()
    use(record, 10)
    assert record.tree() is not kept
    changed = bucket.update(pod("a", node="n1"), record)
    assert (record.held_tree, record.seen_tree, changed.held_tree, changed.seen_tree) == (None, None, None, None)
    assert changed.tree()["spec"] == {"nodeName": "n1"}
