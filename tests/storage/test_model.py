"""The storage against a dict: every list is some moment's dict, every watch tells all that
happened, in order.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Compacted, Event, Future, KeyExists, Record, Stale, Storage, Subscription

NAMESPACES = ("a", "a-b", "a.b", "b")  # a-b and a.b sort before a, since - and . sort before /
NAMES = ("x", "x-1", "y")
VALUES = st.integers(0, 2).map(str)

Key = tuple[str, str]
Seen = tuple[str, int, Key, str]


def key_text(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def tree_of(key: Key, value: str) -> dict[str, Any]:
    return {
        "spec": {"value": value}, "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": key[1], "namespace": key[0], "uid": f"{key_text(key)}-uid", "labels": {"v": value},
                     "ownerReferences": [{"uid": f"owner-{value}"}]},
    }


def seen(event: Event) -> Seen:
    record = event.record
    return event.type, event.revision, (record.namespace, record.name), record.tree()["spec"]["value"]


@dataclass
class Watcher:
    """``expected`` grows with the model's events, of which ``known`` were looked at."""

    since: int
    namespace: str
    field: tuple[str, str] | None
    got: list[Seen] = field(default_factory=list)
    expected: list[Seen] = field(default_factory=list)
    known: int = 0
    subscription: Subscription | None = None


