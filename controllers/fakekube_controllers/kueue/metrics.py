"""Kueue's metrics, under upstream's names and labels.

What happens is counted where it happens; how things stand (``GAUGES``) is asked of the queues and
the cache when somebody reads the metrics (``core/gauges.py``). Upstream: pkg/metrics. Left out:
labels of a configuration's own (CustomMetricLabels), ``build_info``.
"""

from collections.abc import Mapping

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.metrics import Metrics
from fakekube_controllers.kueue.workload import states

ROLE = "leader"
"""There is one Kueue, and it leads."""

CLUSTER_QUEUE, LOCAL_QUEUE, ROLE_LABEL = ("cluster_queue",), ("name", "namespace"), ("replica_role",)
PRIORITY_CLASS, EVICTION = ("priority_class",), ("reason", "underlying_cause", "priority_class")
QUOTA = ("cohort", "cluster_queue", "flavor", "resource")

COUNTERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "admission_attempts_total": (("result",), "The total number of attempts to admit workloads."),
    "quota_reserved_workloads_total": (
        CLUSTER_QUEUE + PRIORITY_CLASS, "The total number of quota reserved workloads per 'cluster_queue'"),
    "local_queue_quota_reserved_workloads_total": (
        LOCAL_QUEUE + PRIORITY_CLASS, "The total number of quota reserved workloads per 'local_queue'"),
    "admitted_workloads_total": (
        CLUSTER_QUEUE + PRIORITY_CLASS, "The total number of admitted workloads per 'cluster_queue'"),
    "local_queue_admitted_workloads_total": (
        LOCAL_QUEUE + PRIORITY_CLASS, "The total number of admitted workloads per 'local_queue'"),
    "finished_workloads_total": (
        CLUSTER_QUEUE + PRIORITY_CLASS, "The total number of finished workloads per 'cluster_queue'"),
    "local_queue_finished_workloads_total": (
        LOCAL_QUEUE + PRIORITY_CLASS, "The total number of finished workloads per 'local_queue'"),
    "evicted_workloads_total": (CLUSTER_QUEUE + EVICTION, "The number of evicted workloads per 'cluster_queue'"),
    "local_queue_evicted_workloads_total": (LOCAL_QUEUE + EVICTION, "The number of evicted workloads per 'local_queue'"),
    "evicted_workloads_once_total": (CLUSTER_QUEUE + EVICTION, "The number of unique workload evictions per 'cluster_queue'"),
    "preempted_workloads_total": (
        ("preempting_cluster_queue", "reason"), "The number of preempted workloads per 'preempting_cluster_queue'"),
    "replaced_workload_slices_total": (CLUSTER_QUEUE, "The number of replaced workload slices per 'cluster_queue'"),
    "cohort_subtree_admitted_workloads_total": (
        ("cohort", *PRIORITY_CLASS), "The total number of admitted workloads per cohort's subtree"),
}


GATE_COUNTERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "pods_gated_total": ((), "The total number of pods that got the scheduling gate."),
    "pods_ungated_total": ((), "The total number of pods that got the scheduling gate removed."),
    "pods_rejected_total": ((), "The total number of pods that were deleted since their group had too many."),
}
"""Those of KEP-976, which no release has: behind the gate PodGateMetrics."""


def _exponential(count: int) -> tuple[float, ...]:
    return (1.0, *(2.5 * 2**step for step in range(count - 1)))


DEFAULT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
FOURTEEN = _exponential(14)

