"""The search for flavors: for each podset and each group of resources, the first flavor that is
good enough, or the best of all.

Upstream: pkg/scheduler/flavorassigner/flavorassigner.go. Left out: flavors that variants of
concurrent admission are restricted to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.cache.resource_node import ResourceGroup
from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import PODS, FlavorResource, FlavorResourceQuantities, Requests
from fakekube_controllers.kueue.scheduler.flavorassigner import attempts, fitting, granular
from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import (
    IGNORE_UNDECLARED,
    Assignment,
    FlavorAssignment,
    FlavorAssignmentAttempt,
    PodSetAssignment,
    ResourceAssignment,
    Status,
)
from fakekube_controllers.kueue.scheduler.flavorassigner.granular import GranularMode, PreemptionMode
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.topology import flavorassigner as tas
from fakekube_controllers.kueue.topology.assignments import internal_from
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, PodSetResources


@dataclass(slots=True)
class _PodSet:
    """A podset that is assigned flavors, and its place among all."""

    index: int
    assigned: PodSetAssignment


@dataclass(slots=True)
class _Found:
    """Flavors for the resources of one group, what stands in the way, and what was tried."""

    flavors: ResourceAssignment
    status: Status
    considered: Sequence[FlavorAssignmentAttempt] = ()


@dataclass(slots=True)
class _Tried:
    """One flavor for the resources of one group: the worst mode and all that stands in the way."""

    flavors: ResourceAssignment
    mode: GranularMode
    borrow: int
    reasons: list[str]
    no_fit_reason: str


class FlavorAssigner(NamedTuple):
    """Finds assignments of one Workload in one cycle.

    ``replace_workload_slice`` is the slice that the Workload takes over: its flavors are kept, and
    only what is asked for more is looked for.
    """

    info: Info
    cq: ClusterQueueSnapshot
    resource_flavors: Mapping[str, ReadOnlyTree]
    enable_fair_sharing: bool
    oracle: fitting.Oracle
    replace_workload_slice: Info | None
    quota_check_strategy: str
    scheduling_cycle: int
    features: Features

    def assign(self, counts: Sequence[int] | None = None) -> Assignment:
        """Flavors for all podsets, of so many pods each: of all if nothing is said.

        Ends with the first group of podsets that gets none.
        """
        assignment = Assignment(
            self.features, self.quota_check_strategy,
            AssignmentClusterQueueState(
                [], self.cq.allocatable_resource_generation, self.scheduling_cycle, self.info.scheduling_hash),
            self.replace_workload_slice)
        found = all(self._assign_group(assignment, group) for group in self._groups(counts))
        if found and assignment.representative_mode() != FlavorAssignmentMode.NO_FIT and self.features.TopologyAwareScheduling:
            self._assign_places(assignment)
        if self.features.UnadmittedWorkloadsObservability:
            attempts.resolve_no_fit_reason(assignment, self.cq)
        return assignment

    # -- podsets --------------------------------------------------------------------------------

    def _groups(self, counts: Sequence[int] | None) -> list[list[_PodSet]]:
        """The podsets; those that name the same group get the same flavors."""
        result: dict[str, list[_PodSet]] = {}
        for index, podset in enumerate(self.info.total_requests):
            scaled = podset.scaled_to(counts[index]) if counts else podset
            request = self.info.obj["spec"]["podSets"][index].get("topologyRequest") or NOTHING
            result.setdefault(request.get("podSetGroupName") or str(index), []).append(
                _PodSet(index, self._without_flavors(index, scaled)))
        return list(result.values())

    def _without_flavors(self, index: int, podset: PodSetResources) -> PodSetAssignment:
        """What is to be assigned; what the first pass of the scheduler assigned already stays."""
        requests = dict(podset.requests)
        if self.cq.rg_by_resource(PODS) is not None:
            requests[PODS] = podset.count
        result = PodSetAssignment(podset.name, {}, requests, podset.count)
        if self.features.TopologyAwareScheduling:
            result.flavors = {name: FlavorAssignment(flavor, FlavorAssignmentMode.FIT) for name, flavor in podset.flavors.items()}
            result.delayed_topology_request = podset.delayed_topology_request
            if podset.topology_request is not None:
                admission = self.info.obj["status"]["admission"]
                result.topology_assignment = internal_from(admission["podSetAssignments"][index]["topologyAssignment"])
        return result

    def _assign_group(self, assignment: Assignment, group: Sequence[_PodSet]) -> bool:
        """Whether all podsets of a group got their flavors."""
        requests = resources.total(podset.assigned.requests for podset in group)
        considered: attempts.Considered = {}
        flavors: ResourceAssignment = {}
        for podset in group:
            flavors.update(podset.assigned.flavors)
        status = Status()
        for name in resources.in_order(requests):
            if self._is_ignored(name, requests[name]) or name in flavors:
                continue
            found = self._find_flavor([podset.index for podset in group], requests, name, assignment.usage.quota)
            attempts.merge_for_resource(considered, found.considered, name, self.cq)
            if found.status.err or not found.flavors:
                flavors, status = {}, found.status
                break
            flavors.update(found.flavors)
            status.reasons += found.status.reasons
        tried, has_all = attempts.finalized(considered), True
        for podset in group:
            assigned = podset.assigned
            assigned.flavors = self._resolved(podset, flavors)
            assigned.status = Status(list(status.reasons), status.err, status.no_fit_reason)
            assigned.flavor_assignment_attempts = tried
            assignment.append(assigned.requests, assigned)
            has_all = has_all and not assigned.status.err and (bool(assigned.flavors) or not assigned.requests)
        return has_all

    def _is_ignored(self, resource: str, amount: int) -> bool:
        """Whether a resource needs no quota: the queue does not declare it, and nothing of it is
        asked for, or the configuration says so.
        """
        if self.cq.rg_by_resource(resource) is not None:
            return False
        return not amount or (self.features.QuotaCheckStrategy and self.quota_check_strategy == IGNORE_UNDECLARED)

    def _resolved(self, podset: _PodSet, flavors: ResourceAssignment) -> ResourceAssignment:
        """The flavors of the group for what a podset requests. One that requests nothing takes the
        flavors with a topology, so that it can be placed with the others.
        """
        if podset.assigned.requests:
            return {name: assigned for name, assigned in flavors.items() if name in podset.assigned.requests}
        request = self.info.obj["spec"]["podSets"][podset.index].get("topologyRequest") or NOTHING
        if request.get("podSetGroupName") is None:
            return {}
        return {name: assigned for name, assigned in flavors.items() if assigned.name in self.cq.tas_flavors}

    # -- flavors --------------------------------------------------------------------------------

    def _find_flavor(
        self, indexes: Sequence[int], requests: Requests, resource: str, usage: FlavorResourceQuantities,
    ) -> _Found:
        """A flavor for all resources in the group of one. ``usage`` is what podsets before take."""
        group = self.cq.rg_by_resource(resource)
        if group is None:
            return _Found({}, Status([f"resource {resource} unavailable in ClusterQueue"]))
        wanted = {name: requests[name] for name in resources.in_order(requests) if name in group.covered_resources}
        found, considered = _Found({}, Status()), list[FlavorAssignmentAttempt]()
        best, attempted = granular.WORST, -1
        for index in range(self._first_flavor(indexes[0], resource), len(group.flavors)):
            attempted, flavor = index, group.flavors[index]
            if self._is_not_nominated(flavor, indexes, resource):
                found.status.reasons.append(
                    f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}")
                continue
            reason = self._mismatch(flavor, indexes, group)
            if reason:
                found.status.reasons.append(reason)
                considered.append(FlavorAssignmentAttempt(
                    flavor, FlavorAssignmentMode.NO_FIT, reasons=[reason], no_fit_reason=attempts.NO_MATCHING_FLAVOR))
                continue
            tried = self._try(flavor, indexes, wanted, usage)
            found.status.reasons += tried.reasons
            considered.append(_attempt(flavor, tried))
            is_enough = self._is_enough(tried.mode)
            if is_enough or self._is_better(tried.mode, best):
                best, found.flavors = tried.mode, tried.flavors
            if is_enough:
                break
        found.considered = considered
        if self.features.FlavorFungibility:
            for assigned in found.flavors.values():
                assigned.tried_flavor_idx = -1 if attempted == len(group.flavors) - 1 else attempted
        if best.preemption_mode == PreemptionMode.FIT:
            found.status = Status()
        return found

    def _first_flavor(self, podset: int, resource: str) -> int:
        last = self.info.last_assignment
        return last.next_flavor_to_try(podset, resource) if last is not None and self.features.FlavorFungibility else 0

    def _is_enough(self, mode: GranularMode) -> bool:
        """Whether the search ends with this flavor."""
        if self.features.FlavorFungibility:
            return not granular.should_try_next_flavor(mode, self.cq.flavor_fungibility)
        return mode.preemption_mode == PreemptionMode.FIT

    def _is_better(self, mode: GranularMode, best: GranularMode) -> bool:
        if self.features.FlavorFungibility:
            return granular.is_preferred(mode, best, self.cq.flavor_fungibility)
        return mode.preemption_mode > best.preemption_mode

    def _is_not_nominated(self, flavor: str, indexes: Sequence[int], resource: str) -> bool:
        """Whether this is the second look within a cycle, and the first chose other flavors."""
        nominated, features = self.info.nomination_mapping, self.features
        recomputes = features.RecomputeAssignmentUponPreemptionTargetsOverlap or (
            features.TopologyAwareScheduling and features.TASRecomputeAssignmentWithinSchedulingCycle)
        if not nominated or not recomputes:
            return False
        podsets = self.info.obj["spec"]["podSets"]
        return not any(nominated.get(podsets[index]["name"], NOTHING).get(resource, "") == flavor for index in indexes)

    def _mismatch(self, name: str, indexes: Sequence[int], group: ResourceGroup) -> str:
        """Why a flavor cannot serve the podsets; empty if it can."""
        flavor = self.resource_flavors.get(name)
        if flavor is None:
            return f"flavor {name} not found"
        for index in indexes:
            podset = self.info.obj["spec"]["podSets"][index]
            if self.features.TopologyAwareScheduling:
                reason = tas.check_podset_and_flavor_match(self.cq, podset, flavor, group.covered_resources)
                if reason is not None:
                    return reason
            if reason := fitting.mismatch(flavor, podset["template"]["spec"]):
                return reason
        return ""

    def _try(
        self, flavor: str, indexes: Sequence[int], wanted: Requests, usage: FlavorResourceQuantities,
    ) -> _Tried:
        """What becomes of all resources of a group in one flavor."""
        tried = _Tried({}, granular.BEST, 0, [], "")
        for name, asked in wanted.items():
            amount = asked
            if self.features.ElasticJobsViaWorkloadSlices and self.replace_workload_slice is not None:
                amount = self._more_than_replaced(flavor, indexes, name, asked, self.replace_workload_slice, tried)
            fr = FlavorResource(flavor, name)
            fit = fitting.fits_resource_quota(
                self.cq, self.info, self.oracle, fr, usage.get(fr, 0), amount, is_fair_sharing=self.enable_fair_sharing)
            if fit.text:
                tried.reasons.append(fit.text)
                tried.no_fit_reason = attempts.most_severe_reason(tried.no_fit_reason, fit.no_fit_reason)
            tried.borrow = max(tried.borrow, fit.borrow)
            mode = GranularMode(fit.mode, fit.borrow)
            if granular.is_preferred(tried.mode, mode, self.cq.flavor_fungibility):
                tried.mode = mode
            if tried.mode.preemption_mode != PreemptionMode.NO_FIT:
                tried.flavors[name] = FlavorAssignment(flavor, fit.mode.flavor_assignment_mode, borrow=fit.borrow)
        return tried

    def _more_than_replaced(
        self, flavor: str, indexes: Sequence[int], resource: str, amount: int, replaced: Info, tried: _Tried,
    ) -> int:
        """What is asked for more than the replaced slice has; its flavor must be the same."""
        for index in indexes:
            if index >= len(replaced.total_requests):
                continue
            before = replaced.total_requests[index]
            original = before.flavors.get(resource, "")
            if original != flavor:
                tried.mode = granular.WORST
                tried.reasons.append(
                    f"couldn't change flavor from: {original} to: {flavor}" if self.features.KEPTexts
                    else f"could not assign {flavor} flavor since the original workload is assigned: {original}")
                tried.no_fit_reason = attempts.most_severe_reason(tried.no_fit_reason, attempts.NO_MATCHING_FLAVOR)
                break
            amount -= before.requests.get(resource, 0)
        return amount

    # -- places ---------------------------------------------------------------------------------

    def _assign_places(self, assignment: Assignment) -> None:
        """Find domains for the pods; if there are none, whether there would be without others."""
        requests = assignment.workloads_topology_requests(self.info, self.cq)
        if assignment.representative_mode() == FlavorAssignmentMode.FIT:
            result = tas.find_topology_assignments_for_workload(self.cq.tas_flavors, requests, workload=self.info.obj)
            failure = result.failure()
            if failure is None:
                assignment.update_for_tas_result(self.cq, self.info, result)
            else:
                failed = assignment.pod_set_by_name(failure.podset_name)
                assert failed is not None, "places were asked for podsets of the assignment"
                failed.status.reasons.append(failure.reason)
                assignment.update_mode(failure.podset_name, FlavorAssignmentMode.PREEMPT)
        # who looks for another node in place of one that failed preempts nobody
        if assignment.representative_mode() == FlavorAssignmentMode.PREEMPT and not states.unhealthy_node_names(self.info.obj):
            self._assign_places_of_empty(assignment, requests)

    def _assign_places_of_empty(self, assignment: Assignment, requests: tas.WorkloadTASRequests) -> None:
        result = tas.find_topology_assignments_for_workload(
            self.cq.tas_flavors, requests, simulate_empty=True, workload=self.info.obj)
        failure = result.failure()
        if failure is None:
            # where quota is left its domains may still be too small
            for each in (request for listed in requests.values() for request in listed):
                assignment.update_mode(each.name, FlavorAssignmentMode.PREEMPT)
            return
        failed = assignment.pod_set_by_name(failure.podset_name)
        assert failed is not None, "places were asked for podsets of the assignment"
        if self.features.UnadmittedWorkloadsObservability:
            for attempt in failed.flavor_assignment_attempts:
                if attempt.flavor == failure.flavor:
                    attempt.mode, attempt.no_fit_reason = FlavorAssignmentMode.NO_FIT, attempts.TOPOLOGY_PLACEMENT_FAILED
                    break
        assignment.update_mode(failure.podset_name, FlavorAssignmentMode.NO_FIT)


def _attempt(flavor: str, tried: _Tried) -> FlavorAssignmentAttempt:
    mode = tried.mode.preemption_mode
    return FlavorAssignmentAttempt(
        flavor, mode.flavor_assignment_mode, tried.borrow, mode.preemption_possibility, sorted(tried.reasons),
        tried.no_fit_reason)
