"""When a Workload that was evicted is queued again, and since when it waits.

Upstream: UpdateRequeueState, SetRequeueState and QueuedWaitTime in pkg/workload/workload.go.
"""

from fakekube.apimachinery import times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.workload import reasons, states
from fakekube_controllers.kueue.workload.backoff import wait_time_seconds


def update_requeue_state(
    workload: Tree, backoff_base_seconds: int, backoff_max_seconds: int, *, now: float, jitter: float = 0.0,
) -> None:
    """Count one try more, and let it wait for longer. ``jitter``: a draw from 0 to 1."""
    count = (states.status_of(workload).get("requeueState") or {}).get("count") or 0
    wait = wait_time_seconds(count + 1, backoff_base_seconds, backoff_max_seconds, jitter=jitter)
    set_requeue_state(workload, now + wait, increment_count=True)


def set_requeue_state(workload: Tree, wait_until: float, *, increment_count: bool) -> bool:
    """Let it wait at least until then, Unix seconds; whether that changed anything."""
    state: Tree = {**(states.status_of(workload).get("requeueState") or {})}
    changed = False
    present = state.get("requeueAt")
    if present is None or times.parse_time(present) < wait_until:
        state["requeueAt"] = times.format_time(wait_until)
        changed = True
    if increment_count:
        state["count"] = (state.get("count") or 0) + 1
        changed = True
    workload.setdefault("status", {})["requeueState"] = state
    return changed


def queued_wait_time(workload: ReadOnlyTree, *, now: float) -> float:
    """For how many seconds it has been in the queue, since it came or came back."""
    requeued = states.condition(workload, reasons.REQUEUED)
    since = requeued["lastTransitionTime"] if requeued is not None else workload["metadata"]["creationTimestamp"]
    return now - times.parse_time(since)