HISTOGRAMS: Mapping[str, tuple[tuple[str, ...], str, tuple[float, ...]]] = {
    "admission_attempt_duration_seconds": (("result",), "The latency of an admission attempt.", DEFAULT_BUCKETS),
    "quota_reserved_wait_time_seconds": (
        CLUSTER_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until it got quota reservation, per 'cluster_queue'", FOURTEEN),
    "local_queue_quota_reserved_wait_time_seconds": (
        LOCAL_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until it got quota reservation, per 'local_queue'", FOURTEEN),
    "admission_wait_time_seconds": (
        CLUSTER_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until admission, per 'cluster_queue'", _exponential(16)),
    "local_queue_admission_wait_time_seconds": (
        LOCAL_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until admission, per 'local_queue'", FOURTEEN),
    "admission_checks_wait_time_seconds": (
        CLUSTER_QUEUE + PRIORITY_CLASS,
        "The time from when a workload got the quota reservation until admission, per 'cluster_queue'", FOURTEEN),
    "local_queue_admission_checks_wait_time_seconds": (
        LOCAL_QUEUE + PRIORITY_CLASS,
        "The time from when a workload got the quota reservation until admission, per 'local_queue'", FOURTEEN),
    "ready_wait_time_seconds": (
        CLUSTER_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until ready, per 'cluster_queue'", FOURTEEN),
    "local_queue_ready_wait_time_seconds": (
        LOCAL_QUEUE + PRIORITY_CLASS,
        "The time between a workload was created or requeued until ready, per 'local_queue'", FOURTEEN),
    "admitted_until_ready_wait_time_seconds": (
        CLUSTER_QUEUE + PRIORITY_CLASS, "The time between a workload was admitted until ready, per 'cluster_queue'", FOURTEEN),
    "local_queue_admitted_until_ready_wait_time_seconds": (
        LOCAL_QUEUE + PRIORITY_CLASS, "The time between a workload was admitted until ready, per 'local_queue'", FOURTEEN),
    "workload_creation_latency_seconds": (
        ("job_kind",), "The time between a job was created until its workload was created, per 'job_kind'.",
        tuple(0.01 * 2**step for step in range(11))),
    "pod_scheduling_gate_removal_seconds": (
        ("name", "cluster_queue", "is_group"), "Duration from Workload admission to removal of a Pod scheduling gate.",
        DEFAULT_BUCKETS),
    "workload_eviction_latency_seconds": (
        (*CLUSTER_QUEUE, "reason"), "The time from workload eviction until the workload returns to Pending.", FOURTEEN),
    "pods_ready_to_evicted_time_seconds": (
        (*CLUSTER_QUEUE, "reason", "underlying_cause"),
        "The number of seconds between a workload's pods being ready and its eviction, per 'cluster_queue'", FOURTEEN),
}

GAUGES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "admission_cycle_preemption_skips": (
        CLUSTER_QUEUE, "The number of Workloads in the ClusterQueue that got preemption candidates but had to be skipped"),
    "pending_workloads": ((*CLUSTER_QUEUE, "status"), "The number of pending workloads, per 'cluster_queue' and 'status'."),
    "local_queue_pending_workloads": (
        (*LOCAL_QUEUE, "status"), "The number of pending workloads, per 'local_queue' and 'status'."),
    "finished_workloads": (CLUSTER_QUEUE, "The number of finished workloads per 'cluster_queue'."),
    "local_queue_finished_workloads": (LOCAL_QUEUE, "The number of finished workloads, per 'local_queue'."),
    "reserving_active_workloads": (CLUSTER_QUEUE, "The number of Workloads that are reserving quota, per 'cluster_queue'"),
    "local_queue_reserving_active_workloads": (
        LOCAL_QUEUE, "The number of Workloads that are reserving quota, per 'localQueue'"),
    "admitted_active_workloads": (
        CLUSTER_QUEUE, "The number of admitted Workloads that are active, per 'cluster_queue'"),
    "local_queue_admitted_active_workloads": (
        LOCAL_QUEUE, "The number of admitted Workloads that are active, per 'localQueue'"),
    "cluster_queue_status": ((*CLUSTER_QUEUE, "status"), "Reports 'cluster_queue' with its 'status'"),
    "local_queue_status": ((*LOCAL_QUEUE, "active"), "Reports 'localQueue' with its 'active' status"),
    "unadmitted_workloads": (
        (*CLUSTER_QUEUE, "reason", "underlying_cause"),
        "The number of unadmitted workloads, per 'cluster_queue', 'reason', and 'underlying_cause'."),
    "local_queue_unadmitted_workloads": (
        (*LOCAL_QUEUE, "cluster_queue", "reason", "underlying_cause"),
        "The number of unadmitted workloads, per 'name', 'namespace', 'cluster_queue', 'reason', and 'underlying_cause'."),
    "cluster_queue_resource_reservation": (
        QUOTA, "Reports the cluster_queue's total resource reservation within all the flavors"),
    "cluster_queue_resource_usage": (QUOTA, "Reports the cluster_queue's total resource usage within all the flavors"),
    "cluster_queue_resource_pending": (
        (*CLUSTER_QUEUE, "resource"), "Reports the cluster_queue's total pending resource requests."),
    "local_queue_resource_reservation": (
        (*LOCAL_QUEUE, "flavor", "resource"), "Reports the localQueue's total resource reservation within all the flavors"),
    "local_queue_resource_usage": (
        (*LOCAL_QUEUE, "flavor", "resource"), "Reports the localQueue's total resource usage within all the flavors"),
    "cluster_queue_nominal_quota": (QUOTA, "Reports the cluster_queue's resource nominal quota within all the flavors"),
    "cluster_queue_borrowing_limit": (
        QUOTA, "Reports the cluster_queue's resource borrowing limit within all the flavors."),
    "cluster_queue_lending_limit": (QUOTA, "Reports the cluster_queue's resource lending limit within all the flavors."),
    "cluster_queue_weighted_share": ((*CLUSTER_QUEUE, "cohort"), "The share of borrowed quota, divided by the weight"),
    "cohort_weighted_share": (("cohort",), "The share of borrowed quota, divided by the weight"),
    "cohort_subtree_quota": (
        ("cohort", "flavor", "resource"), "Reports the cohort's nominal quota aggregated within the cohort's subtree."),
    "cohort_subtree_resource_reservations": (
        ("cohort", "flavor", "resource"), "Reports the cohort's resource reservations aggregated within the cohort's subtree."),
    "cohort_subtree_admitted_active_workloads": (
        ("cohort",), "The number of admitted Workloads that are active, per cohort's subtree"),
    "cohort_info": (("cohort", "parent_cohort", "root_cohort"), "Reports Cohort hierarchy information."),
    "cluster_queue_info": ((*CLUSTER_QUEUE, "parent_cohort", "root_cohort"), "Reports ClusterQueue hierarchy information."),
}
SET_BY_CYCLES = frozenset({"admission_cycle_preemption_skips"})
WITHOUT_ROLE = frozenset({"pod_scheduling_gate_removal_seconds"})


class KueueMetrics:
    """What one Kueue counts, in the store of its manager.

    Every name is that of a table above, without the prefix ``kueue_``; values are those of its
    labels, in their order. ``counts_gates``: it has ``GATE_COUNTERS`` as well.
    """

    def __init__(self, store: Metrics, *, counts_gates: bool = False) -> None:
        counters = {**COUNTERS, **GATE_COUNTERS} if counts_gates else COUNTERS
        self._counters = {
            name: store.counter(f"kueue_{name}", text, labels + ROLE_LABEL) for name, (labels, text) in counters.items()}
        self._histograms = {
            name: store.histogram(
                f"kueue_{name}", text, labels if name in WITHOUT_ROLE else labels + ROLE_LABEL, buckets=buckets)
            for name, (labels, text, buckets) in HISTOGRAMS.items()}
        self._gauges = {
            name: store.gauge(f"kueue_{name}", text, labels + ROLE_LABEL) for name, (labels, text) in GAUGES.items()}

    def count(self, name: str, *values: str) -> None:
        """Count one more."""
        self._counters[name].inc(*values, ROLE)

    def observe(self, name: str, seconds: float, *values: str) -> None:
        """Take in one observation."""
        self._histograms[name].observe(seconds, *values, *(() if name in WITHOUT_ROLE else (ROLE,)))

    def set(self, name: str, number: float, *values: str) -> None:
        """Let a gauge stand there."""
        self._gauges[name].set(number, *values, ROLE)

    def clear_gauges(self) -> None:
        """Forget what gauges showed, of queues that are gone, say; but not what a cycle sets."""
        for name, gauge in self._gauges.items():
            if name not in SET_BY_CYCLES:
                gauge.clear()

    def quota_reserved(self, workload: ReadOnlyTree, seconds: float, *, expose_local_queue_metrics: bool) -> None:
        """A Workload has quota, after so long in the queue."""
        self._passed("quota_reserved_workloads_total", "quota_reserved_wait_time_seconds", workload, seconds,
                     expose_local_queue_metrics=expose_local_queue_metrics)

    def admitted(
        self, workload: ReadOnlyTree, seconds: float, *, checks_seconds: float | None, expose_local_queue_metrics: bool,
    ) -> None:
        """A Workload is admitted, after so long in the queue, and so long with its checks."""
        self._passed("admitted_workloads_total", "admission_wait_time_seconds", workload, seconds,
                     expose_local_queue_metrics=expose_local_queue_metrics)
        if checks_seconds is not None:
            self._passed("", "admission_checks_wait_time_seconds", workload, checks_seconds,
                         expose_local_queue_metrics=expose_local_queue_metrics)

    def finished(self, workload: ReadOnlyTree, *, expose_local_queue_metrics: bool) -> None:
        """A Workload has ended."""
        self._passed("finished_workloads_total", "", workload, 0.0, expose_local_queue_metrics=expose_local_queue_metrics)

    def ready(
        self, workload: ReadOnlyTree, seconds: float, since_admission: float, *, expose_local_queue_metrics: bool,
    ) -> None:
        """The pods of a Workload are ready, so long after it was queued, and admitted."""
        for name, length in (("ready_wait_time_seconds", seconds), ("admitted_until_ready_wait_time_seconds", since_admission)):
            self._passed("", name, workload, length, expose_local_queue_metrics=expose_local_queue_metrics)

    def _passed(
        self, counter: str, histogram: str, workload: ReadOnlyTree, seconds: float, *, expose_local_queue_metrics: bool,
    ) -> None:
        priority_class = states.priority_class_name(workload)
        of: list[tuple[str, tuple[str, ...]]] = [("", (cluster_queue_of(workload),))]
        if expose_local_queue_metrics:
            of.append(("local_queue_", local_queue_of(workload)))
        for prefix, queue in of:
            if counter:
                self.count(prefix + counter, *queue, priority_class)
            if histogram:
                self.observe(prefix + histogram, seconds, *queue, priority_class)

    def report_evicted(
        self, workload: ReadOnlyTree, reason: str, underlying_cause: str, *, first: bool, pods_ready_seconds: float | None,
        expose_local_queue_metrics: bool,
    ) -> None:
        """A Workload with an admission is evicted; ``first``: never before for this reason."""
        queue, priority_class = cluster_queue_of(workload), states.priority_class_name(workload)
        self.count("evicted_workloads_total", queue, reason, underlying_cause, priority_class)
        if first:
            self.count("evicted_workloads_once_total", queue, reason, underlying_cause, priority_class)
        if pods_ready_seconds is not None:
            self.observe("pods_ready_to_evicted_time_seconds", pods_ready_seconds, queue, reason, underlying_cause)
        if expose_local_queue_metrics:
            self.count(
                "local_queue_evicted_workloads_total", *local_queue_of(workload), reason, underlying_cause, priority_class)

    def report_preemption(self, preempting_cluster_queue: str, reason: str) -> None:
        """A Workload is preempted for one of a ClusterQueue."""
        self.count("preempted_workloads_total", preempting_cluster_queue, reason)


def cluster_queue_of(workload: ReadOnlyTree) -> str:
    """The ClusterQueue that admitted it, or nothing."""
    return str((states.admission(workload) or {}).get("clusterQueue", ""))


def local_queue_of(workload: ReadOnlyTree) -> tuple[str, str]:
    """Name and namespace of its LocalQueue."""
    return states.spec_of(workload).get("queueName", ""), workload["metadata"]["namespace"]
