"""Counting finished pods exactly once, across restarts, with two writes of the status.

A finished pod's uid goes into status.uncountedTerminatedPods (first write), then the pod loses its
finalizer, then the uid becomes a number (second write). The completed indexes of an indexed Job are
their own memory. Only when nothing is left to count and no pod is terminating does the Job get its
terminal condition.
Upstream: trackJobStatusAndRemoveFinalizers in pkg/controller/job/job_controller.go.
"""

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.runtime.podcontrol import turn_before
from fakekube_controllers.job import conditions, indexes, pods
from fakekube_controllers.job.indexes import Indexes
from fakekube_controllers.job.syncstate import SyncState
from fakekube_controllers.job.writer import Writer

MAX_UNCOUNTED = 500


async def track(state: SyncState, writer: Writer, *, changed: bool) -> bool:
    """Count the finished pods and write the status: once, twice, or not at all when nothing
    changed.

    Returns whether there were more finished pods than one sync counts. ``changed``: the status
    differs already.
    """
    changed = _clean_uncounted(state) or changed
    actions: dict[str, int] = {}
    releasable, noted, too_many = _record_finished_pods(state, actions)
    changed = _set_indexes(state) or noted or changed
    changed = _set_interim_condition(state) or changed
    if changed:
        await writer.update_status(state)
    writer.metrics.handled(actions)
    failure = await _release(state, writer, releasable)
    changed = _clean_uncounted(state)
    if failure is None and not too_many and _set_finished_condition(state):
        changed = True
        await writer.update_status(state)
        writer.record_job_finished(state)
    elif changed:
        await writer.update_status(state)
    if failure is not None:
        raise failure
    return too_many


def _clean_uncounted(state: SyncState) -> bool:
    """Turn the uids of pods that have lost their finalizer into counts; whether there were any."""
    changed = False
    for key in ("succeeded", "failed"):
        uids = state.uncounted.get(key) or []
        kept = [uid for uid in uids if state.is_tracked(uid)]
        if len(kept) == len(uids):
            continue
        changed = True
        state.status[key] = state.status.get(key, 0) + len(uids) - len(kept)
        if kept:
            state.uncounted[key] = kept
        else:
            del state.uncounted[key]
    return changed


def _record_finished_pods(state: SyncState, actions: dict[str, int]) -> tuple[list[pods.Pod], bool, bool]:
    """Pods that may lose their finalizer, whether any was counted, and whether there are more than
    one sync counts.

    ``actions`` gets how many failures each action of the podFailurePolicy handled.
    """
    releasable: list[pods.Pod] = []
    noted = False
    new_indexes: list[int] = []
    counted_failed = dict.fromkeys(state.uncounted.get("failed") or ())
    counted_succeeded = dict.fromkeys(state.uncounted.get("succeeded") or ())
    known = state.prev_succeeded_indexes
    only_replace_failed = state.only_replace_failed
    for pod in _candidates(state):
        uid = pod["metadata"]["uid"]
        if uid in state.expected_removals or uid in state.released:
            continue
        if not _may_release(state, pod, only_replace_failed=only_replace_failed):
            continue
        releasable.append(pod)
        if pods.phase(pod) == "Succeeded" and uid not in counted_failed:
            index = indexes.index_of(pod)
            if state.indexed and index is not None and state.is_valid_index(pod) and index not in known:
                new_indexes.append(index)
                noted = True
            elif not state.indexed and uid not in counted_succeeded:
                state.uncounted.setdefault("succeeded", []).append(uid)
                noted = True
        elif uid not in counted_failed and _counts_as_failed(state, pod, actions):
            state.uncounted.setdefault("failed", []).append(uid)
            noted = True
        lists = state.uncounted
        if len(new_indexes) + len(lists.get("succeeded") or ()) + len(lists.get("failed") or ()) >= MAX_UNCOUNTED:
            state.succeeded_indexes = known.union(Indexes.of(new_indexes))
            return releasable, noted, True
    if state.indexed:
        state.succeeded_indexes = known.union(Indexes.of(new_indexes))
    return releasable, noted, False


