"""Types and reasons of the conditions of a Workload, and states of admission checks.

Upstream: apis/kueue/v1beta2/workload_types.go, admissioncheck_types.go.
"""

from typing import Literal

# types of conditions
QUOTA_RESERVED = "QuotaReserved"
ADMITTED = "Admitted"
FINISHED = "Finished"
PODS_READY = "PodsReady"
EVICTED = "Evicted"
PREEMPTED = "Preempted"
REQUEUED = "Requeued"
DEACTIVATION_TARGET = "DeactivationTarget"
WAITING_FOR_REPLACEMENT_PODS = "WaitingForReplacementPods"
BLOCKED_ON_PREEMPTION_GATES = "BlockedOnPreemptionGates"

# why quota is not reserved
PENDING = "Pending"
INADMISSIBLE = "Inadmissible"
WAITING = "Waiting"
ON_HOLD = "OnHold"
ADMISSION_GATED = "AdmissionGated"
PREEMPTION_GATED = "PreemptionGated"

# the same, with the gate UnadmittedWorkloadsObservability
NO_MATCHING_FLAVOR = "NoMatchingFlavor"
WAITING_FOR_QUOTA = "WaitingForQuota"
EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
WAITING_FOR_PREEMPTED_WORKLOADS = "WaitingForPreemptedWorkloads"
MISCONFIGURED = "Misconfigured"
SUSPENDED = "Suspended"
PENDING_EVALUATION = "PendingEvaluation"
WAITING_FOR_PODS_READY = "WaitingForPodsReady"

# why a Workload is not admitted
NO_RESERVATION = "NoReservation"
UNSATISFIED_ADMISSION_CHECKS = "UnsatisfiedAdmissionChecks"
PENDING_DELAYED_TOPOLOGY_REQUESTS = "PendingDelayedTopologyRequests"

# why it is evicted
EVICTED_BY_PREEMPTION = "Preempted"
EVICTED_BY_FLAVOR_MIGRATION = "FlavorMigration"
EVICTED_BY_PODS_READY_TIMEOUT = "PodsReadyTimeout"
EVICTED_BY_ADMISSION_CHECK = "AdmissionCheck"
EVICTED_BY_CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
EVICTED_BY_LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
EVICTED_DUE_TO_NODE_FAILURES = "NodeFailures"
EVICTED_ON_MANAGER_CLUSTER = "EvictedOnManagerCluster"
DEACTIVATED = "Deactivated"

# why it is preempted
IN_CLUSTER_QUEUE = "InClusterQueue"
IN_COHORT_RECLAMATION = "InCohortReclamation"
IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"

# why it is queued again
REACTIVATED = "Reactivated"
BACKOFF_FINISHED = "BackoffFinished"
CLUSTER_QUEUE_RESTARTED = "ClusterQueueRestarted"
LOCAL_QUEUE_RESTARTED = "LocalQueueRestarted"

# why it is to be deactivated
REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
MAXIMUM_EXECUTION_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"

# of PodsReady
WAIT_FOR_START = "WaitForStart"
WAIT_FOR_RECOVERY = "WaitForRecovery"
STARTED = "Started"
RECOVERED = "Recovered"

# why it is finished
SUCCEEDED = "Succeeded"
FAILED = "Failed"
OUT_OF_SYNC = "OutOfSync"
OWNER_NOT_FOUND = "OwnerNotFound"
SLICE_REPLACED = "WorkloadSliceReplaced"

CheckState = Literal["Pending", "Ready", "Retry", "Rejected"]
"""Of an admission check of a Workload."""
CHECK_PENDING: CheckState = "Pending"
CHECK_READY: CheckState = "Ready"
CHECK_RETRY: CheckState = "Retry"
CHECK_REJECTED: CheckState = "Rejected"


def reason_with_cause(reason: str, underlying_cause: str) -> str:
    """``DeactivatedDueToAdmissionCheck``, say."""
    return f"{reason}DueTo{underlying_cause}"
