"""What the search for flavors found: for each podset the flavors of its resources, and what must
happen before they can be had.

Upstream: Assignment, PodSetAssignment, Status of pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, Requests
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility
from fakekube_controllers.kueue.topology import flavorassigner as tas
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment
from fakekube_controllers.kueue.topology.encoding import v1beta2_from
from fakekube_controllers.kueue.topology.flavorassigner import WorkloadTASRequests
from fakekube_controllers.kueue.topology.snapshot import TASAssignmentsResult
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, TASUsage, Usage

IGNORE_UNDECLARED = "IgnoreUndeclared"


@dataclass(slots=True)
class FlavorAssignment:
    """The flavor of one resource; ``borrow`` is how high up in the tree its quota comes from."""

    name: str
    mode: FlavorAssignmentMode
    tried_flavor_idx: int = 0
    borrow: int = 0


ResourceAssignment = dict[str, FlavorAssignment]
"""By resource."""


@dataclass(slots=True)
class FlavorAssignmentAttempt:
    """What became of trying one flavor: the worst over all resources."""

    flavor: str
    mode: FlavorAssignmentMode
    borrow: int = 0
    preemption_possibility: PreemptionPossibility | None = None
    reasons: Sequence[str] = ()
    no_fit_reason: str = ""


@dataclass(slots=True)
class Status:
    """Why flavors cannot be had at once; nothing for those that can."""

    reasons: list[str] = field(default_factory=list)
    err: str = ""
    no_fit_reason: str = ""

    def is_fit(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.err and not self.reasons

    def message(self) -> str:
        """The error, or all reasons by their texts."""
        return self.err or ", ".join(sorted(self.reasons))


@dataclass(slots=True, eq=False)
class PodSetAssignment:
    """Flavors of one podset. Without flavors nothing fits; without a status everything does.

    ``requests`` are those of all its pods, with ``pods`` where the queue counts them.
    """

    name: str
    flavors: ResourceAssignment
    requests: Requests
    count: int
    status: Status = field(default_factory=Status)
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: str | None = None
    flavor_assignment_attempts: Sequence[FlavorAssignmentAttempt] = ()

    def representative_mode(self) -> FlavorAssignmentMode:
        """The worst of all its flavors."""
        if self.status.is_fit():
            return FlavorAssignmentMode.FIT
        if self.status.err or not self.flavors:
            return FlavorAssignmentMode.NO_FIT
        return min(assigned.mode for assigned in self.flavors.values())

    def update_mode(self, mode: FlavorAssignmentMode) -> None:
        """Give all its flavors a mode."""
        for assigned in self.flavors.values():
            assigned.mode = mode

    def flavor_names(self) -> list[str]:
        """Its flavors, one a resource."""
        return [assigned.name for assigned in self.flavors.values()]

    def to_api(self, features: Features) -> Tree:
        """The entry of ``podSetAssignments``. A resource without flavor is not in it."""
        names = sorted(self.flavors)
        result: Tree = {"name": self.name, "count": self.count}
        if names:
            result["flavors"] = {name: self.flavors[name].name for name in names}
            result["resourceUsage"] = {name: resources.resource_quantity(name, self.requests.get(name, 0)) for name in names}
        if self.topology_assignment is not None:
            result["topologyAssignment"] = v1beta2_from(self.topology_assignment, features)
        if self.delayed_topology_request is not None:
            result["delayedTopologyRequest"] = self.delayed_topology_request
        return result


class Assignment:
    """See above.

    ``usage`` is what the Workload would take; for one that replaces a slice what it takes more.
    ``borrowing`` is the height of the smallest subtree that lends enough, 0 if none has to.
    ``no_fit_reason`` is told with the gate UnadmittedWorkloadsObservability alone.
    """

    def __init__(
        self, features: Features, quota_check_strategy: str, last_state: AssignmentClusterQueueState,
        replace_workload_slice: Info | None,
    ) -> None:
        self.pod_sets: list[PodSetAssignment] = []
        self.borrowing = 0
        self.usage = Usage({})
        self.last_state = last_state
        self.no_fit_reason = ""
        self.replace_workload_slice = replace_workload_slice
        self._features, self._quota_check_strategy = features, quota_check_strategy
        self._mode: FlavorAssignmentMode | None = None

    # -- what it says ---------------------------------------------------------------------------

    def representative_mode(self) -> FlavorAssignmentMode:
        """The worst of all podsets."""
        if not self.pod_sets:
            return FlavorAssignmentMode.NO_FIT
        if self._mode is None:
            self._mode = min(podset.representative_mode() for podset in self.pod_sets)
        return self._mode

    def set_representative_mode(self, mode: FlavorAssignmentMode) -> None:
        """Give everything a mode."""
        self._mode = mode
        for podset in self.pod_sets:
            podset.update_mode(mode)

    def borrows(self) -> int:
        """From how high up in the tree quota is borrowed; 0 if none is."""
        return self.borrowing

    def message(self) -> str:
        """Why it cannot be had at once, as the condition QuotaReserved tells."""
        parts = []
        for podset in self.pod_sets:
            if podset.status.err:
                return f"failed to assign flavors to pod set {podset.name}: {podset.status.err}"
            if not podset.status.is_fit():
                parts.append(f"couldn't assign flavors to pod set {podset.name}: {podset.status.message()}")
        return "; ".join(parts)

    def to_api(self) -> list[Tree]:
        """``podSetAssignments`` of an admission."""
        return [podset.to_api(self._features) for podset in self.pod_sets]

    def total_requests_for(self, info: Info) -> FlavorResourceQuantities:
        """What a Workload takes with this assignment: of as many pods as are admitted, and without
        what the slice that it replaces has.
        """
        usage: FlavorResourceQuantities = {}
        # podsets after one that got nothing are not assigned
        for index, (podset, assigned) in enumerate(zip(info.total_requests, self.pod_sets, strict=False)):
            count = assigned.count
            if self.replace_workload_slice is not None:
                count = podset.count - _count_of(self.replace_workload_slice, index)
            for name, amount in podset.scaled_to(count).requests.items():
                if not amount or name not in assigned.flavors:
                    continue  # nothing of it is asked for, or it is not declared and does not count
                fr = FlavorResource(assigned.flavors[name].name, name)
                usage[fr] = resources.add(usage.get(fr, 0), amount)
        return usage

    # -- as it is made --------------------------------------------------------------------------

    def append(self, requests: Requests, podset: PodSetAssignment) -> None:
        """Add the assignment of the next podset, and what it takes."""
        self._mode = None
        self.pod_sets.append(podset)
        tried: dict[str, int] = {}
        for name, assigned in podset.flavors.items():
            self.borrowing = max(self.borrowing, assigned.borrow)
            fr, amount = FlavorResource(assigned.name, name), requests.get(name, 0)
            if self._features.ElasticJobsViaWorkloadSlices and self.replace_workload_slice is not None:
                amount -= _request_of(self.replace_workload_slice, podset.name, name)
            self.usage.quota[fr] = resources.add(self.usage.quota.get(fr, 0), amount)
            tried[name] = assigned.tried_flavor_idx
        self.last_state.last_tried_flavor_idx.append(tried)

    def pod_set_by_name(self, name: str) -> PodSetAssignment | None:
        """The assignment of a podset."""
        return next((podset for podset in self.pod_sets if podset.name == name), None)

    def update_mode(self, name: str, mode: FlavorAssignmentMode) -> None:
        """Give a podset a mode, and the whole with it."""
        podset = self.pod_set_by_name(name)
        if podset is not None:
            podset.update_mode(mode)
            self._mode = mode

    # -- topologies -----------------------------------------------------------------------------

    def workloads_topology_requests(self, info: Info, cq: ClusterQueueSnapshot) -> WorkloadTASRequests:
        """The places that podsets still need, by flavor. What cannot be asked for is an error of
        its podset.
        """
        result: WorkloadTASRequests = {}
        replaced = self.replace_workload_slice
        for podset in info.obj["spec"]["podSets"]:
            assigned = self.pod_set_by_name(podset["name"])
            if assigned is None or assigned.status.err or not tas.needs_places(assigned, podset, info.obj, cq):
                continue
            try:
                request = tas.topology_request_of(
                    assigned, assigned.flavor_names(), podset, info.obj, cq, self._features,
                    None if replaced is None else replaced.obj)
            except tas.TASError as error:
                assigned.status.err, self._mode = str(error), None
                continue
            if request is not None:
                result.setdefault(request.flavor, []).append(request)
        return result

    def update_for_tas_result(self, cq: ClusterQueueSnapshot, info: Info, result: TASAssignmentsResult) -> None:
        """Take the places that were found."""
        for name, found in result.items():
            assigned = self.pod_set_by_name(name)
            if assigned is None:
                continue
            assigned.topology_assignment = found.topology_assignment
            if found.topology_assignment is not None and assigned.delayed_topology_request is not None:
                assigned.delayed_topology_request = "Ready"
        self.usage = self.usage._replace(tas=self.compute_tas_net_usage(cq, info, None))

    def compute_tas_net_usage(
        self, cq: ClusterQueueSnapshot, info: Info, admission: ReadOnlyTree | None,
    ) -> TASUsage:
        """What it takes of domains, besides what an admission has already."""
        return tas.net_usage(((podset, podset.flavor_names()) for podset in self.pod_sets), info.obj, cq.tas_flavors, admission)


def _count_of(replaced: Info, index: int) -> int:
    return replaced.total_requests[index].count if index < len(replaced.total_requests) else 0


def _request_of(replaced: Info, podset: str, resource: str) -> int:
    found: Mapping[str, int] = next((each.requests for each in replaced.total_requests if each.name == podset), NOTHING)
    return found.get(resource, 0)
