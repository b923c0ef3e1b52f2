"""What is wrong with a Job's status: a finished Job stays finished, and its numbers agree with its
conditions.

Upstream: validateJobStatus, ValidateJobStatusUpdate, and getStatusValidationOptions in
pkg/registry/batch/job/strategy.go: what did not change is not looked at. Most of it came with
managedBy, which lets others than the Job controller write here, and is asked for with its gate
only.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import OMITTED, FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, nonnegative_fields
from fakekube.apis.batch import indexes

COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
CONDITIONS = "status.conditions"
TIMES = "status.completionTime"
START_IMMUTABLE_SINCE = 36  # the minor number of the release that words it as all others do
# and that of the one in which every Job says so when it is about to complete
ANY_SUCCESS_SINCE = 31


def _has(status: Tree, kind: str, value: str = "True") -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == value
        for condition in status.get("conditions") or ()
    )


@dataclass(slots=True)
class _State:
    """The conditions that the rules ask for, read once."""

    complete: bool
    failed: bool
    target: bool
    success: bool

    @classmethod
    def of(cls, status: Tree) -> "_State":
        true = [condition.get("type") for condition in status.get("conditions") or () if condition.get("status") == "True"]
        return cls("Complete" in true, "Failed" in true, "FailureTarget" in true, "SuccessCriteriaMet" in true)

    @property
    def finished(self) -> bool:
        return self.complete or self.failed


def _forbid(what: str) -> FieldError:
    return field_errors.invalid(CONDITIONS, OMITTED, what)


def validate_job_status(job: Tree, old: Tree, minor: int, gate: Callable[[str], bool]) -> list[FieldError]:
    """A changed status; ``job`` has the spec of ``old``.

    ``minor`` is the release's minor number, ``gate`` tells of its gates.
    """
    status, old_status = job.get("status") or {}, old.get("status") or {}
    state, before = _State.of(status), _State.of(old_status)
    found = nonnegative_fields(status, "status", *COUNTS)
    found += _uncounted(status.get("uncountedTerminatedPods") or {}, "status.uncountedTerminatedPods")
    strict = gate("JobManagedBy")
    if strict:
        found += _agreement(job["spec"], status, old_status, state, before)
    elif not before.success and not (gate("JobPodReplacementPolicy") and minor >= ANY_SUCCESS_SINCE):
        found += _success_by_policy(job["spec"], state)
    if state.success and state.failed:
        found.append(_forbid("cannot set SuccessCriteriaMet=True and Failed=true conditions"))
    if state.success and state.target:
        found.append(_forbid("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"))
    if "successPolicy" in job["spec"] and not state.success and state.complete:
        found.append(_forbid("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"))
    if strict:
        found += _against_old(job, status, old_status, state, before, minor)
    if before.success and not state.success:
        found.append(_forbid("cannot disable the SuccessCriteriaMet=True condition"))
    if before.complete and not before.success and state.success:
        found.append(_forbid("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
    return found


def _success_by_policy(spec: Tree, state: _State) -> list[FieldError]:
    """Only a successPolicy announces success, as long as nothing else does."""
    found: list[FieldError] = []
    if state.success and spec.get("completionMode") != "Indexed":
        found.append(_forbid("cannot set SuccessCriteriaMet to NonIndexed Job"))
    if state.success and "successPolicy" not in spec:
        found.append(_forbid("cannot set SuccessCriteriaMet=True for Job without SuccessPolicy"))
    return found


def _agreement(spec: Tree, status: Tree, old_status: Tree, state: _State, before: _State) -> list[FieldError]:
    """The parts of a status that must agree with each other."""
    found = _exclusions(state, before)
    found += _completion_time(status, old_status, state, before)
    found += _interim(status, old_status, state, before)
    found += _finished(spec, status, old_status, state, before)
    found += _indexes(spec, status, old_status)
    if _differs(status, old_status, "terminating") or state.finished != before.finished:
        terminating = status.get("terminating") or 0
        if terminating > 0 and state.finished:
            what = "terminating>0 is invalid for finished job"
            found.append(field_errors.invalid("status.terminating", terminating, what))
    if _differs(status, old_status, "ready", "active"):
        ready = status.get("ready")
        if ready is not None and ready > status.get("active", 0):
            found.append(field_errors.invalid("status.ready", ready, "cannot set more ready pods than active"))
    return found


def _differs(status: Tree, old_status: Tree, *fields: str) -> bool:
    for field in fields:  # noqa: SIM110 - every write asks this often, and a generator costs more than the answer
        if not same(status.get(field), old_status.get(field)):
            return True
    return False


def _uncounted(pods: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[str] = set()
    for field in ("succeeded", "failed"):
        for position, uid in enumerate(pods.get(field) or ()):
            if not uid:
                found.append(field_errors.invalid(f"{path}.{field}[{position}]", uid, "must not be empty"))
            elif uid in seen:
                found.append(field_errors.duplicate(f"{path}.{field}[{position}]", uid))
            seen.add(uid)
    return found


def _exclusions(state: _State, before: _State) -> list[FieldError]:
    found: list[FieldError] = []
    completed = state.complete != before.complete
    if state.complete and state.failed and (completed or state.failed != before.failed):
        found.append(_forbid("cannot set Complete=True and Failed=true conditions"))
    if state.complete and state.target and (completed or state.target != before.target):
        found.append(_forbid("cannot set Complete=True and FailureTarget=true conditions"))
    return found


def _completion_time(status: Tree, old_status: Tree, state: _State, before: _State) -> list[FieldError]:
    found: list[FieldError] = []
    ended, started = status.get("completionTime"), status.get("startTime")
    changed = _differs(status, old_status, "completionTime")
    if changed or state.complete != before.complete:
        if ended is not None and not state.complete:
            what = "cannot set completionTime when there is no Complete=True condition"
            found.append(field_errors.invalid(TIMES, ended, what))
        if ended is None and state.complete:
            found.append(field_errors.required(TIMES, "completionTime is required for Complete jobs"))
    if (changed or _differs(status, old_status, "startTime")) and started and ended and ended < started:
        found.append(field_errors.invalid(TIMES, ended, "must be equal to or after `startTime`"))
    return found


def _interim(status: Tree, old_status: Tree, state: _State, before: _State) -> list[FieldError]:
    """The conditions that announce an end come before it."""
    found: list[FieldError] = []
    failure_looked_at = state.failed != before.failed or _differs(status, old_status, "failedIndexes")
    if state.failed and not state.target and failure_looked_at:
        found.append(_forbid("cannot set Failed=True condition without the FailureTarget=true condition"))
    success_looked_at = state.complete != before.complete or state.success != before.success
    if state.complete and not state.success and success_looked_at:
        found.append(_forbid("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
    return found


def _finished(spec: Tree, status: Tree, old_status: Tree, state: _State, before: _State) -> list[FieldError]:
    found: list[FieldError] = []
    if not state.finished:
        return found
    ended_now = state.finished != before.finished
    active, pods = status.get("active", 0), status.get("uncountedTerminatedPods")
    if active > 0 and (ended_now or _differs(status, old_status, "active")):
        found.append(field_errors.invalid("status.active", active, "active>0 is invalid for finished job"))
    empty_and_suspended = spec.get("suspend") and spec.get("completions") == 0
    looked_at = ended_now or _differs(status, old_status, "startTime")
    if "startTime" not in status and looked_at and not empty_and_suspended:
        found.append(field_errors.required("status.startTime", "startTime is required for finished job"))
    looked_at = ended_now or _differs(status, old_status, "uncountedTerminatedPods")
    if pods and (pods.get("succeeded") or pods.get("failed")) and looked_at:
        shown = {"Succeeded": pods.get("succeeded"), "Failed": pods.get("failed")}
        what = "must be empty for finished job"
        found.append(field_errors.invalid("status.uncountedTerminatedPods", shown, what))
    return found


def _indexes(spec: Tree, status: Tree, old_status: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    completions, per_index = spec.get("completions"), "backoffLimitPerIndex" in spec
    completed, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    completed_path, failed_path = "status.completedIndexes", "status.failedIndexes"
    completed_changed = completed != old_status.get("completedIndexes", "")
    failed_changed = failed != old_status.get("failedIndexes")
    if completed_changed and completions is not None:
        found += _format(completed, completions, completed_path, "completedIndexes")
    if failed_changed and completions is not None and per_index and failed is not None:
        found += _format(failed, completions, failed_path, "failedIndexes")
    if completed_changed and completed and spec.get("completionMode") != "Indexed":
        what = "cannot set non-empty completedIndexes when non-indexed completion mode"
        found.append(field_errors.invalid(completed_path, completed, what))
    if failed_changed and not per_index and failed is not None:
        what = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        found.append(field_errors.invalid(failed_path, failed, what))
    if (completed_changed or failed_changed) and completions is not None and failed is not None:
        overlap = indexes.first_overlap(completed, failed, completions)
        if overlap is not None:
            what = f"failedIndexes and completedIndexes overlap at index: {overlap}"
            found.append(field_errors.invalid(failed_path, failed, what))
    return found


def _format(text: str, completions: int, path: str, name: str) -> list[FieldError]:
    try:
        indexes.intervals(text, completions)
    except indexes.IndexesError as error:
        return [field_errors.invalid(path, text, f"error parsing {name}: {error}")]
    return []


def _against_old(job: Tree, status: Tree, old_status: Tree, state: _State, before: _State, minor: int) -> list[FieldError]:
    """What may not be undone."""
    spec = job["spec"]
    found = [
        _forbid(f"cannot disable the terminal {kind}=True condition")
        for kind, was, is_now in (
            ("Failed", before.failed, state.failed), ("Complete", before.complete, state.complete),
            ("FailureTarget", before.target, state.target)) if was and not is_now
    ]
    failed, succeeded = status.get("failed", 0), status.get("succeeded", 0)
    if failed < old_status.get("failed", 0):
        found.append(field_errors.invalid("status.failed", failed, "cannot decrease the failed counter"))
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if succeeded < old_status.get("succeeded", 0) and not elastic:
        found.append(field_errors.invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter"))
    ended, old_ended = status.get("completionTime"), old_status.get("completionTime")
    if ended is not None and old_ended is not None and ended != old_ended:
        found.append(field_errors.invalid(TIMES, ended, IMMUTABLE))
    return found + _start_kept(spec, status, old_status, minor)


def _start_kept(spec: Tree, status: Tree, old_status: Tree, minor: int) -> list[FieldError]:
    """The start of a Job stays, unless it is or was suspended. 1.35 says so whatever the change is.
    """
    started, before, path = status.get("startTime"), old_status.get("startTime"), "status.startTime"
    if before is None or started == before or spec.get("suspend"):
        return []
    if _has(old_status, "Suspended") and _has(status, "Suspended", "False"):
        return []
    if minor < START_IMMUTABLE_SINCE:
        return [field_errors.required(path, "startTime cannot be removed for unsuspended job")]
    return [field_errors.invalid(path, started, "field is immutable for unsuspended job once set")]
