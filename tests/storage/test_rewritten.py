"""Objects that are kept without an event: from before the history, or in another form."""

from typing import Any

import pytest

from fakekube.storage.memory import Bucket, Record, Stale, Storage
from tests.storage.pods import pod, pods


def selected(bucket: Bucket, node: str, app: str) -> tuple[list[str], list[str]]:
    """Whom a node and a label find."""
    by_label = bucket.by_label("app", app)
    assert by_label is not None
    return [record.name for record in bucket.by_field("spec.nodeName", node)], [record.name for record in by_label]


def old_pod(name: str, version: int, **more: Any) -> dict[str, Any]:
    tree = pod(name, **more)
    tree["metadata"]["resourceVersion"] = str(version)
    return tree


def test_an_object_from_before_the_history_has_its_version_and_no_event() -> None:
    """Given a storage whose history begins at 20, with and without indexes / when an object of 7
    is kept / then it is there in that version, is found by its texts, and nobody is told; what is
    made next has 21.
    """
    storage = Storage()
    storage.begin(20)
    bucket, told = pods(storage), list[Record]()
    bucket.subscribe(20, "", lambda event: told.append(event.record))
    first = bucket.keep(old_pod("a", 7, node="n", labels={"app": "x"}))
    assert selected(bucket, "n", "x") == (["a"], ["a"])
    bucket.keep(old_pod("b", 8, node="n", labels={"app": "x"}))
    assert selected(bucket, "n", "x") == (["a", "b"], ["a", "b"])
    assert (first.revision, bucket.changes, len(bucket), bucket.history(), told) == (7, 2, 2, [], [])
    assert (storage.revision, bucket.create(pod("c")).revision) == (20, 21)
    assert bucket.get("ns", "a") is first
    with pytest.raises(AssertionError, match="there is a history already"):
        storage.begin(30)


def test_an_object_in_another_form_keeps_its_version(bucket: Bucket) -> None:
    """Given an object that is found by its texts / when it is kept in another form / then it has
    the version that it had, is found by the new texts, nobody is told, and the old record is stale.
    """
    record, told = bucket.create(pod("a", node="n", labels={"app": "x"})), list[Record]()
    assert selected(bucket, "n", "x") == (["a"], ["a"])
    bucket.subscribe(2, "", lambda event: told.append(event.record))
    again = bucket.restate(pod("a", node="m", labels={"app": "y"}), record)
    assert (again.revision, bucket.revision, bucket.changes, told, len(bucket)) == (2, 2, 2, [], 1)
    assert (selected(bucket, "n", "x"), selected(bucket, "m", "y")) == (([], []), (["a"], ["a"]))
    assert again.copy_tree()["metadata"]["resourceVersion"] == "2"
    assert [event.type for event in bucket.history()] == ["ADDED"]
    with pytest.raises(Stale):
        bucket.restate(pod("a"), record)
    assert bucket.update(pod("a"), again).revision == 3


def test_what_objects_are_selected_by_can_change(bucket: Bucket) -> None:
    """Given an object and questions by field and label / when other texts are selectable / then
    each object is found by these once it was looked at anew, at its own version; without fields
    before and after, nothing changes.
    """
    record = bucket.create(pod("a", node="n", labels={"app": "x"}))
    other = bucket.create(pod("b", node="n", labels={"app": "x"}))
    assert selected(bucket, "n", "x") == (["a", "b"], ["a", "b"])
    assert bucket.select_by(lambda tree: {"name": tree["metadata"]["name"].upper()})
    found = bucket.select_anew(record)
    assert (found.fields, found.revision, found.data) == ({"name": "A"}, 2, record.data)
    assert bucket.get("ns", "a") is found
    assert [one.name for one in bucket.by_field("name", "A")] == ["a"]
    assert bucket.by_field("name", "B") == []
    bucket.select_anew(other)
    assert [one.name for one in bucket.by_field("name", "B")] == ["b"]
    assert bucket.by_field("spec.nodeName", "n") == []
    assert bucket.revision == 3
    assert bucket.select_by(None)
    assert not bucket.select_by(None)
    assert bucket.create(pod("c", node="n")).fields == {}


def test_indexes_follow_what_changes_and_what_does_not(bucket: Bucket) -> None:
    """Given questions by field and label / when objects are made, changed in one of both, changed
    in neither, and deleted / then the answers are of the present, in the order of keys.
    """
    assert selected(bucket, "n", "x") == ([], [])
    record = bucket.create(pod("b", "a", node="n", labels={"app": "x"}))
    bucket.create(pod("a", "a-b", node="n", labels={"app": "x"}))
    assert selected(bucket, "n", "x") == (["a", "b"], ["a", "b"])
    record = bucket.update(pod("b", "a", node="n", labels={"app": "y"}), record)
    assert selected(bucket, "n", "x") == (["a", "b"], ["a"])
    record = bucket.update(pod("b", "a", node="m", labels={"app": "y"}), record)
    assert (selected(bucket, "n", "x"), selected(bucket, "m", "y")) == ((["a"], ["a"]), (["b"], ["b"]))
    record = bucket.update(pod("b", "a", node="m"), record)
    assert selected(bucket, "m", "y") == (["b"], [])
    bucket.delete(record)
    assert selected(bucket, "m", "y") == ([], [])
