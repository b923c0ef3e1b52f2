"""In what order Workloads are tried as victims. Upstream: preemption/common/ordering.go."""

from typing import TYPE_CHECKING

from fakekube.apimachinery import times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.workload import reasons, states
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube_controllers.kueue.workload.info import Info, Ordering

CandidateKey = tuple[bool, bool, int, float, str]


def candidates_ordering(ordering: "Ordering", cluster_queue: str, now: float) -> "Callable[[Info], CandidateKey]":
    """A key to sort by: those that are evicted already, those of other ClusterQueues than the
    preemptor's ``cluster_queue``, those of lower priority, those that reserved their quota last.

    ``now`` in Unix seconds counts as the time of a reservation that is not there yet.
    """

    def key(info: "Info") -> CandidateKey:
        return (
            not states.is_evicted(info.obj), info.cluster_queue == cluster_queue, effective_priority(info.obj, ordering.features),
            -quota_reservation_time(info.obj, now), info.obj["metadata"].get("uid", ""))

    return key


def quota_reservation_time(workload: ReadOnlyTree, now: float) -> float:
    """When a Workload reserved its quota, in Unix seconds; ``now`` if it has none."""
    condition = states.condition(workload, reasons.QUOTA_RESERVED)
    if condition is None or condition["status"] != "True":
        return now
    return times.parse_time(condition["lastTransitionTime"])
