"""The whole server against a dict: whoever lists, pages or watches, with selectors and from any
version, sees the dict's story.

``tests/storage/test_model.py`` does the same to the storage alone; here requests and frames are
bytes.
"""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fakekube.apimachinery.http import Frame, Stream
from fakekube.apiserver.nodeproxy import NoNodes
from fakekube.composition.controlplane import build_apiserver
from fakekube.composition.identity import Identity
from fakekube.composition.options import ClusterOptions
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng
from tests.apiserver.conftest import Api

NAMESPACES = ("n1", "n2")
LABELS = st.fixed_dictionaries({}, optional={"t": st.sampled_from("12"), "n": st.just("x")})
PHASES = st.sampled_from(["Pending", "Running"])
SELECTORS: list[tuple[dict[str, str], Any]] = [
    ({}, lambda pod: pod is not None),
    ({"labelSelector": "t=1"}, lambda pod: pod.labels.get("t") == "1"),
    ({"labelSelector": "t!=1"}, lambda pod: pod.labels.get("t") != "1"),
    ({"labelSelector": "t in (1,2),n"}, lambda pod: pod.labels.get("t") in ("1", "2") and "n" in pod.labels),
    ({"labelSelector": "!t"}, lambda pod: "t" not in pod.labels),
    ({"fieldSelector": "status.phase=Running"}, lambda pod: pod.phase == "Running"),
    ({"fieldSelector": "status.phase!=Running"}, lambda pod: pod.phase != "Running"),
    ({"fieldSelector": "metadata.name=a"}, lambda pod: pod.key[1] == "a"),
    ({"fieldSelector": "status.phase=Running,metadata.namespace=n1", "labelSelector": "n"},
     lambda pod: pod.phase == "Running" and pod.key[0] == "n1" and "n" in pod.labels),
]

Key = tuple[str, str]
Seen = tuple[str, int, Key, dict[str, str], str]


@dataclass(frozen=True)
class Pod:
    key: Key
    labels: dict[str, str]
    phase: str
    revision: int


@dataclass
class Change:
    revision: int
    before: Pod | None
    after: Pod | None


@dataclass
class Watcher:
    """A sink; ``expected`` grows with the model's changes, of which ``known`` were looked at."""

    query: dict[str, str]
    selects: Any
    namespace: str
    known: int
    stream: Stream | None = None
    got: list[Seen] = field(default_factory=list)
    expected: list[Seen] = field(default_factory=list)
    last: int = 0
    ended: bool = False

    def send(self, frame: Frame) -> None:
        for line in frame.data.splitlines():
            event = orjson.loads(line)
            meta = event["object"]["metadata"]
            self.last = int(meta["resourceVersion"])
            if event["type"] != "BOOKMARK":
                self.got.append((event["type"], self.last, (meta["namespace"], meta["name"]), meta.get("labels", {}),
                                 event["object"]["status"]["phase"]))

    def end(self) -> None:
        self.ended = True

    def wants(self, pod: Pod | None) -> bool:
        return pod is not None and self.namespace in ("", pod.key[0]) and bool(self.selects(pod))

    def expect(self, change: Change) -> None:
        before, after = self.wants(change.before), self.wants(change.after)
        shown = change.after if after else change.before
        if shown is not None and (before or after):
            type_ = "DELETED" if not after else "MODIFIED" if before else "ADDED"
            self.expected.append((type_, change.revision, shown.key, shown.labels, shown.phase))


