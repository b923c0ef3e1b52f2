"""Where the pods of all podsets of a Workload go in one flavor.

Upstream: FindTopologyAssignmentsForFlavor in pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Sequence

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.topology import elastic, replacement
from fakekube_controllers.kueue.topology.parameters import NoFit
from fakekube_controllers.kueue.topology.snapshot import (
    PodSetAssignmentResult,
    TASAssignmentsResult,
    TASFlavorSnapshot,
    TASPodSetRequests,
    Usages,
    assume,
)


def find_topology_assignments_for_flavor(
    snapshot: TASFlavorSnapshot, requests: Sequence[TASPodSetRequests], *, simulate_empty: bool = False,
    workload: ReadOnlyTree | None = None, assumed_usage: Usages | None = None,
) -> TASAssignmentsResult:
    """Where the pods of podsets go, the leader and the workers of a group together; after the first
    that has no place none is looked at.

    With ``simulate_empty`` as if no other Workload were there. A ``workload`` with unhealthy nodes
    gets others for these alone. ``assumed_usage`` is what the Workload takes in other flavors, to
    which is added what it takes here.
    """
    result, assumed = TASAssignmentsResult(), assumed_usage if assumed_usage is not None else {}
    groups: dict[str, list[TASPodSetRequests]] = {}
    for place, each in enumerate(requests):
        groups.setdefault(str(place) if each.podset_group_name is None else each.podset_group_name, []).append(each)
    unhealthy = workload is not None and (workload.get("status") or {}).get("unhealthyNodes")
    for members in groups.values():
        if workload is not None and unhealthy:
            found = replacement.replace_nodes(snapshot, members, workload, assumed)
        else:
            found = _place_group(snapshot, members, assumed, simulate_empty=simulate_empty)
        result.update(found)
        if result.failure() is not None:
            break
    return result


def _place_group(
    snapshot: TASFlavorSnapshot, members: Sequence[TASPodSetRequests], assumed: Usages, *, simulate_empty: bool,
) -> dict[str, PodSetAssignmentResult]:
    leader, workers = _leader_and_workers(members)
    if snapshot.features.ElasticJobsViaWorkloadSlicesWithTAS:
        found = elastic.place(snapshot, workers, leader, assumed, simulate_empty=simulate_empty)
        if found is not None:
            return found
    try:
        placed = snapshot.place(workers, leader, assumed, simulate_empty=simulate_empty)
    except NoFit as error:
        return {each.name: PodSetAssignmentResult(failure_reason=str(error)) for each in members}
    for each in members:
        if each.name in placed:
            assume(assumed, placed[each.name], each)
    return {each.name: PodSetAssignmentResult(placed.get(each.name)) for each in members}


def _leader_and_workers(members: Sequence[TASPodSetRequests]) -> tuple[TASPodSetRequests | None, TASPodSetRequests]:
    """Of the two podsets of a group that with fewer pods leads: of equal ones the second."""
    if len(members) == 1:
        return None, members[0]
    one, other = members[0], members[1]
    return (one, other) if other.count > one.count else (other, one)
