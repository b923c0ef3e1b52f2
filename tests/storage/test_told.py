"""What is said of records, events and refusals, and how metadata stand in what is stored."""

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Compacted, Event, Future, KeyExists, Stale, Storage
from tests.storage.pods import PODS, pod, pods


def test_refusals_say_what_and_where(storage: Storage, bucket: Bucket) -> None:
    """Given an object that is there and was changed / when it is made again, written as it was, or
    read in the future or the forgotten past / then each refusal names it.
    """
    record = bucket.create(pod("a"))
    bucket.update(pod("a", node="n"), record)
    storage.compact()
    with pytest.raises(KeyExists, match=r"^ns/a exists$") as taken:
        bucket.create(pod("a"))
    assert taken.value.name == "a"
    with pytest.raises(Stale, match=r"^ns/a has moved on$"):
        bucket.restate(pod("a"), record)
    with pytest.raises(Future, match=r"^the newest revision is 3$"):
        bucket.at(4)
    with pytest.raises(Compacted, match=r"^history begins at 3$") as gone:
        bucket.at(2)
    assert gone.value.oldest == 3
    assert bucket.at(3) is bucket


def test_records_and_events_say_what_they_are(bucket: Bucket) -> None:
    """Given an object that was made and deleted / then its record and its events name it, the
    version, and what happened.
    """
    record = bucket.create(pod("a"))
    bucket.delete(record)
    assert repr(record) == "<Record ns/a at 2>"
    assert [repr(event) for event in bucket.history()] == [
        "<Event ADDED <Record ns/a at 2>>", "<Event DELETED <Record ns/a at 3>>"]


def test_metadata_are_printed_in_the_order_of_gos_struct(bucket: Bucket) -> None:
    """Given metadata with every field, from the last to the first, and two that Go does not know /
    when it is stored, twice / then they are in Go's order, the unknown ones last as they stood, and
    both maps are sorted.
    """
    wanted = [
        "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
        "managedFields", "zone", "area",
    ]
    given = [*(name for name in reversed(wanted[:-2]) if name != "resourceVersion"), "zone", "area"]
    values = {"name": "a", "namespace": "ns", "labels": {"b": "1", "a": "2", "c": "3"}, "annotations": {"z": "1", "y": "2"}}
    for name in ("a", "b"):
        metadata = {field: values.get(field, "x") for field in given} | {"name": name}
        tree = {"metadata": metadata, "spec": {"nodeName": ""}, "kind": "Pod"}
        found = bucket.create(tree).copy_tree()
        assert list(found) == ["kind", "apiVersion", "metadata", "spec"]
        assert (found["kind"], found["apiVersion"]) == ("Pod", "")
        assert list(found["metadata"]) == wanted
        assert (list(found["metadata"]["labels"]), list(found["metadata"]["annotations"])) == (["a", "b", "c"], ["y", "z"])
        assert found["metadata"]["labels"] == values["labels"]


def test_what_is_in_order_stays_and_one_map_is_sorted_without_the_other(bucket: Bucket) -> None:
    """Given metadata that are in order already, with one map in disorder and without labels / when
    they are stored / then they are as they were, that map sorted.
    """
    metadata = {
        "name": "a", "namespace": "ns", "resourceVersion": "9", "annotations": {"b": "", "a": ""}, "finalizers": ["z", "y"]}
    found = bucket.create({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": ""}})
    assert found.data == (
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"2",'
        b'"annotations":{"a":"","b":""},"finalizers":["z","y"]},"spec":{"nodeName":""}}')
    assert found.data[found.body_offset:].startswith(b'"metadata"')
    assert metadata["resourceVersion"] == "9"


def facts(event: Event) -> list[object]:
    return [
        (record.namespace, record.name, record.revision, record.uid, dict(record.labels), record.has_owners,
         dict(record.fields), record.field("spec.nodeName"), record.field("none"), record.label("app"), record.label("b"),
         record.label("none"), record.body_offset, record.tree(), record.tree() is record.tree())
        for record in (event.record, event.previous) if record is not None]


@pytest.mark.parametrize("plain_events", [0, 100])
def test_a_record_of_the_past_tells_what_the_one_of_then_told(plain_events: int) -> None:
    """Given objects with and without labels, owners and fields that were made, changed and deleted
    / when the history is read / then every record says what watchers were told.
    """
    storage = Storage(plain_events=plain_events)
    bucket, nodes = pods(storage), storage.add_bucket(GroupResource("", "nodes"), fields=None)
    told: list[list[object]] = []
    bucket.subscribe(1, "", lambda event: told.append(facts(event)))
    nodes.subscribe(1, "", lambda event: told.append(facts(event)))
    record = bucket.create(pod("a", node="n1", labels={"app": "x", "b": "y"}))
    owned = pod("a", node="n2")
    owned["metadata"]["ownerReferences"] = [{"uid": "o"}]
    record = bucket.update(owned, record)
    bucket.delete(record, pod("a", node="n3", labels={"b": "z"}))
    node = nodes.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    nodes.delete(node)
    assert [facts(event) for event in (*bucket.history(), *nodes.history())] == told
    assert told[0] == [(
        "ns", "a", 2, "uid-a", {"app": "x", "b": "y"}, False, {"spec.nodeName": "n1"}, "n1", "", "x", "y", None, 32,
        {**pod("a", node="n1"), "metadata": {
            "name": "a", "namespace": "ns", "uid": "uid-a", "resourceVersion": "2", "labels": {"app": "x", "b": "y"}}}, True)]
    assert told[-1][0] == (
        "", "n", 6, "", {}, False, {}, "", "", None, None, None, 33,
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "resourceVersion": "6"}}, True)
    past = bucket.history()[0].record
    with pytest.raises(AttributeError, match=r"^rows$"):
        past.rows  # type: ignore[attr-defined]  # noqa: B018


def test_one_frame_is_made_for_each_key(bucket: Bucket) -> None:
    """Given an event / when frames are asked for under two keys, again and again / then each is
    made once.
    """
    events: list[Event] = []
    bucket.subscribe(1, "", events.append)
    bucket.create(pod("a"))
    made = [events[0].frame(key, lambda: object()) for key in ("x", "y", "x", "y")]  # type: ignore[arg-type, return-value]
    assert (made[0] is made[2], made[1] is made[3], made[0] is made[1]) == (True, True, False)


def test_what_a_bucket_is_told_of_its_state(storage: Storage, bucket: Bucket) -> None:
    """Given a bucket / when it is written to / then it counts its writes, and names its resource
    and its namespaces in the order of keys.
    """
    for namespace in ("b", "a", "a-b"):
        bucket.create(pod("x", namespace))
    assert (bucket.resource, bucket.changes, bucket.revision, bucket.compacted) == (PODS, 3, 4, 1)
    assert bucket.namespaces() == ["a-b", "a", "b"]
    assert (bucket.retired, bucket.dropped) == (False, False)
    assert storage.has(PODS)
    assert {record.namespace for record in bucket.all()} == {"a-b", "a", "b"}
    record = bucket.get("a", "x")
    assert record is not None
    bucket.delete(record)
    assert (bucket.namespaces(), bucket.changes, bucket.get("a", "x"), bucket.records("a")) == (["a-b", "b"], 4, None, [])
