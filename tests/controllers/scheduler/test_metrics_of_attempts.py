"""What the scheduler counts, under kube-scheduler's names."""

from types import SimpleNamespace
from typing import Any

from fakekube.runtime.metrics import Metrics
from fakekube_controllers.scheduler.metrics import SchedulerMetrics

ATTEMPT, SLI = "scheduler_scheduling_attempt_duration_seconds", "scheduler_pod_scheduling_sli_duration_seconds"
TEXTS = {
    "scheduler_schedule_attempts_total": (
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' "
        "means an internal scheduler problem."),
    ATTEMPT: "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    "scheduler_pod_scheduling_attempts": "Number of attempts to successfully schedule a pod.",
    "scheduler_permit_wait_duration_seconds": "Duration of waiting on permit.",
    SLI: (
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple "
        "scheduling attempts."),
    "scheduler_pod_scheduled_after_flush_total": (
        "Number of pods that were successfully scheduled after being flushed from unschedulableEntities due to timeout. This "
        "metric helps detect potential queueing hint misconfigurations or event handling issues."),
    "scheduler_pending_pods": (
        "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in "
        "backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the scheduler attempted to schedule and "
        "failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are "
        "gated."),
}
SAMPLES = {
    'scheduler_schedule_attempts_total{result="scheduled",profile="s"}': "4",
    'scheduler_schedule_attempts_total{result="unschedulable",profile="s"}': "1",
    'scheduler_schedule_attempts_total{result="error",profile="s"}': "1",
    'scheduler_pending_pods{queue="active"}': "2", 'scheduler_pending_pods{queue="gated"}': "1",
    f'{ATTEMPT}_sum{{result="unschedulable",profile="s"}}': "2", f'{ATTEMPT}_sum{{result="error",profile="s"}}': "1",
    f'{ATTEMPT}_sum{{result="scheduled",profile="s"}}': "1",
    f'{ATTEMPT}_bucket{{result="error",profile="s",le="0.001"}}': "0",
    f'{ATTEMPT}_bucket{{result="error",profile="s",le="16.384"}}': "1",
    "scheduler_pod_scheduling_attempts_sum": "32", 'scheduler_pod_scheduling_attempts_bucket{le="1"}': "1",
    'scheduler_pod_scheduling_attempts_bucket{le="16"}': "4", f'{SLI}_sum{{attempts="1"}}': "0.5",
    f'{SLI}_sum{{attempts="14"}}': "10", f'{SLI}_sum{{attempts="15+"}}': "20", f'{SLI}_bucket{{attempts="1",le="0.01"}}': "0",
    f'{SLI}_bucket{{attempts="1",le="5242.88"}}': "1", "scheduler_pod_scheduled_after_flush_total": "1",
    'scheduler_permit_wait_duration_seconds_sum{result="allowed"}': "0.5",
    'scheduler_permit_wait_duration_seconds_bucket{result="allowed",le="0.512"}': "1",
}


class Clock:
    """Stands still."""

    now = 100.0

    def time(self) -> float:
        """Now."""
        return self.now


def test_metrics_have_upstreams_names_and_texts() -> None:
    """Given attempts of all kinds / then the metrics are upstream's, with their texts, labels and
    buckets.
    """
    metrics, clock = Metrics(), Clock()
    context: Any = SimpleNamespace(metrics=metrics, clock=clock, on_close=lambda _: None)
    made = SchedulerMetrics(context, lambda: {"active": 2, "gated": 1})

    def queued(attempts: int, first: float | None, flushed: bool = False) -> Any:
        return SimpleNamespace(attempts=attempts, initial_attempt_timestamp=first, was_flushed_from_unschedulable=flushed)

    made.failed("s", 98.0, is_rejection=True)
    made.failed("s", 99.0, is_rejection=False)
    made.bound(queued(1, 99.5), "s", 99.75)
    made.bound(queued(14, 90.0, flushed=True), "s", 99.75)
    made.bound(queued(15, 80.0), "s", 99.75)
    made.bound(queued(2, None), "s", 99.75)
    made.waited("allowed", 0.5)
    lines = metrics.text().splitlines()
    helps = dict(line.removeprefix("# HELP ").split(" ", 1) for line in lines if line.startswith("# HELP "))
    assert {name: text for name, text in helps.items() if name.startswith("scheduler_")} == TEXTS
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert {name: samples.get(name) for name in SAMPLES} == SAMPLES
