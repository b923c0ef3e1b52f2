"""``status.conditions``: finding a condition, and setting one by upstream's rules.

The kinds of conditions differ in their fields, so that most controllers make their own; the rule
for ``lastTransitionTime`` is the same for all. Upstream: apimachinery/pkg/api/meta/conditions.go.
"""

from collections.abc import Iterable
from typing import Literal

from fakekube.apimachinery.types import ReadOnlyTree, Tree

Status = Literal["True", "False", "Unknown"]


def find(conditions: Iterable[Tree] | None, type: str) -> Tree | None:  # noqa: A002 - the field's name
    """The condition of a type in a list, or None; None stands for an empty list."""
    for condition in conditions or ():
        if condition.get("type") == type:
            return condition
    return None


def is_true(conditions: Iterable[Tree] | None, type: str) -> bool:  # noqa: A002
    """Whether a list has the condition of a type, and its status is ``"True"``."""
    for condition in conditions or ():
        if condition.get("type") == type:
            return condition.get("status") == "True"
    return False


def transition_time(present: ReadOnlyTree | None, status: str, now: str) -> str:
    """``lastTransitionTime`` of a condition that gets ``status``: it becomes ``now`` only when the
    status changes.

    ``present``: the condition so far; None when there is none. ``now``: an RFC 3339 timestamp.
    """
    kept = present.get("lastTransitionTime") if present is not None and present.get("status") == status else None
    return kept or now


def put(conditions: list[Tree], condition: Tree) -> None:
    """Put a condition in the place of that of its type, or at the end of a list that the caller
    owns.
    """
    for position, present in enumerate(conditions):
        if present.get("type") == condition["type"]:
            conditions[position] = condition
            return
    conditions.append(condition)


def set_condition(
    conditions: list[Tree], type: str, status: Status, *, now: str, reason: str = "", message: str = "",  # noqa: A002
    observed_generation: int = 0,
) -> bool:
    """Set the condition of a type in a list that the caller owns; whether something changed.

    Upstream: SetStatusCondition.

    ``now``: an RFC 3339 timestamp.
    """
    wanted: Tree = {"type": type, "status": status, "reason": reason, "message": message}
    if observed_generation:
        wanted["observedGeneration"] = observed_generation
    present = find(conditions, type)
    if present is not None and all(present.get(key, "") == value for key, value in wanted.items()):
        return False
    put(conditions, {**(present or {}), **wanted, "lastTransitionTime": transition_time(present, status, now)})
    return True


def remove(conditions: list[Tree], type: str) -> bool:  # noqa: A002
    """Remove the condition of a type from a list that the caller owns; whether there was one."""
    kept = [condition for condition in conditions if condition.get("type") != type]
    if len(kept) == len(conditions):
        return False
    conditions[:] = kept
    return True
