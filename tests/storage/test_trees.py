"""Decoded objects: shared, few, and never changed."""

import pytest

from fakekube.storage.memory import Bucket, Storage
from tests.storage.pods import pod, pods


def test_a_hot_tree_is_decoded_once_and_shared() -> None:
    """Given a stored object / when it is read twice / then both readers get the same tree."""
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    assert record.tree() is record.tree()
    assert record.copy_tree() is not record.tree()


def test_the_tree_that_was_written_is_the_tree_that_is_read() -> None:
    """Given a created object / when it is read / then nothing was decoded for it, and it carries its revision."""
    bucket = pods(Storage())
    tree = pod("a")
    record = bucket.create(tree)
    assert record.tree()["spec"] is tree["spec"]
    assert record.tree()["metadata"]["resourceVersion"] == "2"
    assert "resourceVersion" not in tree["metadata"]


def test_only_so_many_trees_stay_decoded() -> None:
    """Given room for two trees / when three objects are read / then one of them was let go, and is decoded again."""
    bucket = pods(Storage(hot_trees=2))
    records = [bucket.create(pod(name)) for name in "abc"]
    assert [record.held_tree is None for record in records] == [True, False, False]
    assert records[0].tree()["metadata"]["name"] == "a"


def test_a_tree_that_is_used_gets_a_second_chance() -> None:
    """Given room for two trees, one of them in use / when a third comes / then the idle one goes."""
    bucket = pods(Storage(hot_trees=2))
    used = bucket.create(pod("used"))
    idle = bucket.create(pod("idle"))
    used.tree()
    bucket.create(pod("third"))
    assert used.held_tree is not None
    assert idle.held_tree is None


def test_a_superseded_tree_is_let_go() -> None:
    """Given an object / when it is updated / then the old tree is no longer held, but can still be had."""
    bucket = pods(Storage())
    record = bucket.create(pod("a"))
    bucket.update(pod("a", node="n1"), record)
    assert record.held_tree is None
    assert record.tree()["spec"] == {"nodeName": ""}


def test_in_tests_a_changed_tree_is_found(bucket: Bucket, storage: Storage) -> None:
    """Given a storage that checks / when somebody changes a shared tree / then the next use of it fails."""
    record = bucket.create(pod("a"))
    record.tree()["spec"]["nodeName"] = "elsewhere"
    with pytest.raises(AssertionError, match="changed the shared tree"):
        record.tree()
    with pytest.raises(AssertionError, match="changed the shared tree"):
        storage.trees.check()
