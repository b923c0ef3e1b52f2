"""Bringing the number of a Job's pods to what it should be.

Deletions come first and end the sync; creations go in batches that double, so that a quota that refuses one pod is not
asked five hundred times. Upstream: manageJob in pkg/controller/job/job_controller.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery.errors import APIError
from fakekube.runtime.podcontrol import slow_start
from fakekube_controllers.job import pods, podtemplate
from fakekube_controllers.job.controlled import Fact
from fakekube_controllers.job.hands import Hands
from fakekube_controllers.job.round import Round, free_indexes

MAX_PODS_PER_SYNC = 500
RECONCILING, TRACKING, PODS_CREATED, PODS_DELETED = "reconciling", "tracking", "pods_created", "pods_deleted"


class Managed(NamedTuple):
    """What came of it: how many pods are active now, what was done, when to look again, and what went wrong."""

    active: int
    action: str
    requeue_seconds: float | None = None
    error: APIError | None = None


async def manage(found: Round, hands: Hands) -> Managed:
    """Create or delete pods towards the wanted number."""
    active = found.active_count
    if found.suspended:
        deleted, _, error = await delete_active(found, hands, found.active, keep_tracking=False)
        found.terminating += deleted
        return Managed(active - deleted, PODS_DELETED, None, error)
    wanted = _wanted(found)
    excess = _surplus(found, wanted)[:MAX_PODS_PER_SYNC]
    if excess:
        deleted, ready, error = await delete_active(found, hands, excess, keep_tracking=False)
        found.terminating += deleted
        found.ready -= ready
        return Managed(active - deleted, PODS_DELETED, None, error)
    missing = wanted - active - (found.terminating if found.only_replace_failed else 0)
    if missing <= 0:
        return Managed(active, TRACKING)
    if not found.per_index and (wait := found.record.remaining_seconds(found.now)) > 0:
        return Managed(active, PODS_CREATED, wait)
    return await _create(found, hands, min(missing, MAX_PODS_PER_SYNC))


def _surplus(found: Round, wanted: int) -> list[pods.Pod]:
    """The active pods that are to go."""
    completions = found.completions if found.indexed else None
    if found.active_count <= wanted and (completions is None or _fill_places(found, completions)):
        return []
    return pods.surplus(found.active, wanted, completions)


def _fill_places(found: Round, completions: int) -> bool:
    """Whether every active pod of an indexed Job has an index of its own that the Job has."""
    held = dict.fromkeys(fact.completion_index for fact in found.mine.facts if fact.active)
    return len(held) == found.active_count and all(index is not None and index < completions for index in held)


def _wanted(found: Round) -> int:
    parallelism: int = found.spec.get("parallelism", 1)
    if found.completions is None:
        return found.active_count if found.succeeded > 0 else parallelism
    wanted = max(0, min(parallelism, found.completions - found.succeeded))
    if found.per_index:
        left = found.completions - len(found.completed) - len(found.failed_indexes or ())
        wanted = max(0, min(wanted, left))
    return wanted


async def delete_active(
    found: Round, hands: Hands, victims: Sequence[pods.Pod], *, keep_tracking: bool,
) -> tuple[int, int, APIError | None]:
    """Delete pods; how many went, how many of those were ready, and the first error.

    Without ``keep_tracking`` the finalizer goes first, and the pods leave no trace in the counters.
    """
    hands.expect_deletions(found.job, victims)
    deleted = ready = 0
    failure: APIError | None = None
    for pod in victims:
        try:
            if not keep_tracking and pods.is_tracked(pod):
                await hands.remove_tracking(pod)
                found.released[pod["metadata"]["uid"]] = None
            await hands.delete(found.job, pod)
        except APIError as error:
            hands.deletion_failed(found.job, pod)
            failure = failure or error
        else:
            deleted += 1
            ready += pods.is_ready(pod)
    return deleted, ready, failure


async def _create(found: Round, hands: Hands, count: int) -> Managed:
    wait: float | None = None
    chosen: list[int | None] = [None] * count
    if found.indexed:
        held = [fact.completion_index for fact in found.mine.facts if _holds_index(found, fact)]
        free = free_indexes(found, count, held)
        delays = {index: found.index_delay_seconds(index) for index in free}
        waiting = [delay for delay in delays.values() if delay > 0]
        wait = min(waiting) if waiting else None
        chosen = [index for index in free if delays[index] <= 0]
    hands.expect_creations(found.job, len(chosen))
    made, error = await slow_start(chosen, lambda index: hands.create(found.job, podtemplate.pod_for(found, index)))
    hands.creation_failed(found.job, len(chosen) - made)
    hands.metrics.created(found, made, len(chosen) - made)
    return Managed(found.active_count + made, PODS_CREATED, wait, error)


def _holds_index(found: Round, fact: Fact) -> bool:
    """Active pods do; while only failed pods are replaced, terminating ones too."""
    return fact.active or (fact.terminating and found.only_replace_failed)