def _candidates(state: SyncState) -> list[pods.Pod]:
    """The tracked pods to look at, ordered by index if they have one: of a Job that goes on, only
    those that have ended.
    """
    ending = "deletionTimestamp" in state.job["metadata"] or state.outcome is not None
    candidates = state.ended
    if ending:
        candidates = [*state.job_pods.select(summary.tracked for summary in state.job_pods.summaries)]
    if not state.indexed:
        return candidates
    return sorted(candidates, key=lambda pod: index if (index := indexes.index_of(pod)) is not None else -1)


def _may_release(state: SyncState, pod: pods.Pod, *, only_replace_failed: bool) -> bool:
    if "deletionTimestamp" in state.job["metadata"] or state.outcome is not None or pods.phase(pod) == "Succeeded":
        return True
    if not pods.is_failed(pod, only_replace_failed):
        return False
    index = indexes.index_of(pod)
    held = state.delayed_by_index.get(index) if index is not None else None
    return held is None or held["metadata"]["uid"] != pod["metadata"]["uid"]


def _counts_as_failed(state: SyncState, pod: pods.Pod, actions: dict[str, int]) -> bool:
    """Whether a pod counts as failed: one that failed, and any that is left when the Job fails (not
    when it succeeds).

    Not one that an Ignore rule matches, nor one with an index that the Job does not have.
    """
    ending = state.outcome is not None and state.outcome.type != "SuccessCriteriaMet"
    if (not ending and not pods.is_failed(pod, state.only_replace_failed)) or not state.is_valid_index(pod):
        return False
    verdict = state.verdict(pod)
    if verdict.action:
        actions[verdict.action] = actions.get(verdict.action, 0) + 1
    return verdict.counts


def _set_indexes(state: SyncState) -> bool:
    if not state.indexed:
        return False
    status, changed = state.status, False
    text = state.succeeded_indexes.text()
    if text != status.get("completedIndexes", ""):
        changed = True
    if text:
        status["completedIndexes"] = text
    else:
        status.pop("completedIndexes", None)
    if state.succeeded_indexes:
        status["succeeded"] = len(state.succeeded_indexes)
    else:
        status.pop("succeeded", None)
    if state.failed_indexes is not None:
        failed = state.failed_indexes.text()
        if failed != status.get("failedIndexes"):
            changed = True
        status["failedIndexes"] = failed
    elif "failedIndexes" in status:
        del status["failedIndexes"]
        changed = True
    return changed


def _set_interim_condition(state: SyncState) -> bool:
    outcome = state.outcome
    if outcome is None or not outcome.is_interim or meta.is_condition_true(state.job, outcome.type):
        return False
    condition = conditions.make(outcome.type, outcome.reason, outcome.message, times.format_time(state.now))
    state.status.setdefault("conditions", []).append(condition)
    return True


async def _release(state: SyncState, writer: Writer, releasable: list[pods.Pod]) -> APIError | None:
    failure: APIError | None = None
    for place, pod in enumerate(releasable):
        await turn_before(place)
        try:
            await writer.finalizers.remove(pod)
        except APIError as error:
            failure = failure or error
        else:
            state.released[pod["metadata"]["uid"]] = None
    return failure


def _set_finished_condition(state: SyncState) -> bool:
    """Set the terminal condition when nothing is left to account for."""
    outcome = state.outcome
    if outcome is None or state.uncounted.get("succeeded") or state.uncounted.get("failed"):
        return False
    if state.features.interim_conditions and state.terminating:
        return False
    now = times.format_time(state.now)
    state.status.setdefault("conditions", []).append(conditions.make(outcome.terminal, outcome.reason, outcome.message, now))
    if outcome.terminal == "Complete":
        state.status["completionTime"] = now
    return True
