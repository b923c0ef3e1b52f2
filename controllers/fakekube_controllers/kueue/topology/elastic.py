"""Places of an elastic job that changes its size (gate ElasticJobsViaWorkloadSlicesWithTAS): pods
that are there stay, new ones get places besides them, the last go first.

Upstream: pkg/cache/scheduler/tas_elastic_workloads.go.
"""

from dataclasses import replace

from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment
from fakekube_controllers.kueue.topology.parameters import NoFit
from fakekube_controllers.kueue.topology.snapshot import (
    PodSetAssignmentResult,
    TASFlavorSnapshot,
    TASPodSetRequests,
    Usages,
    assume,
)

Results = dict[str, PodSetAssignmentResult]


def place(
    snapshot: TASFlavorSnapshot, workers: TASPodSetRequests, leader: TASPodSetRequests | None, assumed: Usages, *,
    simulate_empty: bool,
) -> Results | None:
    """The places of a slice that replaces another; None where there is none, or a domain of it is
    gone.
    """
    previous = assignments.internal_from(workers.previous_assignment)
    if previous is None or snapshot.stale_domain(previous):
        return None
    leads = None if leader is None else assignments.internal_from(leader.previous_assignment)
    if leads is not None and snapshot.stale_domain(leads):
        return None
    before = assignments.count_pods(previous)
    if workers.count > before:
        return _scale_up(snapshot, workers, leader, previous, leads, before, assumed, simulate_empty=simulate_empty)
    kept = previous if workers.count == before else assignments.truncate(previous, workers.count)
    assume(assumed, kept, workers)
    result = {workers.name: PodSetAssignmentResult(kept)}
    if leader is not None:
        result[leader.name] = PodSetAssignmentResult(leads)
        if leads is not None:
            assume(assumed, leads, leader)
    return result


def _scale_up(
    snapshot: TASFlavorSnapshot, workers: TASPodSetRequests, leader: TASPodSetRequests | None, previous: TopologyAssignment,
    leads: TopologyAssignment | None, before: int, assumed: Usages, *, simulate_empty: bool,
) -> Results:
    assume(assumed, previous, workers)
    placed_leader = leader
    if leader is not None and leads is not None:
        assume(assumed, leads, leader)
        placed_leader = None
    more = replace(workers, count=workers.count - before, previous_assignment=None)
    try:
        placed = snapshot.place(more, placed_leader, assumed, simulate_empty=simulate_empty)
    except NoFit as error:
        return {workers.name: PodSetAssignmentResult(failure_reason=str(error))}
    result = {workers.name: PodSetAssignmentResult(snapshot.merged(placed[workers.name], previous))}
    if leader is not None:
        result[leader.name] = PodSetAssignmentResult(leads if leads is not None else placed[leader.name])
        if leads is None:
            assume(assumed, placed[leader.name], leader)
    assume(assumed, placed[workers.name], workers)
    return result
