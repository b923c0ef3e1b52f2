"""What a JobSet does when a Job of it has failed.

Upstream: pkg/controllers/failure_policy.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util import regex
from fakekube_controllers.jobset import names, restarts
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.status import FAILED, RESTARTING, StatusUpdate

REACHED_MAX = ("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
FAIL, RESTART, RESTART_JOB = "FailJobSet", "RestartJobSet", "RestartJob"
IGNORE_MAX = "AndIgnoreMaxRestarts"


class CannotRestart(ValueError):
    """A Job that cannot be made anew alone."""


class _Failed(NamedTuple):
    rule: Tree | None
    job: Tree


def execute(update: StatusUpdate, failed: Sequence[Tree], features: Features) -> None:
    """Fail the JobSet, or let it or a Job of it start anew, as its failure policy says.

    Raises CannotRestart.
    """
    policy = update.jobset["spec"].get("failurePolicy")
    if policy is None:
        fail(update, "FailedJobs", _with_job("jobset failed due to one or more job failures", _first_failed(failed)))
        return
    found = _matched(policy.get("rules") or (), failed) or _Failed(None, _first_failed(failed))
    action = found.rule["action"] if found.rule is not None else RESTART
    if action == FAIL:
        fail(update, f"{FAIL}FailurePolicyAction", _with_job(f"applying {FAIL} failure policy action", found.job))
        return
    is_alone = action.removesuffix(IGNORE_MAX) == RESTART_JOB
    if is_alone and not features.RestartJob:
        raise CannotRestart(f"{action} failure policy action cannot be used when the feature gate RestartJob is disabled")
    counts = not action.endswith(IGNORE_MAX)
    if counts and restarts.counted(update.jobset, with_jobs=features.RestartJob) >= policy.get("maxRestarts", 0):
        reason, text = REACHED_MAX
        fail(update, reason, _with_job(text, found.job))
        return
    text = _with_job(f"applying {action} failure policy action", found.job)
    if is_alone:
        _restart_one(update, found.job, counts=counts)
    else:
        _restart_all(update, found.rule, text, counts=counts)
    update.tell("Warning", f"{action}FailurePolicyAction", text)


def fail(update: StatusUpdate, reason: str, message: str) -> None:
    """The JobSet has failed."""
    update.set_condition(FAILED, "True", reason, message, event="Warning")
    update.end_restart("JobSetFailed", "jobset failed")
    update.status["terminalState"] = FAILED


def _restart_all(update: StatusUpdate, rule: Tree | None, message: str, *, counts: bool) -> None:
    update.status["restarts"] += 1
    if counts:
        update.status["restartsCountTowardsMax"] = update.status.get("restartsCountTowardsMax", 0) + 1
    update.is_due = True
    reason = f"FailurePolicy_{rule['name']}" if rule is not None else "DefaultFailurePolicy"
    update.set_condition(RESTARTING, "True", reason, message, event="Warning")


def _restart_one(update: StatusUpdate, job: Tree, *, counts: bool) -> None:
    labels, name = meta.labels_of(job), meta.name_of(job)
    for label in (names.REPLICATED_JOB_NAME, names.JOB_INDEX):
        if label not in labels:
            raise CannotRestart(f"failed job {name} missing {label} label")
    replicated_job, index = labels[names.REPLICATED_JOB_NAME], int(labels[names.JOB_INDEX])
    for field in (restarts.OF_JOBS, restarts.COUNTED) if counts else (restarts.OF_JOBS,):
        numbers = restarts.of_jobs(update.jobset, replicated_job, field)
        if not 0 <= index < len(numbers):
            where = f"replicated job {replicated_job} (replicas: {len(numbers)})"
            raise CannotRestart(f"failed job {name} has index {index} out of bounds for {where}")
        numbers[index] += 1
        restarts.count(update.status, replicated_job, field, numbers)
    update.is_due = True


def _matched(rules: Sequence[Tree], failed: Sequence[Tree]) -> _Failed | None:
    """The first rule that is for any of the Jobs, and the one of these that failed first."""
    for rule in rules:
        if meant := [job for job in failed if _applies(rule, job)]:
            return _Failed(rule, _first_failed(meant))
    return None


def _applies(rule: ReadOnlyTree, job: ReadOnlyTree) -> bool:
    condition = _failure(job)
    reasons, patterns = rule.get("onJobFailureReasons"), rule.get("onJobFailureMessagePatterns")
    if reasons and condition.get("reason") not in reasons:
        return False
    if patterns and not any(_is_found(pattern, condition.get("message", "")) for pattern in patterns):
        return False
    parent, targets = meta.labels_of(job).get(names.REPLICATED_JOB_NAME), rule.get("targetReplicatedJobs")
    return bool(parent) and (not targets or parent in targets)


def _is_found(pattern: str, message: str) -> bool:
    """Whether a pattern is in a message; one that is no expression is in none."""
    try:
        return regex.compiled(pattern).is_in(message)
    except regex.RegexError:
        return False


def _failure(job: ReadOnlyTree) -> Tree:
    condition = conditions.find(job["status"]["conditions"], "Failed")
    assert condition is not None, "the Job has failed"
    return condition


def _first_failed(failed: Sequence[Tree]) -> Tree:
    return min(failed, key=lambda job: times.parse_time(_failure(job)["lastTransitionTime"]))


def _with_job(text: str, job: ReadOnlyTree) -> str:
    return f"{text} (first failed job: {meta.name_of(job)})"
