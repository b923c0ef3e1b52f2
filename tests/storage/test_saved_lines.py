"""A storage as lines, letter by letter, and what they come to when they are read."""

from typing import NamedTuple

from fakekube.apimachinery.causes import CAUSE, Acting, Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage import saved
from fakekube.storage.memory import Bucket, Storage
from tests.storage.pods import PODS, pod, pods

WIDGETS = GroupResource("example.com", "widgets")


class Key(NamedTuple):
    namespace: str
    name: str


def written() -> Storage:
    """One pod of before the history, one that came with every sort of cause, was changed and went,
    one that was deleted as it was, and a custom object.
    """
    storage = Storage()
    storage.begin(5)
    bucket, widgets = pods(storage), storage.add_bucket(WIDGETS, fields=None, sort_keys=True)
    old = pod("old")
    old["metadata"]["resourceVersion"] = "3"
    bucket.keep(old)
    CAUSE.set(Cause(1.5, "POST", "/p", "u", "agent", None))
    record = bucket.create(pod("a"))
    CAUSE.set(Cause(2.0, "PUT", "/q", "v", "", Acting("job", Key("ns", "j"), "7"), "lost"))
    record = bucket.update(pod("a", node="n"), record)
    CAUSE.set(Cause(3.0, "DELETE", "/r", "w", "", Acting("gc", Key("", "j"), "")))
    bucket.delete(record, pod("a", node="m"))
    CAUSE.set(Cause(4.0, "POST", "/s", "x", "", Acting("queue", None, "8")))
    record = bucket.create(pod("b"))
    CAUSE.set(None)
    bucket.delete(record)
    widgets.create({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}})
    return storage


LINES = [
    '{"bucket":{"group":"","resource":"pods","sortsKeys":false,"records":6,"events":5}}',
    ('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"old","namespace":"ns","uid":"uid-old","resourceVersion":"3"},'
    '"spec":{"nodeName":""}}'),
    *(f'{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"ns","uid":"uid-{name}",'
      f'"resourceVersion":"{version}"}},"spec":{{"nodeName":"{node}"}}}}'
      for name, version, node in (("a", 6, ""), ("a", 7, "n"), ("a", 8, "m"), ("b", 9, ""), ("b", 10, ""))),
    "[0]",
    '["ADDED",1,null,[1.5,"POST","/p","u","agent",null]]',
    '["MODIFIED",2,1,[2.0,"PUT","/q","v","",["job","ns/j","7"],"lost"]]',
    '["DELETED",3,2,[3.0,"DELETE","/r","w","",["gc","j",""]]]',
    '["ADDED",4,null,[4.0,"POST","/s","x","",["queue",null,"8"]]]',
    '["DELETED",5,4,null]',
    '{"bucket":{"group":"example.com","resource":"widgets","sortsKeys":true,"records":1,"events":1}}',
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","resourceVersion":"11"}}',
    "[0]",
    '["ADDED",0,null,null]',
]


def all_of(bucket: Bucket) -> list[object]:
    """The present and the past, with causes as they are saved."""
    return [
        [record.data for record in bucket.records()], bucket.encoder.sort_keys, bucket.changes,
        [(event.type, event.record.data, event.previous and event.previous.data, saved._cause(event.cause))
         for event in bucket.history()]]


def test_a_storage_is_these_lines() -> None:
    """Given a storage / when it is dumped / then it is these lines; when these are read, it has the
    same objects, history and causes, selectable fields of what has some, and goes on from there.
    """
    storage = written()
    assert [line.decode() for line in saved.dump(storage)] == LINES
    read = saved.load(
        (line.encode() for line in LINES), revision=11, compacted=5, begun=4,
        fields_of=lambda resource: (lambda tree: {"spec.nodeName": tree["spec"]["nodeName"]}) if resource == PODS else None)
    assert (read.revision, read.log.compacted, read.log.begun) == (11, 5, 4)
    assert [bucket.resource for bucket in read.buckets] == [PODS, WIDGETS]
    before, after = [[all_of(bucket) for bucket in one.buckets] for one in (storage, read)]
    assert [[records, sort, history] for records, sort, _, history in after] == [
        [records, sort, history] for records, sort, _, history in before]
    assert [line.decode() for line in saved.dump(read)] == LINES
    causes = [event.cause for event in pods(read).history()]
    assert causes[1] == Cause(2.0, "PUT", "/q", "v", "", Acting("job", "ns/j", "7"), "lost")
    assert causes[3] == Cause(4.0, "POST", "/s", "x", "", Acting("queue", None, "8"))
    assert [record.name for record in pods(read).by_field("spec.nodeName", "")] == ["old"]
    assert pods(read).create(pod("c")).revision == 12
    assert [event.revision for event in pods(read).history()] == [6, 7, 8, 9, 10, 12]


def test_the_key_of_work_is_written_as_people_read_it() -> None:
    """Given keys of several sorts / when they are written / then pairs have a slash where both
    parts are there.
    """
    keys: list[object] = [("ns", "a"), ("", "a"), ("a", "b", "c"), "text", 5, Key("x", "y")]
    assert [saved.key_text(key) for key in keys] == ["ns/a", "a", "a/b/c", "text", "5", "x/y"]


def test_a_history_that_was_read_or_forked_is_forgotten_like_any_other() -> None:
    """Given storages whose history was read, or taken over by a fork / when they are compacted at
    once / then nothing of it is kept.
    """
    read = saved.load(
        (line.encode() for line in LINES), revision=11, compacted=5, begun=4, fields_of=lambda _: None)
    for storage in (read, written().fork()):
        assert [len(list(bucket.track.newest_first())) for bucket in storage.buckets] == [5, 1]
        storage.log.compact(9)
        assert [len(list(bucket.track.newest_first())) for bucket in storage.buckets] == [1, 1]
        storage.log.compact(11)
        assert [list(bucket.track.newest_first()) for bucket in storage.buckets] == [[], []]
