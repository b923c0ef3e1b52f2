"""What the assignment of flavors asks about topologies: whether a flavor may serve a podset, and
what places its pods need.

Upstream: pkg/scheduler/flavorassigner/tas_flavorassigner.go, and FindTopologyAssignmentsForWorkload
in pkg/cache/scheduler/clusterqueue_snapshot.go.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment
from fakekube_controllers.kueue.topology.finding import find_topology_assignments_for_flavor
from fakekube_controllers.kueue.topology.requests import is_explicitly_requesting_tas
from fakekube_controllers.kueue.topology.snapshot import TASAssignmentsResult, TASFlavorSnapshot, TASPodSetRequests, Usages
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import TASUsage, TopologyDomainRequests

NO_CACHE = "workload requires Topology, but there is no TAS cache information"
NO_FLAVOR = "no TAS flavor assigned"
ELASTIC = "{} topology is not supported with ElasticJobsViaWorkloadSlices"

WorkloadTASRequests = dict[str, list[TASPodSetRequests]]
"""By flavor."""


class TASError(Exception):
    """A podset whose places cannot be asked for; the message is upstream's."""


class ClusterQueue(Protocol):
    """What is asked of a ClusterQueue's snapshot."""

    tas_flavors: Mapping[str, TASFlavorSnapshot]

    def is_tas_only(self) -> bool:
        """Whether all its flavors have a topology."""

    def has_multikueue_admission_check(self) -> bool:
        """Whether its Workloads run on other clusters."""

    def has_prov_request_admission_check(self, flavor: str) -> bool:
        """Whether nodes of a flavor are provisioned first."""


class PodSetAssignment(Protocol):
    """What is asked of the assignment of one podset; ``flavors`` are by resource."""

    name: str
    count: int
    topology_assignment: TopologyAssignment | None
    delayed_topology_request: str | None


def is_tas_implied(podset: ReadOnlyTree, cq: ClusterQueue) -> bool:
    """Whether a podset that asks for nothing gets places, as nothing else is to be had."""
    return not is_explicitly_requesting_tas(podset) and cq.is_tas_only()


def is_tas_requested(podset: ReadOnlyTree, cq: ClusterQueue) -> bool:
    """Whether the pods of a podset need places."""
    return is_explicitly_requesting_tas(podset) or cq.is_tas_only()


def check_podset_and_flavor_match(
    cq: ClusterQueue, podset: ReadOnlyTree, flavor: ReadOnlyTree, covered_resources: Collection[str],
) -> str | None:
    """Why a flavor cannot serve a podset; None where it can.

    ``covered_resources`` are those of the flavor's group. Upstream:
    checkPodSetAndFlavorMatchForTAS.
    """
    name = flavor["metadata"]["name"]
    has_topology = (flavor.get("spec") or meta.EMPTY).get("topologyName") is not None
    if not is_tas_requested(podset, cq):
        return f"Flavor {go_quote(name)} supports only TopologyAwareScheduling" if has_topology else None
    if is_tas_implied(podset, cq):
        return None
    if not has_topology:
        # it may still have quota for what resources stand for
        asked = resources.requests_from_pod_spec(podset["template"]["spec"])
        overlaps = any(resource in covered_resources for resource in asked)
        return f"Flavor {go_quote(name)} does not support TopologyAwareScheduling" if overlaps else None
    snapshot = cq.tas_flavors.get(name)
    if snapshot is None:
        return f"Flavor {go_quote(name)} information missing in TAS cache"
    if not snapshot.has_level(podset.get("topologyRequest")):
        return f"Flavor {go_quote(name)} does not contain the requested level"
    return None


def needs_places(assigned: PodSetAssignment, podset: ReadOnlyTree, workload: ReadOnlyTree, cq: ClusterQueue) -> bool:
    """Whether a podset needs places: it has none yet, or some on nodes that failed."""
    if not is_tas_requested(podset, cq) or not assigned.count:
        return False
    if assigned.topology_assignment is None:
        return True
    unhealthy = states.unhealthy_node_names(workload)
    return bool(unhealthy) and any(each.values[-1] in unhealthy for each in assigned.topology_assignment.domains)


