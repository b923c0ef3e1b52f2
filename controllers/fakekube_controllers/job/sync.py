"""One sync of a Job, in upstream's order: look, decide, manage pods, account for them, write.

Upstream: syncJob in pkg/controller/job/job_controller.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import times
from fakekube.apimachinery.errors import APIError
from fakekube_controllers.job import conditions
from fakekube_controllers.job.hands import Hands
from fakekube_controllers.job.manage import RECONCILING, delete_active, manage
from fakekube_controllers.job.round import COMPLETIONS_REACHED, Round
from fakekube_controllers.job.tracking import track


class Synced(NamedTuple):
    """When to look again (seconds; None: when something happens), what failed and is to be tried again, what was done."""

    requeue_seconds: float | None = None
    error: APIError | None = None
    action: str = RECONCILING


async def sync(found: Round, hands: Hands, *, satisfied: bool) -> Synced:
    """Bring one Job forward. ``satisfied`` says that all pods made or deleted before have been seen.

    Raises APIError when the status could not be written.
    """
    status = found.status
    if "startTime" not in status and not found.suspended:
        status["startTime"] = times.format_time(found.now)
    found.look()
    changed, action = False, RECONCILING
    wait = found.deadline_seconds() if found.outcome is None else None
    error: APIError | None = None
    active = found.active_count
    if found.outcome is not None:
        active, error = await _wind_down(found, hands, satisfied=satisfied)
    else:
        managed = None
        if satisfied and "deletionTimestamp" not in found.job["metadata"]:
            managed = await manage(found, hands)
            active, error, action = managed.active, managed.error, managed.action
            wait = _sooner(wait, managed.requeue_seconds)
        if _is_complete(found, active):
            found.outcome = found.ending(COMPLETIONS_REACHED)
        elif managed is not None:
            changed = _note_suspension(found, hands)
    changed = _write_counts(found, active) or changed
    too_many = await track(found, hands, changed=changed)
    hands.remember(found)
    return Synced(0.0 if too_many else wait, error, action)


def _sooner(one: float | None, other: float | None) -> float | None:
    known = [seconds for seconds in (one, other) if seconds is not None]
    return min(known) if known else None


async def _wind_down(found: Round, hands: Hands, *, satisfied: bool) -> tuple[int, APIError | None]:
    """Delete what is still active. The outcome is withheld while some pods may be unseen or refused to go."""
    active = found.active
    deleted, ready, error = await delete_active(found, hands, active, keep_tracking=True)
    if deleted != len(active) or not satisfied:
        found.outcome = None
    found.terminating += deleted
    found.ready -= ready
    return len(active) - deleted, error


def _is_complete(found: Round, active: int) -> bool:
    if found.completions is None:
        return found.succeeded > 0 and active == 0
    return found.succeeded >= found.completions and active == 0


def _note_suspension(found: Round, hands: Hands) -> bool:
    now = times.format_time(found.now)
    if found.suspended:
        changed = conditions.ensure(found.status, conditions.make("Suspended", "JobSuspended", "Job suspended", now))
        if changed:
            hands.event(found.job, "Normal", "Suspended", "Job suspended")
            if found.features.forgets_start:
                found.status.pop("startTime", None)
        return changed
    if not conditions.ensure(found.status, conditions.make("Suspended", "JobResumed", "Job resumed", now, "False")):
        return False
    hands.event(found.job, "Normal", "Resumed", "Job resumed")
    found.status["startTime"] = now
    return True


def _write_counts(found: Round, active: int) -> bool:
    status = found.status
    before = (status.get("active", 0), status.get("ready"), status.get("terminating"))
    if active:
        status["active"] = active
    else:
        status.pop("active", None)
    status["ready"] = min(found.ready, active)
    if found.features.replacement_policy:
        status["terminating"] = found.terminating
    else:
        status.pop("terminating", None)
    return before != (active, status["ready"], status.get("terminating"))
