"""Small parts of topologies: layers, taints, pods of others, offsets and ranks of pods."""

from typing import Any

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import encoding, nodes, parameters, ungater
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.domains import DomainTree
from fakekube_controllers.kueue.topology.finding import find_topology_assignments_for_flavor
from fakekube_controllers.kueue.topology.nontasusage import NonTASUsageCache
from fakekube_controllers.kueue.topology.parameters import NoFit
from fakekube_controllers.kueue.topology.ranks import assign_gated_pods
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot
from fakekube_controllers.kueue.topology.ungater import BadOffset
from tests.controllers.kueue.topology.test_facts import node, request

LEVELS = ("block", "rack", "host")


def layers(*pairs: tuple[str, int]) -> Tree:
    """A request for slices in layers."""
    return {"required": "block", "podsetSliceRequiredTopologyConstraints": [
        {"topology": topology, "size": size} for topology, size in pairs]}


def slices(size: int | None) -> Tree:
    """A request for slices of one layer."""
    return {"required": "block", "podSetSliceRequiredTopology": "rack", **({} if size is None else {"podSetSliceSize": size})}


@pytest.mark.parametrize(("request_", "text"), [
    (slices(None), "slice topology requested, but slice size not provided"),
    (slices(0), "slice topology requested, but slice size not provided"),
    (layers(("rack", 0)), "slice topology requested, but slice size not provided"),
    (layers(("rack", 4), ("host", 0)), "additional slice layer size 0 must evenly divide parent layer size 4"),
    (layers(("rack", 4), ("host", 3)), "additional slice layer size 3 must evenly divide parent layer size 4"),
    (layers(("host", 4), ("rack", 2)), "additional slice layer topology rack must be at a lower level than host"),
    (layers(("rack", 4), ("rack", 2)), "additional slice layer topology rack must be at a lower level than rack"),
    (layers(("rack", 4), ("row", 2)), "no requested topology level for additional slice layer: row"),
    (layers(("row", 4)), "no requested topology level for slices: row"),
    ({"required": "row"}, "no requested topology level: row"),
    ({"required": "host", "podSetSliceRequiredTopology": "rack", "podSetSliceSize": 1},
     "podset slice topology rack is above the podset topology host"),
    (None, "topology level not specified"),
])
def test_requests_that_do_not_belong_to_a_topology(request_: Tree | None, text: str) -> None:
    """Given a request for levels or slices, when it does not belong to the topology, then it is
    said what is wrong.
    """
    with pytest.raises(NoFit) as refused:
        parameters.parameters_of(request_, LEVELS, count=8, leader_count=0, implied=False)
    assert str(refused.value) == text


def test_layers_that_belong_to_a_topology() -> None:
    """Given layers that divide each other, when they are looked at, then each level below the
    outermost slices has the size of the next layer.
    """
    found = parameters.parameters_of(layers(("block", 8), ("host", 4)), LEVELS, count=16, leader_count=0, implied=False)
    assert (found.slices.size, found.slices.inner, found.slice_count) == (8, {1: 4, 2: 4}, 2)
    alone = parameters.parameters_of(slices(1), LEVELS, count=8, leader_count=0, implied=False)
    assert (alone.slices.size, alone.slices.inner, alone.slice_count) == (1, {}, 8)


@pytest.mark.parametrize(("respects", "place"), [(True, "n-b"), (False, "n-a")])
def test_preferred_nodes_are_a_gate(respects: bool, place: str) -> None:
    """Given two nodes with the same room, the second of which a pod prefers, when a place is looked
    for, then it is that one, but where preferences are not respected.
    """
    tree = DomainTree([HOSTNAME], [node("n-a", "b r s x", "4 4Gi 9"), node("n-b", "b r s y", "4 4Gi 9")])
    snapshot = TASFlavorSnapshot(
        "topo", (), Matching(tree), tree.capacity, {}, Features(TASRespectNodeAffinityPreferred=respects))
    term = {"weight": 5, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["y"]}]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    asked = {"name": "p", "count": 1, "single": {"cpu": 1000}, "request": {"unconstrained": True}, "spec": {"affinity": affinity}}
    found = find_topology_assignments_for_flavor(snapshot, [request(asked)])["p"].topology_assignment
    assert found is not None
    assert [domain.values for domain in found.domains] == [(place,)]


