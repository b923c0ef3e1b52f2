"""What a simulated preemption came to. Upstream: preemption/common/types.go."""

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.workload.info import Info


class PreemptionPossibility(IntEnum):
    """The more, the better."""

    NO_CANDIDATES = 0
    PREEMPT = 1
    RECLAIM = 2
    """All victims are of other ClusterQueues."""

    def __str__(self) -> str:
        return ("NoCandidates", "Preempt", "Reclaim")[self]


class Target(NamedTuple):
    """A Workload that is to be evicted, why, and its ClusterQueue.

    ``reason`` is that of the condition Preempted. A slice that is replaced has neither.
    """

    workload_info: "Info"
    reason: str = ""
    workload_cq: "ClusterQueueSnapshot | None" = None
