"""Whom the end of a node concerns, step by step, and pods that cannot be let go."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors, times
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.controllers import _are_there
from fakekube_controllers.kueue.topology.domains import Domain
from fakekube_controllers.kueue.topology.flavorcontroller import TASResourceFlavorReconciler
from fakekube_controllers.kueue.topology.nodecontroller import NodeReconciler
from fakekube_controllers.kueue.topology.nodes import _reason
from fakekube_controllers.kueue.topology.ungater import TopologyUngater
from fakekube_controllers.kueue.workload import evict, patching

NOW = 1767225600.0
ADMITTED = {"type": "Admitted", "status": "True", "reason": "Admitted", "lastTransitionTime": "2026-01-01T00:00:00Z"}
EVICTED = {"type": "Evicted", "status": "True", "reason": "Preempted", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def workload(name: str, *unhealthy: str, conditions: tuple[Tree, ...] = ()) -> Tree:
    """A Workload with two pods on the node ``a``, of which some nodes have failed."""
    assignment = {"levels": [HOSTNAME], "slices": [
        {"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 2}}]}
    podsets = [
        {"name": "main", "count": 2, "topologyAssignment": assignment}, {"name": "free", "count": 1}]
    return {
        "metadata": {"name": name, "namespace": "n"}, "spec": {"podSets": [{"name": "main"}, {"name": "free"}]},
        "status": {"admission": {"podSetAssignments": podsets}, "conditions": [ADMITTED, *conditions],
                   "unhealthyNodes": [{"name": each} for each in unhealthy]}}


def node(status: str, seconds: float) -> Tree:
    """The node ``a``, which has been so for a while."""
    at = times.format_time(NOW - seconds)
    return {"metadata": {"name": "a"}, "spec": {}, "status": {
        "conditions": [{"type": "Ready", "status": status, "lastTransitionTime": at}]}}


class Told:
    """What is written: by Workload its unhealthy nodes, or why it is evicted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *workloads: Tree, **features: bool) -> None:
        self.written: dict[str, Any] = {}
        monkeypatch.setattr(patching, "patch_admission_status", self._patch)
        monkeypatch.setattr(evict, "evict", self._evict)
        by_name = {each["metadata"]["name"]: each for each in workloads}
        listers: dict[str, Any] = {"workloads": SimpleNamespace(
            get=lambda _namespace, name: by_name.get(name), add_index=lambda *_: None,
            by_index=lambda *_: [workload("gone"), *workloads])}
        nothing = SimpleNamespace(get=lambda *_: None, by_index=lambda *_: [], add_index=lambda *_: None)
        ctx: Any = SimpleNamespace(lister=lambda resource: listers.get(resource.plural, nothing))
        kueue: Any = SimpleNamespace(
            client=None, features=Features(**features), clock=SimpleNamespace(time=lambda: NOW), metrics=None,
            recorder=lambda _: None, should_expose_local_queue_metrics_for_workload=lambda _: False)
        self.listers, self.reconciler = listers, NodeReconciler(kueue, ctx)

    async def _patch(self, _client: object, found: Tree, update: Any, **_: object) -> None:
        update(found)
        self.written[found["metadata"]["name"]] = [each["name"] for each in found["status"]["unhealthyNodes"]]

    async def _evict(self, _client: object, _recorder: object, found: Tree, reason: str, text: str, **_: object) -> None:
        self.written[found["metadata"]["name"]] = (reason, text)

    async def at(self, found: Tree | None) -> Result | None:
        """Look at the node ``a``."""
        nodes: Any = SimpleNamespace(get=lambda *_: found)
        self.reconciler._nodes = nodes
        return await self.reconciler.reconcile(Request("", "a"))


SEVERAL = ("NodeFailures", "Workload eviction triggered due to multiple TAS assigned node failures, including: b, a")


