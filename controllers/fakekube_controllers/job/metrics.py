"""What the Job controller counts. Upstream: pkg/controller/job/metrics/metrics.go."""

from collections.abc import Mapping
from typing import Any

from fakekube.runtime.metrics import Metrics
from fakekube_controllers.job import indexes, pods
from fakekube_controllers.job.syncstate import SyncState

SUBSYSTEM = "job_controller"
SYNC = ("completion_mode", "result", "action")
SYNC_BUCKETS = tuple(0.004 * 2**power for power in range(15))
"""Seconds."""


class JobMetrics:
    """The controller's series in a store. Times are of the cluster's clock."""

    def __init__(self, store: Metrics) -> None:
        def counter(name: str, text: str, *labels: str) -> Any:
            return store.counter(f"{SUBSYSTEM}_{name}", text, labels)

        self._sync_seconds = store.histogram(
            f"{SUBSYSTEM}_job_sync_duration_seconds", "The time it took to sync a job", SYNC, buckets=SYNC_BUCKETS)
        self._syncs = counter("job_syncs_total", "The number of job syncs", *SYNC)
        self._finished = counter("jobs_finished_total", "The number of finished jobs", "completion_mode", "result", "reason")
        self._pods_finished = counter(
            "job_pods_finished_total", "The number of finished Pods that are fully tracked", "completion_mode", "result")
        self._handled = counter(
            "pod_failures_handled_by_failure_policy_total", "The number of failed Pods by the action of the first rule "
            "that matched", "action")
        self._tracking = counter(
            "terminated_pods_tracking_finalizer_total", "The number of terminated pods (phase=Failed|Succeeded) that got or lost "
            "the finalizer batch.kubernetes.io/job-tracking", "event")
        self._indexes = counter("job_finished_indexes_total", "The number of finished indexes", "status", "backoffLimit")
        self._created = counter(
            "job_pods_creation_total", "The number of Pods created by the Job controller, by the reason", "reason", "status")
        self._external = counter(
            "jobs_by_external_controller_total", "The number of Jobs managed by an external controller", "controller_name")

    def synced(self, job: Mapping[str, Any], action: str, seconds: float, *, failed: bool) -> None:
        """A sync ended, well or not; ``action`` is reconciling, tracking, pods_created or
        pods_deleted.
        """
        values = mode_of(job), "error" if failed else "success", action
        self._sync_seconds.observe(seconds, *values)
        self._syncs.inc(*values)

    def finished(self, state: SyncState) -> None:
        """A Job has got its terminal condition."""
        outcome = state.outcome
        assert outcome is not None, "a finished Job has an outcome"
        self._finished.inc(mode_of(state.job), "failed" if outcome.terminal == "Failed" else "succeeded", outcome.reason)

    def counted(self, state: SyncState) -> None:
        """A status was written: what it counts more than the one before."""
        status, before, mode = state.status, state.last_status, mode_of(state.job)
        if state.indexed:
            succeeded = _grown(status.get("completedIndexes"), before.get("completedIndexes"), state.completions)
            limit = "perIndex" if state.per_index else "global"
            self._indexes.add(succeeded, "succeeded", limit)
            if state.per_index:
                failed = _grown(status.get("failedIndexes"), before.get("failedIndexes"), state.completions)
                self._indexes.add(failed, "failed", limit)
        else:
            succeeded = status.get("succeeded", 0) - before.get("succeeded", 0)
        self._pods_finished.add(succeeded, mode, "succeeded")
        self._pods_finished.add(max(0, status.get("failed", 0) - before.get("failed", 0)), mode, "failed")

    def handled(self, actions: Mapping[str, int]) -> None:
        """So many failed pods were treated as rules say."""
        for action, count in actions.items():
            self._handled.add(count, action)

    def tracking(self, old: pods.Pod | None, new: pods.Pod | None) -> None:
        """A pod came (``old`` None), changed or went (``new`` None)."""
        was, is_ = _is_held(old), _is_held(new)
        if was != is_:
            self._tracking.inc("add" if is_ else "delete")

    def created(self, state: SyncState, succeeded: int, failed: int) -> None:
        """Pods were made, or refused."""
        reason = "new"
        if state.features.replacement_policy:
            if state.spec.get("podReplacementPolicy") == "Failed" and state.failed > 0:
                reason = "recreate_failed"
            elif state.failed > 0 or state.terminating > 0:
                reason = "recreate_terminating_or_failed"
        for count, status in ((succeeded, "succeeded"), (failed, "failed")):
            if count:
                self._created.add(count, reason, status)

    def external(self, name: str) -> None:
        """There is a Job that another controller manages."""
        self._external.inc(name)


def mode_of(job: Mapping[str, Any]) -> str:
    """Indexed or NonIndexed."""
    mode: str = job["spec"].get("completionMode", "NonIndexed")
    return mode


def _grown(now: str | None, before: str | None, completions: int | None) -> int:
    """How many indexes more there are, of those that the Job still has."""
    if now == before:
        return 0
    return max(0, len(indexes.parse(now or "", completions)) - len(indexes.parse(before or "", completions)))


def _is_held(pod: pods.Pod | None) -> bool:
    return pod is not None and pods.is_finished(pod) and pods.is_tracked(pod)
