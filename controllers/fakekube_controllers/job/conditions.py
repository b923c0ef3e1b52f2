"""A Job's conditions. Upstream: pkg/controller/job/job_controller.go (newCondition, ensureJobConditionStatus)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree


class Outcome(NamedTuple):
    """How a Job is going to end: the next condition's type, with its reason and message."""

    type: str  # SuccessCriteriaMet or FailureTarget; Complete or Failed where the end is not announced
    reason: str
    message: str

    @property
    def terminal(self) -> str:
        """The condition that follows once every pod is accounted for."""
        return "Complete" if self.succeeds else "Failed"

    @property
    def succeeds(self) -> bool:
        """Whether the Job ends well."""
        return self.type in ("SuccessCriteriaMet", "Complete")

    @property
    def is_interim(self) -> bool:
        """Whether a condition of this type announces the end."""
        return self.type in ("SuccessCriteriaMet", "FailureTarget")


def find(job: Mapping[str, Any], condition_type: str) -> Mapping[str, Any] | None:
    """The condition of that type whose status is True, or None."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition["type"] == condition_type and condition["status"] == "True":
            found: Mapping[str, Any] = condition
            return found
    return None


def is_finished(job: Mapping[str, Any]) -> bool:
    """Whether the Job is Complete or Failed."""
    return find(job, "Complete") is not None or find(job, "Failed") is not None


def make(condition_type: str, reason: str, message: str, now: str, status: str = "True") -> Tree:
    """A condition that changed just now."""
    condition = {"type": condition_type, "status": status, "lastProbeTime": now, "lastTransitionTime": now}
    return condition | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def ensure(status: Tree, condition: Tree) -> bool:
    """Set a condition in a status that the caller owns; True when that changed its state.

    One that was never there is not added as False.
    """
    conditions = status.setdefault("conditions", [])
    for position, present in enumerate(conditions):
        if present["type"] == condition["type"]:
            same = present["status"] == condition["status"]
            if same and present.get("reason") == condition.get("reason") and present.get("message") == condition.get("message"):
                return False
            kept = {"lastTransitionTime": present["lastTransitionTime"]} if same else {}
            conditions[position] = condition | kept
            return True
    if condition["status"] == "False":
        if not conditions:
            del status["conditions"]
        return False
    conditions.append(condition)
    return True