@pytest.mark.parametrize(("waits", "at_once", "found", "result", "wanted"), [
    (False, False, node("False", 10), Result.after(20.0), {}),
    (False, False, node("False", 30), None, {"fresh": ["a"], "second": SEVERAL}),
    (False, True, node("Unknown", 30), None, {"fresh": ["a"], "second": SEVERAL}),
    (True, False, node("False", 10), None, {"fresh": ["a"], "second": SEVERAL}),
    (False, False, None, None, {"fresh": ["a"], "second": SEVERAL}),
    (False, False, node("True", 99), None, {"told": []}),
])
async def test_whom_a_node_that_fails_concerns(
    waits: bool, at_once: bool, found: Tree | None, result: Result | None, wanted: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given Workloads on a node, when it is not ready for long enough, or gone, then each is told,
    or evicted if another node of it has failed; those evicted already, told already or gone are
    left alone, and a node that is ready again is taken off.
    """
    told = Told(
        monkeypatch, workload("fresh"), workload("second", "b"), workload("told", "a"),
        workload("over", conditions=(EVICTED,)), TASReplaceNodeOnPodTermination=waits,
        TASReplaceNodeDueToNotReadyOverFixedTime=at_once)
    assert await told.at(found) == result
    assert told.written == wanted


async def test_who_is_evicted_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given Workloads on a node that has failed, when they are told, then the keys of those that
    are evicted come back.
    """
    told = Told(monkeypatch, workload("fresh"), workload("second", "b"), workload("over", conditions=(EVICTED,)))
    keys = [ObjectKey("n", name) for name in ("gone", "fresh", "second", "over")]
    assert await told.reconciler._handle_unhealthy("a", keys) == [ObjectKey("n", "second"), ObjectKey("n", "over")]
    await told.reconciler._handle_healthy("a", ObjectKey("n", "gone"))
    assert told.written == {"fresh": ["a"], "second": SEVERAL}


async def test_a_pod_that_cannot_be_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given two pods that have their domains, when the first cannot be written, then the second is
    tried as well, and the first error is raised.
    """
    pods = [{"metadata": {
        "name": name, "namespace": "n", "uid": name, "labels": {"kueue.x-k8s.io/podset": "main"}}, "spec": {
        "schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}, "status": {"phase": "Pending"}} for name in ("x", "y")]
    observed: list[object] = []
    ungater: Any = TopologyUngater.__new__(TopologyUngater)
    ungater._objects = SimpleNamespace(
        workloads=SimpleNamespace(get=lambda *_: workload("w")), pods_of=lambda _: pods)
    ungater._expectations = SimpleNamespace(
        satisfied=lambda _: True, expect_deletions_of=lambda _, uids: observed.append(("expected", *uids)),
        deletion_observed=lambda _, uid: observed.append(uid))
    error = errors.conflict(PODS.group_resource, "x")

    async def ungate(_workload: object, pod: Tree, selector: Tree) -> None:
        observed.append((pod["metadata"]["name"], selector))
        raise error if pod is pods[0] else errors.internal("another")

    monkeypatch.setattr(ungater, "_ungate", ungate)
    with pytest.raises(errors.APIError) as raised:
        await ungater.reconcile(Request("n", "w"))
    assert raised.value is error
    assert observed == [("expected", "x", "y"), ("x", {HOSTNAME: "a"}), "x", ("y", {HOSTNAME: "a"}), "y"]


def test_small_answers() -> None:
    """Given nobody who knows which kinds are there, a domain that is no node, and domains with
    leaders, when they are asked, then there are no Topologies, nothing speaks against the domain,
    and no leader is left below.
    """
    nobody: Any = SimpleNamespace(presence=None)
    assert _are_there(nobody) is False
    unused: Any = None
    assert _reason(None, unused) == ""
    rack = Domain("r", ("r",), None, None)
    rack.children = [Domain("r,n", ("r", "n"), rack, None)]
    for each in (rack, *rack.children):
        each.state, each.slice_state = 3, 2
        each.state_with_leader, each.slice_state_with_leader, each.leader_state = 2, 1, 1
    rack.clear_leader()
    assert [(each.state, each.slice_state, each.state_with_leader, each.slice_state_with_leader, each.leader_state)
            for each in (rack, *rack.children)] == [(3, 2, 0, 0, 0)] * 2
    assert repr(rack) == "Domain('r', 3)"


@pytest.mark.parametrize(("old", "new", "queued", "cached"), [
    ({}, {"topologyName": "t"}, 1, 0), ({"topologyName": "t"}, {"topologyName": "u"}, 1, 0), ({"topologyName": "t"}, {}, 0, 0),
    ({"topologyName": "t"}, {"topologyName": "t", "nodeTaints": [{"key": "k"}]}, 1, 1),
    ({"topologyName": "t"}, {"topologyName": "t"}, 0, 0), ({}, {"nodeTaints": [{"key": "k"}]}, 0, 0)])
def test_a_flavor_that_gets_a_topology(old: Tree, new: Tree, queued: int, cached: int) -> None:
    """Given a flavor, when it gets another topology, or other taints beside one, then what waits is
    tried again, if it has one now.
    """
    told: list[str] = []
    reconciler: Any = TASResourceFlavorReconciler.__new__(TASResourceFlavorReconciler)
    reconciler.queue = SimpleNamespace(add=lambda request: told.append(f"queue {request.name}"))
    reconciler.kueue = SimpleNamespace(
        cache=SimpleNamespace(add_or_update_resource_flavor=lambda flavor: told.append(flavor["metadata"]["name"])))
    reconciler._update_flavor({"metadata": {"name": "f"}, "spec": old}, {"metadata": {"name": "f"}, "spec": new})
    assert told == ["f"] * cached + ["queue f"] * queued
