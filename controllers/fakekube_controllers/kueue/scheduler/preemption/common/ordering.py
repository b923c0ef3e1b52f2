"""In what order Workloads are tried as victims. Upstream: preemption/common/ordering.go."""

from typing import TYPE_CHECKING

from fakekube.apimachinery import times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.features import Features
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
    features = ordering.features

    def key(info: "Info") -> CandidateKey:
        is_running, priority, reserved_at, uid = eviction_order(info, features)
        return is_running, info.cluster_queue == cluster_queue, priority, -(now if reserved_at is None else reserved_at), uid

    return key


def eviction_order(info: "Info", features: Features) -> tuple[bool, int, float | None, str]:
    """What of a Workload alone decides when it is tried: whether it is not evicted yet, its
    priority, when it got its quota in Unix seconds (None: it has none), its UID.

    Found once, as each may be a candidate of many preemptors.
    """
    found = info.eviction_order
    if found is None:
        found = info.eviction_order = (
            not states.is_evicted(info.obj), effective_priority(info.obj, features), _quota_reservation_time(info.obj),
            info.obj["metadata"].get("uid", ""))
    return found


def _quota_reservation_time(workload: ReadOnlyTree) -> float | None:
    condition = states.condition(workload, reasons.QUOTA_RESERVED)
    if condition is None or condition["status"] != "True":
        return None
    return times.parse_time(condition["lastTransitionTime"])
