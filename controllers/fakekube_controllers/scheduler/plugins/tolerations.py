"""Which taints a pod tolerates. Upstream: component-helpers/scheduling/corev1/helpers.go."""

from collections.abc import Mapping, Sequence

Taint = Mapping[str, str]
Toleration = Mapping[str, str]

UNSCHEDULABLE_TAINT: Taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    value, wanted = taint.get("value") or "", toleration.get("value") or ""
    if operator == "Exists":
        return True
    if operator in ("Gt", "Lt"):
        if not (_is_integer(value) and _is_integer(wanted)):
            return False
        return int(value) > int(wanted) if operator == "Gt" else int(value) < int(wanted)
    return value == wanted


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration], effects: Sequence[str]) -> Taint | None:
    """The first taint with one of the effects that nothing tolerates."""
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None
