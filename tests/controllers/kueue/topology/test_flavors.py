"""Topologies and the assignment of flavors: which flavor may serve a podset, and when places are
found.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import flavorassigner as tas
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.domains import DomainTree
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot

NODE = {"metadata": {"name": "a", "labels": {"rack": "r", HOSTNAME: "a"}}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
AT_A = TopologyAssignment((HOSTNAME,), (TopologyDomainAssignment(("a",), 2),))


def snapshot(features: Features = Features()) -> TASFlavorSnapshot:  # noqa: B008 - immutable
    tree = DomainTree(("rack", HOSTNAME), [NODE])
    return TASFlavorSnapshot("t", (), Matching(tree), tree.capacity, {}, features)


@dataclass
class Queue:
    """A ClusterQueue's snapshot, as far as it is asked about topologies."""

    tas_flavors: dict[str, TASFlavorSnapshot] = field(default_factory=lambda: {"f": snapshot()})
    tas_only: bool = False
    multikueue: bool = False
    provisioned: tuple[str, ...] = ()

    def is_tas_only(self) -> bool:
        return self.tas_only

    def has_multikueue_admission_check(self) -> bool:
        return self.multikueue

    def has_prov_request_admission_check(self, flavor: str) -> bool:
        return flavor in self.provisioned


@dataclass
class Assigned:
    name: str = "main"
    count: int = 2
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: str | None = None


def podset(request: dict[str, Any] | None = None, cpu: str = "1") -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    return {"name": "main", "count": 2, "template": {"spec": spec}, **({"topologyRequest": request} if request else {})}


def flavor(name: str, topology: str | None = None) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"topologyName": topology} if topology else {}}


def workload(*podsets: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "w", "namespace": "x"}, "spec": {"podSets": [*podsets]}, "status": status}


@pytest.mark.spec("KUEUE-167")
@pytest.mark.parametrize(("request_", "name", "topology", "queue", "wanted"), [
    ({"required": "rack"}, "f", "t", Queue(), None),
    ({"required": "zone"}, "f", "t", Queue(), 'Flavor "f" does not contain the requested level'),
    ({"podSetSliceRequiredTopology": "zone", "podSetSliceSize": 1}, "f", "t", Queue(),
     'Flavor "f" does not contain the requested level'),
    ({"required": "rack"}, "g", "t", Queue(), 'Flavor "g" information missing in TAS cache'),
    ({"required": "rack"}, "p", None, Queue(), 'Flavor "p" does not support TopologyAwareScheduling'),
    (None, "f", "t", Queue(), 'Flavor "f" supports only TopologyAwareScheduling'),
    (None, "p", None, Queue(), None),
    (None, "f", "t", Queue(tas_only=True), None),
])
def test_flavor_for_a_podset(
    request_: dict[str, Any] | None, name: str, topology: str | None, queue: Queue, wanted: str | None,
) -> None:
    """Given flavors with and without a topology, when one is tried for a podset, then it serves
    those that ask for a level it has, or for nothing where it has nothing else.
    """
    assert tas.check_podset_and_flavor_match(queue, podset(request_), flavor(name, topology), {"cpu"}) == wanted


def test_flavor_of_other_resources() -> None:
    """Given a flavor without a topology, when a podset asks for one and for none of its resources,
    then it may serve, for what stands for others.
    """
    assert tas.check_podset_and_flavor_match(Queue(), podset({"required": "rack"}), flavor("p"), {"credits"}) is None


def test_when_places_are_needed() -> None:
    """Given a podset, when it has places already, then it needs none, unless a node of them has
    failed; and none at all where it asks for nothing or has no pods.
    """
    asks, queue = podset({"required": "rack"}), Queue()
    failed = workload(asks, unhealthyNodes=[{"name": "a"}])
    assert tas.needs_places(Assigned(), asks, workload(asks), queue)
    assert not tas.needs_places(Assigned(topology_assignment=AT_A), asks, workload(asks), queue)
    assert tas.needs_places(Assigned(topology_assignment=AT_A), asks, failed, queue)
    assert not tas.needs_places(Assigned(count=0), asks, workload(asks), queue)
    assert not tas.needs_places(Assigned(), podset(), workload(podset()), queue)


@pytest.mark.parametrize(("queue", "reserved", "wanted"), [
    (Queue(), False, None), (Queue(multikueue=True), False, "Pending"), (Queue(multikueue=True), True, "Pending"),
    (Queue(provisioned=("f",)), False, "Pending"), (Queue(provisioned=("f",)), True, None),
])
def test_places_that_are_found_later(queue: Queue, reserved: bool, wanted: str | None) -> None:
    """Given a queue whose nodes are yet to come, or on other clusters, when quota is reserved, then
    places are found later: of provisioned nodes once there is quota.
    """
    conditions = [{"type": "QuotaReserved", "status": "True" if reserved else "False"}]
    asks, assigned = podset({"required": "rack"}), Assigned()
    found = tas.topology_request_of(assigned, ["f"], asks, workload(asks, conditions=conditions), queue, Features())
    assert (assigned.delayed_topology_request, found is None) == (wanted, wanted is not None)


