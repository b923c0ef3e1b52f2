"""Why the scheduler puts a head back into its queue. Upstream: pkg/cache/queue/cluster_queue.go."""

from enum import Enum


class RequeueReason(Enum):
    """It decides whether the Workload is tried again at once, or when something has changed."""

    GENERIC = ""
    FAILED_AFTER_NOMINATION = "FailedAfterNomination"
    NAMESPACE_MISMATCH = "NamespaceMismatch"
    PREEMPTION_GATED = "PreemptionGated"
    PENDING_PREEMPTION = "PendingPreemption"
    PENDING_MIGRATION = "PendingMigration"
    PREEMPTION_FAILED = "PreemptionFailed"
    NO_FIT = "NoFit"
    PREEMPTION_NO_CANDIDATES = "PreemptionNoCandidates"


IMMEDIATE = frozenset({
    RequeueReason.FAILED_AFTER_NOMINATION, RequeueReason.PENDING_PREEMPTION, RequeueReason.PENDING_MIGRATION,
    RequeueReason.PREEMPTION_FAILED,
})
"""Those after which a BestEffortFIFO queue tries the Workload again at once."""
STICKY = frozenset({RequeueReason.PENDING_PREEMPTION, RequeueReason.PENDING_MIGRATION})
"""Those after which it stays first in a BestEffortFIFO queue."""
WHOLE_CLASS = frozenset({RequeueReason.NO_FIT, RequeueReason.PREEMPTION_NO_CANDIDATES})
"""Those that hold for every Workload of the same shape."""