@pytest.mark.parametrize(("taint", "text"), [
    ({"key": "k"}, "k"), ({"key": "k", "value": "v"}, "k=v:"), ({"key": "k", "effect": "NoSchedule"}, "k:NoSchedule"),
    ({"key": "k", "value": "v", "effect": "NoSchedule"}, "k=v:NoSchedule"), ({"key": "k", "value": None, "effect": None}, "k")])
def test_taints_as_text(taint: Any, text: str) -> None:
    """Given a taint with and without a value and an effect, when it is told, then as upstream
    does.
    """
    assert nodes.taint_text(taint) == text


def pod(cpu: str, node: str = "a") -> Tree:
    """A pod that no Workload accounts for."""
    return {"spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": cpu}}}]}}


def test_room_that_pods_of_others_take() -> None:
    """Given pods of others on nodes, when they come, change, move and go, then their nodes have
    what is left, and where a pod leaves room the node is named.
    """
    usage, one, other = NonTASUsageCache(), ObjectKey("n", "one"), ObjectKey("n", "other")
    assert [usage.update(one, pod("1")), usage.update(other, pod("2"))] == ["", ""]
    assert (usage.node_usage, usage.version) == ({"a": {"cpu": 3000, "pods": 2}}, 2)
    assert usage.update(one, pod("1")) == ""
    assert (usage.node_usage, usage.version) == ({"a": {"cpu": 3000, "pods": 2}}, 2)
    assert usage.update(one, pod("3")) == ""
    assert usage.node_usage == {"a": {"cpu": 5000, "pods": 2}}
    assert usage.update(one, pod("2")) == "a"
    assert usage.node_usage == {"a": {"cpu": 4000, "pods": 2}}
    assert usage.update(one, pod("2", "b")) == "a"
    assert usage.node_usage == {"a": {"cpu": 2000, "pods": 1}, "b": {"cpu": 2000, "pods": 1}}
    assert [usage.delete(other), usage.delete(other)] == ["a", ""]
    assert usage.node_usage == {"b": {"cpu": 2000, "pods": 1}}


@pytest.mark.parametrize(("annotations", "wanted"), [
    ([], 0), ([{}], 0), ([{"kueue.x-k8s.io/pod-index-offset": "3"}], 3),
    ([{"kueue.x-k8s.io/pod-index-offset": "3"}, {"kueue.x-k8s.io/pod-index-offset": "4"}], 3)])
def test_what_indices_begin_with(annotations: list[Tree], wanted: int) -> None:
    """Given pods, when it is asked what their indices begin with, then as the first says."""
    assert ungater._offset_of([{"metadata": {"annotations": each}} for each in annotations]) == wanted


def test_an_offset_is_a_number() -> None:
    """Given a pod whose offset is none, when it is asked for, then the error is Go's and says what
    could not be read.
    """
    with pytest.raises(BadOffset) as refused:
        ungater._offset_of([{"metadata": {"annotations": {"kueue.x-k8s.io/pod-index-offset": "x"}}}])
    assert str(refused.value) == 'strconv.ParseInt: parsing "x": invalid syntax\nfailed to parse offset annotation'


@pytest.mark.parametrize(("index", "host"), [("1", "b"), ("2", "a")])
def test_a_rank_beyond_all_domains_counts_not(index: str, host: str) -> None:
    """Given domains for two of three pods, when the only pod has the last rank, then it goes to the
    first domain, and to its own if its rank is within.
    """
    assignment = TopologyAssignment(("host",), (TopologyDomainAssignment(("a",), 1), TopologyDomainAssignment(("b",), 1)))
    found = {
        "metadata": {"name": "p", "namespace": "n", "labels": {"i": index}},
        "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}}
    placed = assign_gated_pods(assignment, 3, [found], {"podIndexLabel": "i"}, offset=0, max_rank=3)
    assert [values for _, values in placed] == [(host,)]


def test_no_assignment_is_written_as_none() -> None:
    """Given no assignment, when it is to be written, then nothing is."""
    assert encoding.v1beta2_from(None, Features()) is None
