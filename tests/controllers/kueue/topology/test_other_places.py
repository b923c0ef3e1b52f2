"""Other places for pods whose node failed or whose slice grows, and pods that have none."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import elastic, replacement
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.constraints import Constraint
from fakekube_controllers.kueue.topology.snapshot import PodSetAssignmentResult, TASPodSetRequests
from tests.controllers.kueue.topology.test_placement import counts_of, request, snapshot_of

RACK = {"required": "rack"}
THREE = [(0, 0, 4), (0, 0, 4), (0, 1, 4)]


def assigned(**pods: int) -> Tree:
    """So many pods on each node, as a Workload says."""
    return {"levels": [HOSTNAME], "slices": [
        {"domainCount": 1, "valuesPerLevel": [{"universal": node}], "podCounts": {"universal": count}}
        for node, count in pods.items()]}


def internal(**pods: int) -> TopologyAssignment:
    """The same, as Kueue has it."""
    return TopologyAssignment((HOSTNAME,), tuple(TopologyDomainAssignment((node,), count) for node, count in pods.items()))


def workload(node: str, assignment: Tree | None, **metadata: Any) -> Tree:
    """A Workload with places, of which one node is unhealthy."""
    podset: Tree = {"name": "main", "count": 4}
    if assignment is not None:
        podset["topologyAssignment"] = assignment
    return {
        "metadata": {"name": "w", **metadata}, "spec": {"podSets": [{"name": "main"}]},
        "status": {"admission": {"podSetAssignments": [podset]}, "unhealthyNodes": [{"name": node}]}}


def layers(*pairs: tuple[str, int]) -> Tree:
    """A request for slices in layers."""
    return {"required": "block", "podsetSliceRequiredTopologyConstraints": [
        {"topology": topology, "size": size} for topology, size in pairs]}


def replaced(asked: Tree, node: str, before: Tree | None, features: Features = Features(), **metadata: Any) -> Any:  # noqa: B008 - immutable
    """The places then, and what is taken anew."""
    assumed: dict[str, Any] = {}
    snapshot = snapshot_of(THREE, features)
    found = replacement.replace_nodes(snapshot, [request(4, asked)], workload(node, before, **metadata), assumed)
    return found, assumed


@pytest.mark.parametrize(("asked", "node", "before", "wanted"), [
    (RACK, "n0", assigned(n0=2, n1=2), PodSetAssignmentResult(internal(n1=4))),
    ({"preferred": "rack"}, "n0", assigned(n0=1, n1=3), PodSetAssignmentResult(internal(n1=4))),
    (RACK, "n2", assigned(n0=2, n1=2), PodSetAssignmentResult(
        failure_reason="cannot find replacement assignment for unhealthy node: n2")),
    (RACK, "n0", assigned(n0=2, gone=2), PodSetAssignmentResult(
        failure_reason="Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale "
        "domain gone")),
    # half a slice of a rack is lost: a whole one of a node takes its place there
    (layers(("rack", 4), (HOSTNAME, 2)), "n0", assigned(n0=2, n1=2), PodSetAssignmentResult(internal(n1=4))),
    (layers(("rack", 4), ("row", 2)), "n0", assigned(n0=1, n1=3), PodSetAssignmentResult(
        failure_reason="no requested topology level for additional slice layer: row")),
])
def test_pods_of_a_node_that_failed(asked: Tree, node: str, before: Tree, wanted: PodSetAssignmentResult) -> None:
    """Given pods on nodes of which one has failed, when they get other places, then the rest stay,
    and those of the node go where their request lets them; else it is told why not.
    """
    # the node is there still, and has room for none
    snapshot = snapshot_of([(0, 0, 0) if f"n{place}" == node else each for place, each in enumerate(THREE)])
    found = replacement.replace_nodes(snapshot, [request(4, asked)], workload(node, before), {})
    assert found == {"main": wanted}


def test_pods_that_stay_where_they_are() -> None:
    """Given a Workload of one pod, or one without places, when a node fails, then the pod cannot
    move, and there is nothing to move.
    """
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
    of_pod = {"ownerReferences": [owner]}
    skips = Features(SkipReassignmentForPodOwnedWorkloads=True)
    assert replaced(RACK, "n0", assigned(n0=4), skips, **of_pod) == (
        {"main": PodSetAssignmentResult(internal(n0=4))}, {})
    assert replaced(RACK, "n0", None) == ({}, {})


def of_slice(count: int, podset: str, before: Tree | None) -> TASPodSetRequests:
    """Pods of a slice that replaces another with these places."""
    asked = request(count, {"preferred": "rack", "podSetGroupName": "g"}, podset)
    return TASPodSetRequests(
        asked.podset, asked.single_pod_requests, count, "f", podset_group_name="g", previous_assignment=before)


@pytest.mark.parametrize(("count", "leader", "wanted", "taken"), [
    (2, None, {"workers": internal(n0=2), "leader": None}, {"n0": 2}),
    (1, assigned(n2=1), {"workers": internal(n0=1), "leader": internal(n2=1)}, {"n0": 1, "n2": 1}),
    (3, assigned(n2=1), {"workers": internal(n0=2, n2=1), "leader": internal(n2=1)}, {"n0": 2, "n2": 2}),
    (3, None, {"workers": internal(n0=2, n2=1), "leader": internal(n2=1)}, {"n0": 2, "n2": 2}),
])
def test_pods_of_a_slice_stay(
    count: int, leader: Tree | None, wanted: dict[str, TopologyAssignment | None], taken: dict[str, int],
) -> None:
    """Given a slice that replaces another of two pods, when it is placed, then those pods stay, and
    so does their leader, if that had a place; what is more goes elsewhere.
    """
    assumed: dict[str, Any] = {}
    found = elastic.place(
        snapshot_of(THREE), of_slice(count, "workers", assigned(n0=2)), of_slice(1, "leader", leader), assumed,
        simulate_empty=False)
    assert found == {name: PodSetAssignmentResult(each) for name, each in wanted.items()}
    assert {node: amounts["cpu"] // 1000 for node, amounts in assumed.items()} == taken


@pytest.mark.parametrize(("workers", "leader"), [
    (assigned(gone=2), assigned(n0=1)), (assigned(n0=2), assigned(gone=1)), (None, assigned(n0=1))])
def test_a_slice_whose_places_are_gone(workers: Tree | None, leader: Tree) -> None:
    """Given a slice that replaces another, when a node of that is not there any more, then all is
    placed anew.
    """
    assumed: dict[str, Any] = {}
    assert elastic.place(
        snapshot_of(THREE), of_slice(2, "workers", workers), of_slice(1, "leader", leader), assumed,
        simulate_empty=False) is None
    assert assumed == {}


@pytest.mark.parametrize(("asked", "count", "leads", "wanted", "reason"), [
    ({"unconstrained": True}, 2, True, [{"n0": 1}, {"n0": 2}], ""),
    ({"unconstrained": True}, 4, False, [{"n0": 4}], ""),
    ({"preferred": "rack"}, 14, True, [], 'topology "t" allows to fit only 11 out of 14 pod(s)'),
    ({"required": "rack", "unconstrained": True}, 9, False, [], 'topology "t" allows to fit only 8 out of 9 pod(s)'),
    ({"required": "rack", "unconstrained": True}, 8, False, [{"n0": 4, "n1": 4}], ""),
])
def test_where_leaders_and_workers_go(asked: Tree, count: int, leads: bool, wanted: list[Tree], reason: str) -> None:
    """Given pods that may be anywhere, or in one domain, when they are placed, then the tightest
    that holds them all is taken; else it is told how many have room.
    """
    group = {"podSetGroupName": "g"} if leads else {}
    leaders = [request(1, {**asked, **group}, "leader")] if leads else []
    assert counts_of(snapshot_of(THREE), *leaders, request(count, {**asked, **group}, "workers")) == (wanted, reason)


def test_updates_that_say_otherwise() -> None:
    """Given pods of which a check says otherwise than their template, when they are placed, then
    there is no place, and nobody knows how much room there is.
    """
    asked = request(1, RACK)
    podset = {**asked.podset, "template": {"spec": {"nodeSelector": {"a": "b"}}}}
    update = {"name": "main", "nodeSelector": {"a": "c"}}
    pods = TASPodSetRequests(podset, asked.single_pod_requests, 1, "f", podset_updates=[update])
    conflict = "invalid admission check PodSetUpdate: conflict for nodeSelector: conflict for key=a, value1=b, value2=c"
    assert counts_of(snapshot_of(THREE), pods) == ([], f"invalid podSetUpdate for PodSet main, error: {conflict}")
    assert snapshot_of(THREE).room_for(pods) == [[], [], []]


@pytest.mark.parametrize(("layer", "wanted"), [
    (None, {"required": "block"}),
    (Constraint("rack", 2), {"required": "block", "podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2})])
@pytest.mark.parametrize("asked", [
    layers(("rack", 4), (HOSTNAME, 2)), {"required": "block", "podSetSliceRequiredTopology": "rack", "podSetSliceSize": 4}])
def test_slices_of_one_layer_alone(asked: Tree, layer: Constraint | None, wanted: Tree) -> None:
    """Given pods of slices of which a part is lost, when that is placed, then in slices of the
    layer that divides it, or in none; all else is asked for as before.
    """
    podset = {"name": "main", "count": 4, "topologyRequest": asked}
    assert replacement._with_slices(podset, layer) == {"name": "main", "count": 4, "topologyRequest": wanted}
