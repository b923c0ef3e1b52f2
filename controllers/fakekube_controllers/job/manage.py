"""Creates or deletes pods until as many are active as the Job wants.

A sync that deletes pods creates none. Creations go in batches that double, so that a quota that
refuses one pod is not asked five hundred times. Upstream: manageJob in
pkg/controller/job/job_controller.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.runtime.podcontrol import create_expected, delete_expected
from fakekube_controllers.job import pods, podtemplate
from fakekube_controllers.job.podsummaries import PodSummary
from fakekube_controllers.job.syncstate import SyncState, free_indexes
from fakekube_controllers.job.writer import Writer

MAX_PODS_PER_SYNC = 500
RECONCILING, TRACKING, PODS_CREATED, PODS_DELETED = "reconciling", "tracking", "pods_created", "pods_deleted"


class ManageResult(NamedTuple):
    """How many pods are active now, the action for the metrics, after how many seconds to sync
    again, and the first error.
    """

    active: int
    action: str
    requeue_seconds: float | None = None
    error: APIError | None = None


async def manage(state: SyncState, writer: Writer) -> ManageResult:
    """Create or delete pods; ``error`` of the result says what was refused."""
    active = state.active_count
    if state.suspended:
        deleted, _, error = await delete_active(state, writer, state.active, keep_tracking=False)
        state.terminating += deleted
        return ManageResult(active - deleted, PODS_DELETED, None, error)
    wanted = _wanted_active(state)
    excess = _surplus(state, wanted)[:MAX_PODS_PER_SYNC]
    if excess:
        deleted, ready, error = await delete_active(state, writer, excess, keep_tracking=False)
        state.terminating += deleted
        state.ready -= ready
        return ManageResult(active - deleted, PODS_DELETED, None, error)
    missing = wanted - active - (state.terminating if state.only_replace_failed else 0)
    if missing <= 0:
        return ManageResult(active, TRACKING)
    if not state.per_index and (wait := state.backoff.remaining_seconds(state.now)) > 0:
        return ManageResult(active, PODS_CREATED, wait)
    return await _create(state, writer, min(missing, MAX_PODS_PER_SYNC))


def _surplus(state: SyncState, wanted: int) -> list[pods.Pod]:
    """The active pods to delete."""
    completions = state.completions if state.indexed else None
    if state.active_count <= wanted and (completions is None or _have_own_indexes(state, completions)):
        return []
    return pods.surplus(state.active, wanted, completions)


def _have_own_indexes(state: SyncState, completions: int) -> bool:
    """Whether all active pods of an indexed Job have valid indexes, no two the same."""
    held = dict.fromkeys(summary.completion_index for summary in state.job_pods.summaries if summary.active)
    return len(held) == state.active_count and all(index is not None and index < completions for index in held)


def _wanted_active(state: SyncState) -> int:
    parallelism: int = state.spec.get("parallelism", 1)
    if state.completions is None:
        return state.active_count if state.succeeded > 0 else parallelism
    wanted = max(0, min(parallelism, state.completions - state.succeeded))
    if state.per_index:
        left = state.completions - len(state.succeeded_indexes) - len(state.failed_indexes or ())
        wanted = max(0, min(wanted, left))
    return wanted


async def delete_active(
    state: SyncState, writer: Writer, victims: Sequence[pods.Pod], *, keep_tracking: bool,
) -> tuple[int, int, APIError | None]:
    """Delete pods.

    Returns how many were deleted, how many of those were ready, and the first error.

    Without ``keep_tracking`` their finalizers are removed first, so that the pods are not counted
    as failed.
    """

    async def delete(pod: pods.Pod) -> bool:
        if not keep_tracking and pods.is_tracked(pod):
            await writer.finalizers.remove(pod)
            state.released[pod["metadata"]["uid"]] = None
        return await writer.control.delete(state.job, pod)

    deleted, error = await delete_expected(writer.expectations, meta.key_of(state.job), victims, delete)
    return len(deleted), sum(map(pods.is_ready, deleted)), error


async def _create(state: SyncState, writer: Writer, count: int) -> ManageResult:
    wait: float | None = None
    chosen: list[int | None] = [None] * count
    if state.indexed:
        held = [summary.completion_index for summary in state.job_pods.summaries if _holds_index(state, summary)]
        free = free_indexes(state, count, held)
        delays = {index: state.index_delay_seconds(index) for index in free}
        waiting = [delay for delay in delays.values() if delay > 0]
        wait = min(waiting) if waiting else None
        chosen = [index for index in free if delays[index] <= 0]
    made, error = await create_expected(
        writer.expectations, meta.key_of(state.job), chosen,
        lambda index: writer.control.create(state.job, podtemplate.pod_for(state, index)))
    writer.metrics.created(state, made, len(chosen) - made)
    return ManageResult(state.active_count + made, PODS_CREATED, wait, error)


def _holds_index(state: SyncState, summary: PodSummary) -> bool:
    """Whether the pod's index is in use: of an active pod, and of a terminating one while only
    failed pods are replaced.
    """
    return summary.active or (summary.terminating and state.only_replace_failed)
