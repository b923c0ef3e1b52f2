"""A Job's conditions.

Upstream: pkg/controller/job/job_controller.go (newCondition, ensureJobConditionStatus).
"""

from typing import NamedTuple

from fakekube.apimachinery import conditions
from fakekube.apimachinery.types import Tree


class Outcome(NamedTuple):
    """How a Job is going to end: the next condition's type, with its reason and message."""

    # SuccessCriteriaMet or FailureTarget; Complete or Failed where the end is not announced
    type: str
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


def make(condition_type: str, reason: str, message: str, now: str, status: str = "True") -> Tree:
    """A condition whose status changes ``now`` (an RFC 3339 timestamp)."""
    condition = {"type": condition_type, "status": status, "lastProbeTime": now, "lastTransitionTime": now}
    return condition | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def ensure(status: Tree, condition: Tree) -> bool:
    """Set a condition in a status that the caller owns; whether that changed something.

    A condition that is not there is not added as False.
    """
    present = conditions.find(status.get("conditions"), condition["type"])
    if present is None and condition["status"] == "False":
        return False
    if present is not None and all(present.get(key) == condition.get(key) for key in ("status", "reason", "message")):
        return False
    since = conditions.transition_time(present, condition["status"], condition["lastTransitionTime"])
    conditions.put(status.setdefault("conditions", []), condition | {"lastTransitionTime": since})
    return True
