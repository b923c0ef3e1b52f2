"""One commit: what it checks, what it stamps, what it keeps."""

import orjson
import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, KeyExists, Stale, Storage
from tests.storage.pods import pod, pods


def test_a_fresh_storage_counts_from_one_like_etcd(storage: Storage, bucket: Bucket) -> None:
    """Given a fresh storage / when the first object is created / then it has revision 2, and the
    next 3.
    """
    assert storage.revision == 1
    assert bucket.create(pod("a")).revision == 2
    assert bucket.create(pod("b")).revision == 3


def test_all_buckets_share_one_revision(storage: Storage, bucket: Bucket) -> None:
    """Given two resources / when both are written to / then no two objects have the same revision.
    """
    nodes = storage.add_bucket(GroupResource("", "nodes"), fields=None)
    first = bucket.create(pod("a"))
    second = nodes.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    assert (first.revision, second.revision) == (2, 3)


def test_an_object_is_stamped_and_its_keys_are_in_gos_order(bucket: Bucket) -> None:
    """Given a tree in any order / when it is stored
    / then kind, apiVersion and metadata lead and metadata is in order.
    """
    record = bucket.create({
        "status": {"phase": "Pending"}, "spec": {"nodeName": ""},
        "metadata": {
            "labels": {"z": "b", "a": "b"}, "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "name": "x",
            "namespace": "n"},
        "apiVersion": "v1", "kind": "Pod",
    })
    tree = orjson.loads(record.data)
    assert list(tree) == ["kind", "apiVersion", "metadata", "status", "spec"]
    assert list(tree["metadata"]) == ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels"]
    assert tree["metadata"]["resourceVersion"] == "2"
    assert list(tree["metadata"]["labels"]) == list(record.labels) == ["a", "z"]


def test_a_list_item_leaves_out_its_kind(bucket: Bucket) -> None:
    """Given a stored object / when it stands in a list / then kind and apiVersion are left out."""
    record = bucket.create(pod("a"))
    assert list(orjson.loads(b"{" + record.data[record.body_offset:])) == ["metadata", "spec"]


def test_custom_resources_are_printed_with_sorted_keys_and_whole_items(storage: Storage) -> None:
    """Given a bucket that sorts keys / when an object is stored / then every level is sorted and
    items are whole.
    """
    bucket = storage.add_bucket(GroupResource("g", "widgets"), fields=None, sort_keys=True)
    record = bucket.create({
        "kind": "Widget", "apiVersion": "g/v1", "metadata": {"namespace": "n", "name": "a"}, "spec": {"b": 1, "a": 2}})
    assert record.data == (
        b'{"apiVersion":"g/v1","kind":"Widget","metadata":{"name":"a","namespace":"n","resourceVersion":"2"},'
        b'"spec":{"a":2,"b":1}}')
    assert record.body_offset == 0


def test_what_must_be_known_without_decoding_is_kept_beside_the_bytes(bucket: Bucket) -> None:
    """Given an object with labels and owners / when it is stored / then the record knows them."""
    tree = pod("a", node="n1", labels={"app": "x"})
    tree["metadata"]["ownerReferences"] = [{"uid": "o1"}, {"uid": "o2"}, {"uid": "o1"}]
    record = bucket.create(tree)
    assert record.labels == {"app": "x"}
    assert record.has_owners
    assert record.fields == {"spec.nodeName": "n1"}
    assert record.uid == "uid-a"


def test_a_taken_name_is_refused(bucket: Bucket) -> None:
    """Given an object / when another of its name is created / then KeyExists, and nothing happened.
    """
    bucket.create(pod("a"))
    with pytest.raises(KeyExists):
        bucket.create(pod("a"))
    assert (bucket.revision, len(bucket)) == (2, 1)


def test_only_the_latest_record_may_be_replaced(bucket: Bucket) -> None:
    """Given two who saw the same state / when both write / then the second is Stale."""
    record = bucket.create(pod("a"))
    bucket.update(pod("a", node="n1"), record)
    with pytest.raises(Stale):
        bucket.update(pod("a", node="n2"), record)
    with pytest.raises(Stale):
        bucket.delete(record)
    current = bucket.get("ns", "a")
    assert current is not None
    assert current.fields["spec.nodeName"] == "n1"


def test_a_name_that_was_deleted_and_made_again_is_another_object(bucket: Bucket) -> None:
    """Given an object that was replaced by another of its name / when the old one is deleted / then
    Stale.
    """
    record = bucket.create(pod("a"))
    bucket.delete(record)
    bucket.create(pod("a"))
    with pytest.raises(Stale):
        bucket.delete(record)


def test_a_deletion_takes_a_revision_and_keeps_the_last_state(bucket: Bucket) -> None:
    """Given an object / when it is deleted
    / then the record that returns is its last state at the deletion's revision.
    """
    last = bucket.delete(bucket.create(pod("a", node="n1")))
    assert last.revision == 3
    assert last.copy_tree()["metadata"]["resourceVersion"] == "3"
    assert last.copy_tree()["spec"] == {"nodeName": "n1"}
    assert bucket.get("ns", "a") is None


def test_a_tree_that_cannot_be_encoded_changes_nothing(storage: Storage, bucket: Bucket) -> None:
    """Given a tree that JSON cannot hold / when it is stored / then it is refused before anything
    happened.
    """
    tree = pod("a")
    tree["spec"]["nodeName"] = object()
    with pytest.raises(TypeError):
        bucket.create(tree)
    assert storage.revision == 1
    assert len(bucket) == 0


def test_a_subscriber_may_not_write(bucket: Bucket) -> None:
    """Given a subscriber that writes / when an event comes
    / then it is told off, since others would see a wrong order.
    """
    bucket.subscribe(bucket.revision, "", lambda event: bucket.delete(event.record))
    with pytest.raises(AssertionError, match="may not write"):
        bucket.create(pod("a"))


def test_a_resource_can_be_forgotten_once_it_is_empty(storage: Storage, bucket: Bucket) -> None:
    """Given a watched resource / when it is dropped
    / then watchers are told, and its name is free for another bucket.
    """
    ended: list[str] = []
    bucket.subscribe(bucket.revision, "", print, closed=lambda: ended.append("closed"))
    field = ("metadata.name", "a")
    bucket.subscribe(bucket.revision, "", print, field=field, closed=lambda: ended.append("closed too"))
    storage.drop_bucket(bucket.resource)
    assert ended == ["closed", "closed too"]
    assert not storage.has(bucket.resource)
    assert pods(storage) is not bucket


def test_selectable_fields_are_said_once(storage: Storage, bucket: Bucket) -> None:
    """Given a resource with a bucket / when another is added for it, or one is asked for that was
    never added / then neither is possible: nobody gets a bucket with other fields than he thinks.
    """
    with pytest.raises(AssertionError, match="has a bucket already"):
        storage.add_bucket(bucket.resource, fields=None)
    assert storage.bucket(bucket.resource) is bucket
    with pytest.raises(KeyError):
        storage.bucket(GroupResource("", "never-added"))
