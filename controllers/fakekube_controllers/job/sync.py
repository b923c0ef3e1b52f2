"""One sync of a Job, in upstream's order: compute the state, manage the active pods, count the
finished ones, write.

Upstream: syncJob in pkg/controller/job/job_controller.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import times
from fakekube.apimachinery.errors import APIError
from fakekube_controllers.job import conditions
from fakekube_controllers.job.manage import RECONCILING, delete_active, manage
from fakekube_controllers.job.syncstate import COMPLETIONS_REACHED, SyncState
from fakekube_controllers.job.tracking import track
from fakekube_controllers.job.writer import Writer


class SyncResult(NamedTuple):
    """After how many seconds to sync again (None: at the next event), the error to retry, and the
    action for the metrics.
    """

    requeue_seconds: float | None = None
    error: APIError | None = None
    action: str = RECONCILING


async def sync(state: SyncState, writer: Writer, *, satisfied: bool) -> SyncResult:
    """Sync one Job. ``satisfied``: the cache shows all pods that were created or deleted before.

    Raises APIError when the status could not be written.
    """
    status = state.status
    if "startTime" not in status and not state.suspended:
        status["startTime"] = times.format_time(state.now)
    state.compute()
    changed, action = False, RECONCILING
    wait = state.deadline_seconds() if state.outcome is None else None
    error: APIError | None = None
    active = state.active_count
    if state.outcome is not None:
        active, error = await _delete_active_pods(state, writer, satisfied=satisfied)
    else:
        managed = None
        if satisfied and "deletionTimestamp" not in state.job["metadata"]:
            managed = await manage(state, writer)
            active, error, action = managed.active, managed.error, managed.action
            wait = _sooner(wait, managed.requeue_seconds)
        if _is_complete(state, active):
            state.outcome = state.ending(COMPLETIONS_REACHED)
        elif managed is not None:
            changed = _update_suspension(state, writer)
    changed = _set_counts(state, active) or changed
    too_many = await track(state, writer, changed=changed)
    writer.keep_backoff(state)
    return SyncResult(0.0 if too_many else wait, error, action)


def _sooner(one: float | None, other: float | None) -> float | None:
    known = [seconds for seconds in (one, other) if seconds is not None]
    return min(known) if known else None


async def _delete_active_pods(state: SyncState, writer: Writer, *, satisfied: bool) -> tuple[int, APIError | None]:
    """Delete the active pods of a Job that ends.

    The Job does not end yet while a pod may be unseen or was not deleted.
    """
    active = state.active
    deleted, ready, error = await delete_active(state, writer, active, keep_tracking=True)
    if deleted != len(active) or not satisfied:
        state.outcome = None
    state.terminating += deleted
    state.ready -= ready
    return len(active) - deleted, error


def _is_complete(state: SyncState, active: int) -> bool:
    if state.completions is None:
        return state.succeeded > 0 and active == 0
    return state.succeeded >= state.completions and active == 0


def _update_suspension(state: SyncState, writer: Writer) -> bool:
    now = times.format_time(state.now)
    if state.suspended:
        changed = conditions.ensure(state.status, conditions.make("Suspended", "JobSuspended", "Job suspended", now))
        if changed:
            writer.event(state.job, "Normal", "Suspended", "Job suspended")
            if state.features.forgets_start:
                state.status.pop("startTime", None)
        return changed
    if not conditions.ensure(state.status, conditions.make("Suspended", "JobResumed", "Job resumed", now, "False")):
        return False
    writer.event(state.job, "Normal", "Resumed", "Job resumed")
    state.status["startTime"] = now
    return True


def _set_counts(state: SyncState, active: int) -> bool:
    status = state.status
    before = (status.get("active", 0), status.get("ready"), status.get("terminating"))
    if active:
        status["active"] = active
    else:
        status.pop("active", None)
    status["ready"] = min(state.ready, active)
    if state.features.replacement_policy:
        status["terminating"] = state.terminating
    else:
        status.pop("terminating", None)
    return before != (active, status["ready"], status.get("terminating"))