class StorageAgainstDict(RuleBasedStateMachine):
    """Every rule changes or asks both; the watchers are compared after each."""

    @initialize(max_events=st.sampled_from([3, 10, 1000]), hot_trees=st.sampled_from([0, 1, 3]), check_trees=st.booleans(),
                plain_events=st.sampled_from([0, 2, 1000]))
    def begin(self, max_events: int, hot_trees: int, check_trees: bool, plain_events: int) -> None:
        self.storage = Storage(
            max_events=max_events, hot_trees=hot_trees, check_trees=check_trees, plain_events=plain_events)
        self.bucket = self.storage.add_bucket(
            GroupResource("", "pods"), fields=lambda tree: {"spec.value": tree["spec"]["value"]})
        self.kept: list[tuple[Record, str]] = []
        self.forks: list[tuple[Bucket, dict[Key, str]]] = []
        self.other = self.storage.add_bucket(GroupResource("", "nodes"), fields=None)
        self.now: dict[Key, str] = {}
        self.states: dict[int, dict[Key, str]] = {1: {}}
        self.events: list[Seen] = []
        self.before: dict[int, str | None] = {}
        self.watchers: list[Watcher] = []

    def some_key(self, number: int) -> Key:
        return sorted(self.now)[number % len(self.now)]

    def note(self, type_: str, key: Key, value: str, before: str | None) -> None:
        revision = self.storage.revision
        self.states[revision] = dict(self.now)
        self.events.append((type_, revision, key, value))
        self.before[revision] = before

    @rule(key=st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(NAMES)), value=VALUES)
    def create(self, key: Key, value: str) -> None:
        if key in self.now:
            with pytest.raises(KeyExists):
                self.bucket.create(tree_of(key, value))
            return
        self.bucket.create(tree_of(key, value))
        self.now[key] = value
        self.note("ADDED", key, value, None)

    @precondition(lambda self: self.now)
    @rule(number=st.integers(0, 15), value=VALUES)
    def update(self, number: int, value: str) -> None:
        key = self.some_key(number)
        record = self.bucket.get(*key)
        assert record is not None
        changed = self.bucket.update(tree_of(key, value), record)
        before, self.now[key] = self.now[key], value
        self.note("MODIFIED", key, value, before)
        with pytest.raises(Stale):
            self.bucket.update(tree_of(key, value), record)
        assert self.bucket.get(*key) is changed

    @precondition(lambda self: self.now)
    @rule(number=st.integers(0, 15))
    def delete(self, number: int) -> None:
        key = self.some_key(number)
        record = self.bucket.get(*key)
        assert record is not None
        self.bucket.delete(record)
        value = self.now.pop(key)
        self.note("DELETED", key, value, value)
        with pytest.raises(Stale):
            self.bucket.delete(record)

    @rule(number=st.integers(0, 20))
    def keep_a_record(self, number: int) -> None:
        """Somebody holds on to a record, its tree or not, while the object goes on."""
        key = self.some_key(number) if self.now else None
        if key is not None:
            record = self.bucket.get(*key)
            assert record is not None
            self.kept = [*self.kept[-10:], (record, self.now[key])]

    @precondition(lambda self: self.kept)
    @rule(number=st.integers(0, 10), times=st.integers(1, 5))
    def read_again(self, number: int, times: int) -> None:
        record, value = self.kept[number % len(self.kept)]
        for _ in range(times):
            assert record.tree()["spec"]["value"] == value

    @precondition(lambda self: len(self.forks) < 3)
    @rule()
    def fork(self) -> None:
        self.forks.append((self.storage.fork().bucket(self.bucket.resource), dict(self.now)))

    @precondition(lambda self: self.forks)
    @rule(number=st.integers(0, 3), key=st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(NAMES)), value=VALUES,
          gone=st.booleans())
    def write_to_a_fork(self, number: int, key: Key, value: str, gone: bool) -> None:
        """Objects that both sides have are read and written in either."""
        bucket, now = self.forks[number % len(self.forks)]
        record = bucket.get(*key)
        assert (None if record is None else record.tree()["spec"]["value"]) == now.get(key)
        if record is None:
            bucket.create(tree_of(key, value))
        elif gone:
            bucket.delete(record)
            del now[key]
            return
        else:
            bucket.update(tree_of(key, value), record)
        now[key] = value

    @rule()
    def write_elsewhere(self) -> None:
        self.other.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": f"n{self.storage.revision}"}})
        self.states[self.storage.revision] = dict(self.now)

    @rule(back=st.integers(0, 8))
    def compact(self, back: int) -> None:
        self.storage.compact(max(1, self.storage.revision - back))

    @rule(namespace=st.sampled_from(NAMESPACES), count=st.integers(30, 40), value=VALUES, gone=st.booleans())
    def write_many(self, namespace: str, count: int, value: str, gone: bool) -> None:
        """So many that a page ends among them."""
        for number in range(count):
            key = namespace, f"many-{number * 7 % count}"
            record = self.bucket.get(*key)
            if record is None and not gone:
                self.bucket.create(tree_of(key, value))
                self.now[key] = value
                self.note("ADDED", key, value, None)
            elif record is not None and gone:
                self.bucket.delete(record)
                was = self.now.pop(key)
                self.note("DELETED", key, was, was)

    @precondition(lambda self: len(self.watchers) < 40)
    @rule(back=st.integers(-3, 12), namespace=st.sampled_from(("", *NAMESPACES)), value=st.none() | VALUES)
    def watch(self, back: int, namespace: str, value: str | None) -> None:
        since = max(0, self.storage.revision - back)
        self.begin_watch(Watcher(since, namespace, ("spec.value", value) if value is not None else None))

    def begin_watch(self, watcher: Watcher) -> None:
        subscribe, since, namespace = self.bucket.subscribe, watcher.since, watcher.namespace
        if since < self.bucket.compacted:
            with pytest.raises(Compacted):
                subscribe(since, namespace, lambda _: None, field=watcher.field)
            return
        watcher.subscription = subscribe(
            since, namespace, lambda event: watcher.got.append(seen(event)), field=watcher.field)
        self.watchers.append(watcher)

    @precondition(lambda self: self.watchers)
    @rule(number=st.integers(0, 40), back=st.integers(0, 30))
    def lose_and_resume(self, number: int, back: int) -> None:
        """A watcher that is cut goes on from what it saw last, or from any version before that."""
        watcher = self.watchers.pop(number % len(self.watchers))
        assert watcher.subscription is not None
        watcher.subscription.cancel()
        last = watcher.got[-1][1] if watcher.got else watcher.since
        self.begin_watch(Watcher(max(watcher.since, last - back), watcher.namespace, watcher.field))

    @rule(back=st.integers(-1, 12), namespace=st.sampled_from(("", *NAMESPACES)), limit=st.integers(0, 4))
    def list_the_past(self, back: int, namespace: str, limit: int) -> None:
        revision = max(0, self.storage.revision - back)
        if revision > self.storage.revision:
            with pytest.raises(Future):
                self.bucket.at(revision)
            return
        if revision < self.bucket.compacted:
            with pytest.raises(Compacted):
                self.bucket.at(revision)
            return
        state = self.states[revision]
        expected = sorted((key for key in state if namespace in ("", key[0])), key=key_text)
        got, start, past = [], "", self.bucket.at(revision)
        while True:
            page = past.page(namespace, start=start, limit=limit)
            got += [((record.namespace, record.name), record.tree()["spec"]["value"]) for record in page.records]
            assert page.revision == revision
            assert page.remaining == len(expected) - len(got)
            start = page.next_start
            if not start:
                break
            assert len(page.records) == limit
        assert got == [(key, state[key]) for key in expected]

    @rule(value=VALUES, namespace=st.sampled_from(("", *NAMESPACES)), limit=st.integers(0, 2))
    def choose(self, value: str, namespace: str, limit: int) -> None:
        expected = sorted((key for key, has in self.now.items() if has == value), key=key_text)
        for found in (self.bucket.by_field("spec.value", value), self.bucket.by_label("v", value)):
            assert found is not None
            assert [(record.namespace, record.name) for record in found] == expected
        within = [key for key in expected if namespace in ("", key[0])]

        def match(record: Record) -> bool:
            return record.labels["v"] == value

        page = self.bucket.page(namespace, limit=limit, match=match)
        assert [(record.namespace, record.name) for record in page.records] == within[:limit or None]

    @rule()
    def list_the_present(self) -> None:
        records = self.bucket.records()
        assert [(record.namespace, record.name) for record in records] == sorted(self.now, key=key_text)
        assert len(self.bucket) == len(self.now)
        for record in records:
            tree = record.copy_tree()
            assert tree["metadata"]["resourceVersion"] == str(record.revision)
            assert list(tree)[:3] == ["kind", "apiVersion", "metadata"]

    @invariant()
    def trees_are_right(self) -> None:
        if hasattr(self, "storage"):
            self.storage.trees.check()
            for bucket, now in self.forks:
                bucket.storage.trees.check()
                assert {(record.namespace, record.name) for record in bucket.all()} == now.keys()

    @rule(back=st.integers(0, 12))
    def read_history(self, back: int) -> None:
        """What happened is told with the state before and after each change."""
        since = max(self.bucket.compacted, self.storage.revision - back)
        events = self.bucket.history(since)
        assert [seen(event) for event in events] == [event for event in self.events if event[1] > since]
        for event in events:
            assert (None if event.previous is None else event.previous.tree()["spec"]["value"]) == self.before[event.revision]

    @invariant()
    def watchers_saw_all(self) -> None:
        for watcher in getattr(self, "watchers", ()):
            watcher.expected += [event for event in self.events[watcher.known:] if self.concerns(watcher, event)]
            watcher.known = len(self.events)
            assert len(watcher.got) == len(watcher.expected)
            # what is older was compared when it came
            assert watcher.got[-100:] == watcher.expected[-100:]

    def concerns(self, watcher: Watcher, event: Seen) -> bool:
        _, revision, key, value = event
        if revision <= watcher.since or watcher.namespace not in ("", key[0]):
            return False
        return watcher.field is None or watcher.field[1] in (value, self.before[revision])

    def teardown(self) -> None:
        if hasattr(self, "storage"):
            self.storage.trees.check()


QUICK = settings(max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LONG = settings(
    QUICK, max_examples=100, stateful_step_count=400,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example])


class TestStorageAgainstDict(StorageAgainstDict.TestCase):  # type: ignore[name-defined,misc]
    settings = QUICK


@pytest.mark.slow
@pytest.mark.timeout(1200)
class TestStorageAgainstDictForLong(StorageAgainstDict.TestCase):  # type: ignore[name-defined,misc]
    settings = LONG
