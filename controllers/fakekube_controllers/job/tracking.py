"""Counting finished pods exactly once, across restarts, with two writes of the status.

A finished pod's uid goes into status.uncountedTerminatedPods (first write), then the pod loses its finalizer, then the
uid becomes a number (second write). The completed indexes of an indexed Job are their own memory. Only when nothing is
left to count and no pod is terminating does the Job get its terminal condition.
Upstream: trackJobStatusAndRemoveFinalizers in pkg/controller/job/job_controller.go.
"""

from fakekube.apimachinery import times
from fakekube.apimachinery.errors import APIError
from fakekube_controllers.job import conditions, indexes, pods
from fakekube_controllers.job.hands import Hands
from fakekube_controllers.job.round import Round

MAX_UNCOUNTED = 500


async def track(found: Round, hands: Hands, *, changed: bool) -> bool:
    """Account for the pods of a round and write the status, once or twice, or not at all when nothing changed.

    True when there were too many pods for one sync. ``changed`` says that the status differs already.
    """
    changed = _settle_uncounted(found) or changed
    actions: dict[str, int] = {}
    releasable, noted, too_many = _note_finished(found, actions)
    changed = _write_indexes(found) or noted or changed
    changed = _write_interim(found) or changed
    if changed:
        await hands.write_status(found)
    hands.metrics.handled(actions)
    failure = await _release(found, hands, releasable)
    changed = _settle_uncounted(found)
    if failure is None and not too_many and _finish(found):
        changed = True
        await hands.write_status(found)
        hands.announce_finish(found)
    elif changed:
        await hands.write_status(found)
    if failure is not None:
        raise failure
    return too_many


def _settle_uncounted(found: Round) -> bool:
    """Turn uids whose pods have lost their finalizer into numbers."""
    changed = False
    for key in ("succeeded", "failed"):
        uids = found.uncounted.get(key) or []
        kept = [uid for uid in uids if found.is_tracked(uid)]
        if len(kept) == len(uids):
            continue
        changed = True
        found.status[key] = found.status.get(key, 0) + len(uids) - len(kept)
        if kept:
            found.uncounted[key] = kept
        else:
            del found.uncounted[key]
    return changed


def _note_finished(found: Round, actions: dict[str, int]) -> tuple[list[pods.Pod], bool, bool]:
    """Pods that may lose their finalizer; whether anything new was noted; whether there are more than one sync takes.

    ``actions`` gets how many failures were treated in which way by rules of the podFailurePolicy.
    """
    releasable: list[pods.Pod] = []
    noted = False
    new_indexes: list[int] = []
    counted_failed = dict.fromkeys(found.uncounted.get("failed") or ())
    counted_succeeded = dict.fromkeys(found.uncounted.get("succeeded") or ())
    known = dict.fromkeys(found.previously_completed)
    only_replace_failed = found.only_replace_failed
    for pod in _candidates(found):
        uid = pod["metadata"]["uid"]
        if uid in found.removed or uid in found.released or not _may_release(found, pod, only_replace_failed=only_replace_failed):
            continue
        releasable.append(pod)
        if pods.phase(pod) == "Succeeded" and uid not in counted_failed:
            index = indexes.index_of(pod)
            if found.indexed and index is not None and found.is_valid_index(pod) and index not in known:
                new_indexes.append(index)
                noted = True
            elif not found.indexed and uid not in counted_succeeded:
                found.uncounted.setdefault("succeeded", []).append(uid)
                noted = True
        elif uid not in counted_failed and _counts_as_failed(found, pod, actions):
            found.uncounted.setdefault("failed", []).append(uid)
            noted = True
        lists = found.uncounted
        if len(new_indexes) + len(lists.get("succeeded") or ()) + len(lists.get("failed") or ()) >= MAX_UNCOUNTED:
            found.completed = sorted(dict.fromkeys([*found.previously_completed, *new_indexes]))
            return releasable, noted, True
    if found.indexed:
        found.completed = sorted(dict.fromkeys([*found.previously_completed, *new_indexes]))
    return releasable, noted, False


def _candidates(found: Round) -> list[pods.Pod]:
    """The pods that may be let go, by index if they have one: of a Job that goes on, only what has ended."""
    ending = "deletionTimestamp" in found.job["metadata"] or found.outcome is not None
    candidates = found.ended
    if ending:
        candidates = [*found.mine.those(fact.tracked for fact in found.mine.facts)]
    if not found.indexed:
        return candidates
    return sorted(candidates, key=lambda pod: index if (index := indexes.index_of(pod)) is not None else -1)


def _may_release(found: Round, pod: pods.Pod, *, only_replace_failed: bool) -> bool:
    if "deletionTimestamp" in found.job["metadata"] or found.outcome is not None or pods.phase(pod) == "Succeeded":
        return True
    if not pods.is_failed(pod, only_replace_failed):
        return False
    index = indexes.index_of(pod)
    held = found.delayed.get(index) if index is not None else None
    return held is None or held["metadata"]["uid"] != pod["metadata"]["uid"]


def _counts_as_failed(found: Round, pod: pods.Pod, actions: dict[str, int]) -> bool:
    """Failed by itself, or still there when the Job fails; what runs on after success is just let go.

    Not one that an Ignore rule matches, nor one whose index the Job does not have.
    """
    ending = found.outcome is not None and found.outcome.type != "SuccessCriteriaMet"
    if (not ending and not pods.is_failed(pod, found.only_replace_failed)) or not found.is_valid_index(pod):
        return False
    verdict = found.verdict(pod)
    if verdict.action:
        actions[verdict.action] = actions.get(verdict.action, 0) + 1
    return verdict.counts


def _write_indexes(found: Round) -> bool:
    if not found.indexed:
        return False
    status, changed = found.status, False
    text = indexes.text_of(found.completed)
    if text != status.get("completedIndexes", ""):
        changed = True
    if text:
        status["completedIndexes"] = text
    else:
        status.pop("completedIndexes", None)
    if found.completed:
        status["succeeded"] = len(found.completed)
    else:
        status.pop("succeeded", None)
    if found.failed_indexes is not None:
        failed = indexes.text_of(found.failed_indexes)
        if failed != status.get("failedIndexes"):
            changed = True
        status["failedIndexes"] = failed
    elif "failedIndexes" in status:
        del status["failedIndexes"]
        changed = True
    return changed


def _write_interim(found: Round) -> bool:
    outcome = found.outcome
    if outcome is None or not outcome.is_interim or conditions.find(found.job, outcome.type) is not None:
        return False
    condition = conditions.make(outcome.type, outcome.reason, outcome.message, times.format_time(found.now))
    found.status.setdefault("conditions", []).append(condition)
    return True


async def _release(found: Round, hands: Hands, releasable: list[pods.Pod]) -> APIError | None:
    failure: APIError | None = None
    for pod in releasable:
        try:
            await hands.remove_tracking(pod)
        except APIError as error:
            failure = failure or error
        else:
            found.released[pod["metadata"]["uid"]] = None
    return failure


def _finish(found: Round) -> bool:
    """Set the terminal condition when nothing is left to account for."""
    outcome = found.outcome
    if outcome is None or found.uncounted.get("succeeded") or found.uncounted.get("failed"):
        return False
    if found.features.interim_conditions and found.terminating:
        return False
    now = times.format_time(found.now)
    found.status.setdefault("conditions", []).append(conditions.make(outcome.terminal, outcome.reason, outcome.message, now))
    if outcome.terminal == "Complete":
        found.status["completionTime"] = now
    return True
