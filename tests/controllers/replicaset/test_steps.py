"""What a ReplicaSet's controller makes, deletes, writes and waits for in one step."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube_controllers.replicaset.controller import ReplicaSetReconciler
from fakekube_controllers.replicaset.podsummaries import PodSummaries, PodSummary
from fakekube_controllers.replicaset.status import calculate, is_changed

NOW = 1000.0


def owner(replicas: int | None = 3, *, status: Tree | None = None, generation: int = 2, **spec: Any) -> Tree:
    wanted = {} if replicas is None else {"replicas": replicas}
    return {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "status": status or {},
        "metadata": {"name": "web", "namespace": "x", "uid": "set", "generation": generation}, "spec": {
            **wanted, "selector": {"matchLabels": {"app": "a"}}, "template": {
                "metadata": {"labels": {"app": "a", "l": "m"}}, "spec": {"containers": []}}, **spec}}


def summary(*, labelled: bool = True, ready: bool = True, since: float = 1.0) -> PodSummary:
    return PodSummary(claimed=True, active=True, terminating=False, labelled=labelled, ready=ready, ready_since=since)


PODS = [summary(), summary(labelled=False), summary(ready=False), summary(since=991.0)]
FAILED = {"type": "ReplicaFailure", "status": "True", "lastTransitionTime": "1970-01-01T00:16:40Z", "message": "no"}
OTHER = {"type": "Other"}


@pytest.mark.parametrize(("found", "pods", "terminating", "error", "expected"), [
    (owner(), PODS, 2, False, {
        "replicas": 4, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 3, "terminatingReplicas": 2}),
    (owner(minReadySeconds=10), PODS, None, False, {
        "replicas": 4, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 2}),
    (owner(status={"readyReplicas": 2, "terminatingReplicas": 1, "observedGeneration": 1, "conditions": [OTHER]}), [], None,
        False, {
        "replicas": 0, "observedGeneration": 1, "conditions": [OTHER]}),
    (owner(), [], 0, False, {"replicas": 0, "terminatingReplicas": 0}),
    (owner(status={"conditions": [OTHER]}), PODS[:1], None, True, {
        "replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [OTHER, {**FAILED, "reason": "FailedCreate"}]}),
    (owner(None), [], None, True, {"replicas": 0, "conditions": [{**FAILED, "reason": "FailedCreate"}]}),
    (owner(0), [summary(labelled=False, ready=False)], None, True, {
        "replicas": 1, "conditions": [{**FAILED, "reason": "FailedDelete"}]}),
    (owner(1), [summary(labelled=False, ready=False)], None, True, {
        "replicas": 1, "conditions": [{**FAILED, "reason": "FailedDelete"}]}),
    (owner(status={"conditions": [{**FAILED, "reason": "R"}]}), [], None, True, {
        "replicas": 0, "conditions": [{**FAILED, "reason": "R"}]}),
    (owner(status={"conditions": [{**FAILED, "reason": "R"}, OTHER]}), [], None, False, {"replicas": 0, "conditions": [OTHER]}),
    (owner(status={"conditions": [{**FAILED, "reason": "R"}]}), [], None, False, {"replicas": 0})])
def test_the_status_of_a_set(found: Tree, pods: list[PodSummary], terminating: int | None, error: bool, expected: Tree) -> None:
    """Given pods and what went wrong / then the numbers, without those that are 0, and why there
    are too few or too many; the first failure stays until there is none.
    """
    assert calculate(found, pods, terminating, APIError(403, "Forbidden", "no") if error else None, NOW) == expected


KNOWN = {"observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "fullyLabeledReplicas": 3, "availableReplicas": 3,
         "terminatingReplicas": 0, "conditions": [OTHER]}


@pytest.mark.parametrize(("changed", "expected"), [
    ({}, False), ({"other": 1}, False), *(({name: 9}, True) for name in KNOWN if name != "observedGeneration")])
def test_what_makes_a_status_new(changed: Tree, expected: bool) -> None:
    """Given a status and a fresh one / then every number and the conditions make it new."""
    assert is_changed(owner(status=KNOWN), {**KNOWN, **changed}) is expected
    assert is_changed(owner(status=KNOWN, generation=3), KNOWN)
    assert is_changed(owner(), {"replicas": 0}) is True
    assert is_changed(owner(generation=0), {}) is False


def pod(name: str = "p", *, uid: str = "set", labels: Tree | None = None, phase: str = "Running", ready: bool = True,
        leaving: bool = False, node: str = "n", since: str = "1970-01-01T00:00:01Z") -> Tree:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": True}
    metadata: Tree = {"name": name, "namespace": "x", "uid": f"u-{name}", "creationTimestamp": "1970-01-01T00:00:01Z",
                      "labels": {"app": "a", "l": "m"} if labels is None else labels}
    metadata |= ({"ownerReferences": [reference]} if uid else {}) | ({"deletionTimestamp": "t"} if leaving else {})
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}, "status": {
        "phase": phase, "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}]}}


@pytest.mark.parametrize(("found", "claimed", "active", "terminating", "labelled", "ready"), [
    (pod(), True, True, False, True, True), (pod(uid=""), False, True, False, True, True),
    (pod(uid="other"), False, True, False, True, True), (pod(labels={"l": "m"}), False, True, False, False, True),
    (pod(labels={"app": "a"}), True, True, False, False, True), (pod(leaving=True), True, False, True, True, True),
    (pod(leaving=True, phase="Failed"), True, False, False, True, True), (pod(phase="Succeeded"), True, False, False, True, True),
    (pod(ready=False), True, True, False, True, False), (pod(phase="Pending"), True, True, False, True, True)])
def test_what_counts_of_a_pod(
    found: Tree, claimed: bool, active: bool, terminating: bool, labelled: bool, ready: bool,
) -> None:
    """Given a pod / then whether the set has it, whether it counts, goes, is labelled and ready."""
    summaries = PodSummaries(owner())
    assert summaries.generation == 2
    assert summaries.summarize(found)[:5] == (claimed, active, terminating, labelled, ready)
    assert summaries.summarize(found).ready_since == (1.0 if ready else 0.0)


@pytest.mark.parametrize(("ready", "since", "seconds", "expected"), [
    (True, 1.0, 0, True), (False, 1.0, 0, False), (False, 1.0, 5, False), (True, 0.0, 5, False), (True, 995.0, 5, True),
    (True, 995.1, 5, False), (True, 0.0, 0, True)])
def test_when_a_pod_is_available(ready: bool, since: float, seconds: int, expected: bool) -> None:
    """Given since when a pod is ready / then it is available after so many seconds."""
    assert summary(ready=ready, since=since).is_available(seconds, NOW) is expected


class World:
    """As much as one reconcile of the controller needs, and what it does."""

    def __init__(self, found: Tree | None, pods: list[Tree], *, seen: bool = True, refuse: str = "") -> None:
        self.owner, self.pods, self.refuse, self.seen, self.done = found, pods, refuse, seen, list[Any]()

    def get(self, *_: str) -> Tree | None:
        return self.owner

    async def claim(self, _: Tree, undecided: list[Tree]) -> list[Tree]:
        self.done.append(("claim", *(one["metadata"]["name"] for one in undecided)))
        return [one for one in undecided if one["metadata"]["labels"].get("app") == "a"]

    async def create(self, *_: Tree) -> Tree:
        self.done.append("create")
        if self.refuse == "create":
            raise APIError(403, "Forbidden", "no")
        return {}

    async def delete(self, _: Tree, one: Tree) -> None:
        self.done.append(("delete", one["metadata"]["name"]))
        if self.refuse == "delete":
            raise APIError(403, "Forbidden", "no", {"d": 1})

    def note(self, *_: Any) -> None:
        self.done.append("note")

    def forget(self, _: Any) -> None:
        self.done.append("forget")

    async def update(self, _: Any, obj: Tree, *, subresource: str) -> Tree:
        assert subresource == "status"
        self.done.append(("status", {name: obj["status"].get(name, 0) for name in ("observedGeneration", "replicas")}))
        return obj

    update_status = update

    async def reconcile(self) -> Any:
        nothing = SimpleNamespace(
            satisfied=lambda _: self.seen, forget=self.forget, check_seen=lambda _: None, note=self.note,
            expect_creations=lambda *_: None, expect_deletions_of=lambda *_: None, creation_observed=lambda *_: None,
            deletion_observed=lambda *_: None)
        one = ReplicaSetReconciler.__new__(ReplicaSetReconciler)
        one.ctx = cast("Any", SimpleNamespace(clock=SimpleNamespace(time=lambda: NOW), enabled=lambda _: True))
        one.client, one.owners, one.pods = cast("Any", self), cast("Any", self), cast("Any", self)
        one.expectations = one.own_writes = cast("Any", nothing)
        one.summaries, one.control = {}, cast("Any", self)
        one.children = cast("Any", SimpleNamespace(candidates=lambda _: self.pods, claim=self.claim))
        return await one.reconcile(cast("Any", ObjectKey("x", "web")))


def written(replicas: int) -> tuple[str, Tree]:
    return "status", {"observedGeneration": 2, "replicas": replicas}


@pytest.mark.parametrize(("found", "pods", "seen", "done"), [
    (None, [], True, ["forget", "forget"]), (owner(2), [pod("a"), pod("b", phase="Failed")], True,
        ["create", written(1), "note"]),
    (owner(None), [], True, ["create", written(0), "note"]), (owner(2), [pod("a")], False, [written(1), "note"]),
    ({**owner(2), "metadata": {**owner()["metadata"], "deletionTimestamp": "t"}}, [pod("a")], True, [written(1), "note"]),
    (owner(0), [pod("a"), pod("b", leaving=True)], True, [("delete", "a"), written(1), "note"]),
    (owner(1), [pod("a"), pod("b", node="")], True, [("delete", "b"), written(2), "note"]),
    (owner(1), [pod("a", uid="")], True, [("claim", "a"), written(1), "note"]),
    (owner(1), [pod("a", labels={}), pod("b")], True, [("claim", "a"), written(1), "note"]),
    (owner(1, status={"observedGeneration": 2, "replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1,
        "availableReplicas": 1,
                      "terminatingReplicas": 0}), [pod("a")], True, [])])
async def test_one_step_of_a_set(found: Tree | None, pods: list[Tree], seen: bool, done: list[Any]) -> None:
    """Given a set and its pods / then pods are made or deleted once what was asked for before has
    been seen, and the status is written where it is new.
    """
    world = World(found, pods, seen=seen)
    assert await world.reconcile() is None
    assert world.done == done


@pytest.mark.parametrize(("found", "pods", "refuse", "text"), [
    (owner(1), [], "create", "no"), (owner(0), [pod("a")], "delete", "unable to delete pods: no")])
async def test_what_goes_wrong_is_raised_after_the_status(found: Tree, pods: list[Tree], refuse: str, text: str) -> None:
    """Given pods that cannot be made or deleted / then the status is written and the error raised.
    """
    world = World(found, pods, refuse=refuse)
    with pytest.raises(APIError) as failed:
        await world.reconcile()
    assert (failed.value.code, failed.value.reason, str(failed.value), world.done[1:]) == (
        403, "Forbidden", text, [written(len(pods)), "note"])


@pytest.mark.parametrize(("pods", "seconds"), [
    ([pod("a", since="1970-01-01T00:16:38Z"), pod("b", since="1970-01-01T00:16:36Z")], 6.0), ([pod("a"), pod("b")], None),
    ([pod("a"), pod("b", ready=False)], None)])
async def test_when_the_next_pod_becomes_available(pods: list[Tree], seconds: float | None) -> None:
    """Given minReadySeconds 10 / then the controller looks again when the next ready pod becomes
    available, and not at all when none does.
    """
    result = await World(owner(2, minReadySeconds=10), pods).reconcile()
    assert (result.requeue_after.total_seconds() if result else None) == seconds