def topology_request_of(
    assigned: PodSetAssignment, flavors: Iterable[str], podset: ReadOnlyTree, workload: ReadOnlyTree, cq: ClusterQueue,
    features: Features, replaced: ReadOnlyTree | None = None,
) -> TASPodSetRequests | None:
    """The places that the pods of a podset need in the flavors that are assigned to it; None where
    they are found later: on another cluster, or on nodes that are yet to come. The assignment then
    says that it is pending.

    ``replaced`` is the Workload whose slice this one takes over. Raises TASError. Upstream: the
    body of WorkloadsTopologyRequests, podSetTopologyRequest.
    """
    previous = None
    if features.ElasticJobsViaWorkloadSlicesWithTAS and states.is_elastic_workload(workload, features):
        request = podset.get("topologyRequest") or meta.EMPTY
        for level in ("required", "preferred"):
            if request.get(level) is not None:
                raise TASError(ELASTIC.format(level))
        previous = _previous_assignment(replaced, podset["name"])
    if not cq.tas_flavors:
        raise TASError(NO_CACHE)
    flavor = only_tas_flavor(flavors, cq.tas_flavors)
    if cq.has_multikueue_admission_check() or (
        not states.has_quota_reservation(workload) and cq.has_prov_request_admission_check(flavor)
    ):
        assigned.delayed_topology_request = "Pending"
        return None
    updates = [
        update for check in states.status_of(workload).get("admissionChecks") or () if check["state"] == "Ready"
        for update in check.get("podSetUpdates") or () if update["name"] == podset["name"]]
    return TASPodSetRequests(
        podset, resources.requests_from_pod_spec(podset["template"]["spec"]), assigned.count, flavor, updates,
        is_tas_implied(podset, cq), (podset.get("topologyRequest") or meta.EMPTY).get("podSetGroupName"), previous)


def only_tas_flavor(flavors: Iterable[str], tas_flavors: Mapping[str, TASFlavorSnapshot]) -> str:
    """The one flavor with a topology of those assigned. Raises TASError for none, or several."""
    found = sorted({flavor for flavor in flavors if flavor in tas_flavors})
    if not found:
        raise TASError(NO_FLAVOR)
    if len(found) > 1:
        raise TASError(f"more than one TAS flavor assigned: {', '.join(found)}")
    return found[0]


def find_topology_assignments_for_workload(
    tas_flavors: Mapping[str, TASFlavorSnapshot], requests: Mapping[str, Sequence[TASPodSetRequests]], *,
    simulate_empty: bool = False, workload: ReadOnlyTree | None = None,
) -> TASAssignmentsResult:
    """Where the pods of all podsets go, by the flavors that they need places in.

    What is taken of a node in one flavor is taken in all (gate TASHandleOverlappingFlavors).
    """
    result, shared = TASAssignmentsResult(), Usages()
    for flavor in sorted(requests):
        snapshot = tas_flavors[flavor]
        shares = snapshot.features.TASHandleOverlappingFlavors and snapshot.is_lowest_level_node
        found = find_topology_assignments_for_flavor(
            snapshot, requests[flavor], simulate_empty=simulate_empty, workload=workload,
            assumed_usage=shared if shares else None)
        for name, each in found.items():
            result[name] = each.of_flavor(flavor)
    return result


def net_usage(
    assigned: Iterable[tuple[PodSetAssignment, Iterable[str]]], workload: ReadOnlyTree,
    tas_flavors: Mapping[str, TASFlavorSnapshot], admission: ReadOnlyTree | None = None,
) -> TASUsage:
    """What assignments, each with its flavors, take of domains, less those that the admission has
    already. Upstream: ComputeTASNetUsage.
    """
    podsets = {each["name"]: each for each in workload["spec"]["podSets"]}
    before = () if admission is None else admission["podSetAssignments"]
    result: TASUsage = {}
    for place, (each, flavors) in enumerate(assigned):
        has_places = place < len(before) and before[place].get("topologyAssignment") is not None
        if each.topology_assignment is None or has_places or each.name not in podsets:
            continue
        try:
            flavor = only_tas_flavor(flavors, tas_flavors)
        except TASError:
            continue
        single = resources.requests_from_pod_spec(podsets[each.name]["template"]["spec"])
        result.setdefault(flavor, []).extend(_domain_requests(each.topology_assignment, single))
    return result


def _domain_requests(assignment: TopologyAssignment, single: resources.Requests) -> Iterator[TopologyDomainRequests]:
    return (TopologyDomainRequests(each.values, single, each.count) for each in assignment.domains)


def _previous_assignment(replaced: ReadOnlyTree | None, name: str) -> ReadOnlyTree | None:
    admission = states.admission(replaced) if replaced is not None else None
    listed: Sequence[ReadOnlyTree] = (admission or meta.EMPTY).get("podSetAssignments") or ()
    return next((each.get("topologyAssignment") for each in listed if each["name"] == name), None)
