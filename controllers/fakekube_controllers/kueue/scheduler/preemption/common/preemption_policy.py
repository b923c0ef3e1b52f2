"""Whom a Workload may preempt. Upstream: preemption/common/preemption_policy.go,
findCandidatesForPolicy and WorkloadUsesResources.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.scheduler.preemption.common.ordering import eviction_order
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.resources import FlavorResource
    from fakekube_controllers.kueue.workload.info import Info, Ordering

NEVER, LOWER_PRIORITY, LOWER_OR_NEWER_EQUAL_PRIORITY, ANY = "Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"
TIMESTAMP_PREEMPTION_BUFFER_SECONDS = 300


def preemption_policy(preemptor: ReadOnlyTree, ordering: "Ordering", policy: str) -> "Callable[[Info], bool]":
    """Whom a policy of a ClusterQueue (``withinClusterQueue``, ``reclaimWithinCohort``) lets a
    Workload preempt. Upstream: SatisfiesPreemptionPolicy.
    """
    if policy == ANY:
        return _everybody
    features, own = ordering.features, effective_priority(preemptor, ordering.features)
    if policy == LOWER_PRIORITY:
        return lambda candidate: eviction_order(candidate, features)[1] < own
    if policy != LOWER_OR_NEWER_EQUAL_PRIORITY:
        return _nobody
    after = ordering.queue_order_timestamp(preemptor)
    if features.SchedulerTimestampPreemptionBuffer:
        after += TIMESTAMP_PREEMPTION_BUFFER_SECONDS

    def is_lower_or_newer(candidate: "Info") -> bool:
        priority = eviction_order(candidate, features)[1]
        return priority < own or (priority == own and ordering.queue_order_timestamp(candidate.obj) > after)

    return is_lower_or_newer


def _everybody(_: "Info") -> bool:
    return True


def _nobody(_: "Info") -> bool:
    return False


def candidates_for_policy(
    preemptor: ReadOnlyTree, cq: "ClusterQueueSnapshot", policy: str, frs_need_preemption: "Collection[FlavorResource]",
    ordering: "Ordering",
) -> "Iterator[Info]":
    """The Workloads of a ClusterQueue that a policy lets a preemptor preempt, and that hold any of
    what is needed.
    """
    if policy == NEVER:
        return
    may_preempt = preemption_policy(preemptor, ordering, policy)
    for info in cq.workloads.values():
        if may_preempt(info) and workload_uses_resources(info, frs_need_preemption):
            yield info


def workload_uses_resources(info: "Info", frs_need_preemption: "Collection[FlavorResource]") -> bool:
    """Whether a Workload holds one of these resources in that flavor."""
    return any(
        requests.flavors.get(resource) == flavor for requests in info.total_requests for flavor, resource in frs_need_preemption)
