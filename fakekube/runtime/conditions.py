"""``status.conditions``, kept as upstream keeps them. Upstream: apimachinery/pkg/api/meta/conditions.go."""

from typing import Literal

from fakekube.apimachinery.types import Tree

Status = Literal["True", "False", "Unknown"]


def set_condition(
    conditions: list[Tree], type: str, status: Status, *, now: str, reason: str = "", message: str = "",  # noqa: A002
    observed_generation: int = 0,
) -> bool:
    """Set the condition of a type in a list that the caller owns; True when something changed.

    ``now`` is a timestamp as it stands in objects; ``lastTransitionTime`` becomes it only when the status changes.
    """
    wanted: Tree = {"type": type, "status": status, "reason": reason, "message": message}
    if observed_generation:
        wanted["observedGeneration"] = observed_generation
    for index, condition in enumerate(conditions):
        if condition.get("type") == type:
            if all(condition.get(key, "") == value for key, value in wanted.items()):
                return False
            transition = now if condition.get("status") != status else condition.get("lastTransitionTime", now)
            conditions[index] = {**condition, **wanted, "lastTransitionTime": transition}
            return True
    conditions.append({**wanted, "lastTransitionTime": now})
    return True


def remove_condition(conditions: list[Tree], type: str) -> bool:  # noqa: A002
    """Take the condition of a type out of a list that the caller owns; True when there was one."""
    kept = [condition for condition in conditions if condition.get("type") != type]
    if len(kept) == len(conditions):
        return False
    conditions[:] = kept
    return True