class ServerAgainstDict(RuleBasedStateMachine):
    """Every rule is one request, or one watcher more or less; the watchers are compared after each.
    """

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        clock = ManualClock()
        plane = build_apiserver(
            ClusterOptions.of(), clock, Rng(0), identity=Identity(ClusterOptions.of()), nodes=NoNodes(),
            service_accounts=lambda: False)
        self.api = Api(plane.apiserver, clock)
        self.storage = plane.apiserver.storage
        for name in NAMESPACES:
            self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        # objects that admission asks for come to be
        self.ask("POST", "/api/v1/namespaces/n1/pods", pod_of("first", {}))
        self.ask("DELETE", "/api/v1/namespaces/n1/pods/first?gracePeriodSeconds=0")
        self.now: dict[Key, Pod] = {}
        self.first = self.storage.revision
        self.states: dict[int, dict[Key, Pod]] = {self.first: {}}
        self.changes: list[Change] = []
        self.watchers: list[Watcher] = []
        self.pages: list[tuple[str, int, str, dict[str, str], Any, str]] = []

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()

    def ask(self, method: str, url: str, body: Any = None, media: str = "application/json") -> Any:
        return self.loop.run_until_complete(self.api(method, url, body, {"content-type": media}))

    def note(self, revision: int, key: Key, after: Pod | None) -> None:
        before = self.now.pop(key, None)
        if after is not None:
            self.now[key] = after
        self.changes.append(Change(revision, before, after))
        self.states[revision] = dict(self.now)

    def existing(self, number: int) -> Key:
        return sorted(self.now)[number % len(self.now)]

    def state_at(self, revision: int) -> dict[Key, Pod]:
        return self.states[max(known for known in self.states if known <= revision)]

    # writes

    @rule(namespace=st.sampled_from(NAMESPACES), name=st.sampled_from("abc"), labels=LABELS)
    def create(self, namespace: str, name: str, labels: dict[str, str]) -> None:
        before = self.storage.revision
        answer = self.ask("POST", f"/api/v1/namespaces/{namespace}/pods", pod_of(name, labels))
        if (namespace, name) in self.now:
            assert (answer.status, self.storage.revision) == (409, before)
            return
        assert (answer.status, answer.tree["metadata"]["resourceVersion"]) == (201, str(before + 1))
        self.note(before + 1, (namespace, name), Pod((namespace, name), labels, "Pending", before + 1))

    @precondition(lambda self: self.now)
    @rule(number=st.integers(0, 9), labels=LABELS, phase=PHASES, which=st.sampled_from(["labels", "phase", "dry run"]))
    def change(self, number: int, labels: dict[str, str], phase: str, which: str) -> None:
        key, before = self.existing(number), self.storage.revision
        old = self.now[key]
        url = f"/api/v1/namespaces/{key[0]}/pods/{key[1]}"
        if which == "phase":
            patch: Any = {"status": {"phase": phase}}
            new, url = Pod(key, old.labels, phase, before + 1), f"{url}/status"
        else:
            patch = {"metadata": {"labels": {name: labels.get(name) for name in ("t", "n")}}}
            new, url = Pod(key, labels, old.phase, before + 1), f"{url}{'?dryRun=All' if which == 'dry run' else ''}"
        answer = self.ask("PATCH", url, patch, "application/merge-patch+json")
        assert answer.status == 200, answer.tree
        if which == "dry run" or (new.labels, new.phase) == (old.labels, old.phase):
            assert self.storage.revision == before
        else:
            assert answer.tree["metadata"]["resourceVersion"] == str(before + 1)
            self.note(before + 1, key, new)

    @precondition(lambda self: self.now)
    @rule(number=st.integers(0, 9))
    def delete(self, number: int) -> None:
        key, before = self.existing(number), self.storage.revision
        answer = self.ask("DELETE", f"/api/v1/namespaces/{key[0]}/pods/{key[1]}?gracePeriodSeconds=0")
        assert (answer.status, self.storage.revision) == (200, before + 2)
        # the mark of its end comes first
        self.note(before + 1, key, replace(self.now[key], revision=before + 1))
        self.note(before + 2, key, None)

    @precondition(lambda self: self.now)
    @rule(number=st.integers(0, 9), body=st.sampled_from([b"{", b"[]", b'{"metadata":{"name":"other"}}', b'{"spec":5}', b"\xff"]))
    def fail(self, number: int, body: bytes) -> None:
        key, before = self.existing(number), self.storage.revision
        answer = self.ask("PATCH", f"/api/v1/namespaces/{key[0]}/pods/{key[1]}", body, "application/merge-patch+json")
        assert 400 <= answer.status < 500
        assert self.storage.revision == before

    @rule()
    def write_elsewhere(self) -> None:
        name = f"m{self.storage.revision}"
        assert self.ask("POST", "/api/v1/namespaces/n1/configmaps", {"metadata": {"name": name}}).status == 201

    @rule(back=st.integers(0, 6))
    def compact(self, back: int) -> None:
        self.storage.compact(max(self.first, self.storage.revision - back))

    # watches

    def url(self, namespace: str, **query: str) -> str:
        return f"/api/v1/{f'namespaces/{namespace}/' if namespace else ''}pods?{urlencode(query)}"

    @precondition(lambda self: len(self.watchers) < 12)
    @rule(back=st.integers(0, 12), selector=st.sampled_from(SELECTORS), namespace=st.sampled_from(("", *NAMESPACES)))
    def watch(self, back: int, selector: tuple[dict[str, str], Any], namespace: str) -> None:
        since = max(self.first, self.storage.revision - back)
        known = sum(change.revision <= since for change in self.changes)
        self.begin_watch(Watcher(selector[0], selector[1], namespace, known, last=since))

    def begin_watch(self, watcher: Watcher) -> None:
        since = watcher.last
        answer = self.ask("GET", self.url(watcher.namespace, watch="1", resourceVersion=str(since), **watcher.query))
        assert answer.status == 200
        if since < self.storage.log.compacted:
            errors: list[Any] = []
            answer.response.stream.start(Gone(errors))
            assert [(event["type"], event["object"]["code"]) for event in errors] == [("ERROR", 410)]
            return
        watcher.stream = answer.response.stream
        answer.response.stream.start(watcher)
        self.watchers.append(watcher)

    @precondition(lambda self: self.watchers)
    @rule(number=st.integers(0, 20))
    def lose_and_resume(self, number: int) -> None:
        watcher = self.watchers.pop(number % len(self.watchers))
        assert watcher.stream is not None
        watcher.stream.stop()
        self.begin_watch(watcher)

    @precondition(lambda self: len(self.watchers) < 12)
    @rule(selector=st.sampled_from(SELECTORS), namespace=st.sampled_from(("", *NAMESPACES)))
    def watch_with_list(self, selector: tuple[dict[str, str], Any], namespace: str) -> None:
        watcher = Watcher(selector[0], selector[1], namespace, len(self.changes))
        query = selector[0] | {"watch": "1", "sendInitialEvents": "true", "allowWatchBookmarks": "true",
                               "resourceVersionMatch": "NotOlderThan"}
        for key in sorted(self.now, key="/".join):
            pod = self.now[key]
            if watcher.wants(pod):
                watcher.expected.append(("ADDED", pod.revision, key, pod.labels, pod.phase))
        watcher.stream = self.ask("GET", self.url(namespace, **query)).response.stream
        assert watcher.stream is not None
        watcher.stream.start(watcher)
        assert watcher.last == self.storage.revision
        self.watchers.append(watcher)

    @invariant()
    def watchers_saw_all(self) -> None:
        for watcher in getattr(self, "watchers", ()):
            for change in self.changes[watcher.known:]:
                watcher.expect(change)
            watcher.known = len(self.changes)
            assert watcher.got == watcher.expected
            assert not watcher.ended

    # lists

    def expected_keys(self, revision: int, namespace: str, selects: Any) -> list[tuple[Key, int]]:
        state = self.state_at(revision)
        return [(key, state[key].revision) for key in sorted(state, key="/".join)
                if namespace in ("", key[0]) and selects(state[key])]

    @rule(back=st.integers(0, 9), selector=st.sampled_from(SELECTORS), namespace=st.sampled_from(("", *NAMESPACES)),
          exact=st.booleans())
    def list(self, back: int, selector: tuple[dict[str, str], Any], namespace: str, exact: bool) -> None:
        revision = max(self.first, self.storage.revision - back) if exact else self.storage.revision
        query = {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"} if exact else {}
        answer = self.ask("GET", self.url(namespace, **selector[0], **query))
        if revision < self.storage.log.compacted:
            assert (answer.status, answer.tree["reason"]) == (410, "Expired")
            return
        assert answer.tree["metadata"]["resourceVersion"] == str(revision)
        assert keys_of(answer.tree) == self.expected_keys(revision, namespace, selector[1])

    @rule(limit=st.integers(1, 2), selector=st.sampled_from(SELECTORS), namespace=st.sampled_from(("", *NAMESPACES)))
    def begin_pages(self, limit: int, selector: tuple[dict[str, str], Any], namespace: str) -> None:
        revision = self.storage.revision
        answer = self.ask("GET", self.url(namespace, limit=str(limit), **selector[0]))
        whole = self.expected_keys(revision, namespace, selector[1])
        got = keys_of(answer.tree)
        single = namespace and "metadata.name=a" in selector[0].get("fieldSelector", "")
        assert got == (whole if single else whole[:limit])
        token = answer.tree["metadata"].get("continue", "")
        if not token:
            assert got == whole
        else:
            after = "/".join(got[-1][0]) if got else ""
            self.pages.append((token, revision, namespace, selector[0], selector[1], after))

    @precondition(lambda self: self.pages)
    @rule(number=st.integers(0, 20))
    def go_on(self, number: int) -> None:
        token, revision, namespace, query, selects, after = self.pages.pop(number % len(self.pages))
        answer = self.ask("GET", self.url(namespace, **query, **{"continue": token}))
        if revision < self.storage.log.compacted:
            assert (answer.status, answer.tree["reason"]) == (410, "Expired")
            assert answer.tree["metadata"]["continue"]
            return
        assert answer.tree["metadata"]["resourceVersion"] == str(revision)
        rest = [found for found in self.expected_keys(revision, namespace, selects) if "/".join(found[0]) > after]
        assert keys_of(answer.tree) == rest


def pod_of(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def keys_of(tree: Any) -> list[tuple[Key, int]]:
    metas = [item["metadata"] for item in tree["items"]]
    return [((meta["namespace"], meta["name"]), int(meta["resourceVersion"])) for meta in metas]


class Gone:
    """Takes what a watch says that cannot begin."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events

    def send(self, frame: Frame) -> None:
        self.events.append(orjson.loads(frame.data))

    def end(self) -> None:
        pass


QUICK = settings(max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(QUICK, max_examples=60, stateful_step_count=200)


class TestServerAgainstDict(ServerAgainstDict.TestCase):  # type: ignore[name-defined,misc]
    settings = QUICK


@pytest.mark.slow
@pytest.mark.timeout(1200)
class TestServerAgainstDictForLong(ServerAgainstDict.TestCase):  # type: ignore[name-defined,misc]
    settings = LONG