def test_places_where_checks_say() -> None:
    """Given a check that is ready and one that is not, when places are asked for, then what the
    ready one adds counts.
    """
    asks = podset({"required": "rack"})
    updates = [{"name": "main", "nodeSelector": {"x": "y"}}]
    checks = [{"state": "Ready", "podSetUpdates": updates}, {"state": "Pending", "podSetUpdates": [{"name": "main"}]}]
    found = tas.topology_request_of(Assigned(), ["f"], asks, workload(asks, admissionChecks=checks), Queue(), Features())
    assert found is not None
    assert found.podset_updates == updates
    reason = tas.find_topology_assignments_for_workload(Queue().tas_flavors, {"f": [found]}).failure()
    assert reason is not None
    assert reason.reason == 'topology "t" doesn\'t allow to fit any of 2 pod(s). Total nodes: 1; excluded: nodeSelector: 1'
    assert reason.flavor == "f"


@pytest.mark.parametrize(("flavors", "queue", "text"), [
    (["p"], Queue(), "no TAS flavor assigned"),
    (["g", "f"], Queue({"f": snapshot(), "g": snapshot()}), "more than one TAS flavor assigned: f, g"),
    (["f"], Queue({}), "workload requires Topology, but there is no TAS cache information"),
])
def test_places_that_cannot_be_asked_for(flavors: list[str], queue: Queue, text: str) -> None:
    """Given flavors that were assigned, when not just one has a topology, then that is an error."""
    asks = podset({"required": "rack"})
    with pytest.raises(tas.TASError, match=text):
        tas.topology_request_of(Assigned(), flavors, asks, workload(asks), queue, Features())


def test_elastic_job_may_not_require_a_domain() -> None:
    """Given an elastic job, when it asks for a domain and the gate for that is on, then that is an
    error; without constraint its places before are told.
    """
    gates, annotations = Features(ElasticJobsViaWorkloadSlicesWithTAS=True), {"kueue.x-k8s.io/elastic-job": "true"}
    asks = podset({"required": "rack"})
    elastic = {**workload(asks), "metadata": {"annotations": annotations}}
    with pytest.raises(tas.TASError, match="required topology is not supported with ElasticJobsViaWorkloadSlices"):
        tas.topology_request_of(Assigned(), ["f"], asks, elastic, Queue(), gates)
    before = {"levels": [HOSTNAME], "slices": []}
    replaced = workload(admission={"podSetAssignments": [{"name": "main", "topologyAssignment": before}]})
    free = podset({"unconstrained": True})
    found = tas.topology_request_of(Assigned(), ["f"], free, elastic, Queue(), gates, replaced)
    assert found is not None
    assert found.previous_assignment == before


@pytest.mark.parametrize(("shared", "fits"), [(True, False), (False, True)])
def test_podsets_in_flavors_of_the_same_nodes(shared: bool, fits: bool) -> None:
    """Given two podsets in two flavors of one node, when it holds only one of them, then the second
    has no place, with the gate for it.
    """
    features = Features(TASHandleOverlappingFlavors=shared)
    flavors = {"f": snapshot(features), "g": snapshot(features)}
    asks = [{**podset({"required": "rack"}), "name": name} for name in "xy"]
    requests = {
        name: [tas.TASPodSetRequests(each, {"cpu": 1500}, 2, name)] for name, each in zip(flavors, asks, strict=True)}
    found = tas.find_topology_assignments_for_workload(flavors, requests)
    assert (found.failure() is None) == fits


def test_usage_that_is_new() -> None:
    """Given places of two podsets, when one had its places before, then the usage is that of the
    other.
    """
    pods = [{**podset(), "name": name} for name in ("old", "new")]
    assigned = [(Assigned(name, topology_assignment=AT_A), ["f"]) for name in ("old", "new")]
    before = {"podSetAssignments": [{"name": "old", "topologyAssignment": {}}, {"name": "new"}]}
    found = tas.net_usage(assigned, workload(*pods), Queue().tas_flavors, before)
    assert [(each.values, each.count, each.single_pod_requests) for each in found["f"]] == [(("a",), 2, {"cpu": 1000})]
    assert len(tas.net_usage(assigned, workload(*pods), Queue().tas_flavors)["f"]) == 2
