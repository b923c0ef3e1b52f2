"""What the scheduler counts, under kube-scheduler's names; times are those of the cluster's clock.

Upstream: pkg/scheduler/metrics/metrics.go. Left out: what tells of threads, batching and parallel
calls, of events, and the durations of single plugins.
"""

from collections.abc import Callable, Mapping

from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo

SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"
MANY_ATTEMPTS = 15  # and more are told together


def _exponential(start: float, factor: float, count: int) -> list[float]:
    return [start * factor**number for number in range(count)]


class SchedulerMetrics:
    """The metrics of one scheduler. ``pending`` gives the number of pods in each queue."""

    def __init__(self, ctx: Context, pending: Callable[[], Mapping[str, int]]) -> None:
        metrics, self._clock, self._pending = ctx.metrics, ctx.clock, pending
        self._attempts = metrics.counter(
            "scheduler_schedule_attempts_total",
            "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while "
            "'error' means an internal scheduler problem.", ("result", "profile"))
        self._attempt_seconds = metrics.histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Scheduling attempt latency in seconds (scheduling algorithm + binding)", ("result", "profile"),
            buckets=_exponential(0.001, 2, 15))
        self._pod_attempts = metrics.histogram(
            "scheduler_pod_scheduling_attempts", "Number of attempts to successfully schedule a pod.",
            buckets=_exponential(1, 2, 5))
        self._sli_seconds = metrics.histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve "
            "multiple scheduling attempts.", ("attempts",), buckets=_exponential(0.01, 2, 20))
        self._after_flush = metrics.counter(
            "scheduler_pod_scheduled_after_flush_total",
            "Number of pods that were successfully scheduled after being flushed from unschedulableEntities due to timeout. "
            "This metric helps detect potential queueing hint misconfigurations or event handling issues.")
        self._permit_seconds = metrics.histogram(
            "scheduler_permit_wait_duration_seconds", "Duration of waiting on permit.", ("result",),
            buckets=_exponential(0.001, 2, 15))
        self._pending_pods = metrics.gauge(
            "scheduler_pending_pods",
            "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of "
            "pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the scheduler attempted to "
            "schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule "
            "because they are gated.", ("queue",))
        ctx.on_close(metrics.before_reading(self._look))

    def _look(self) -> None:
        for queue, number in self._pending().items():
            self._pending_pods.set(number, queue)

    def failed(self, profile: str, started: float, *, is_rejection: bool) -> None:
        """An attempt that began then (Unix seconds) came to nothing."""
        self._attempted(UNSCHEDULABLE if is_rejection else ERROR, profile, started)

    def _attempted(self, result: str, profile: str, started: float) -> None:
        self._attempts.inc(result, profile)
        self._attempt_seconds.observe(self._clock.time() - started, result, profile)

    def bound(self, queued: QueuedPodInfo, profile: str, started: float) -> None:
        """A pod is bound, by an attempt that began then."""
        self._attempted(SCHEDULED, profile, started)
        self._pod_attempts.observe(queued.attempts)
        if queued.initial_attempt_timestamp is not None:
            told = f"{MANY_ATTEMPTS}+" if queued.attempts >= MANY_ATTEMPTS else str(queued.attempts)
            self._sli_seconds.observe(self._clock.time() - queued.initial_attempt_timestamp, told)
        if queued.was_flushed_from_unschedulable:
            self._after_flush.inc()

    def waited(self, result: str, seconds: float) -> None:
        """A pod has waited for Permit plugins."""
        self._permit_seconds.observe(seconds, result)
