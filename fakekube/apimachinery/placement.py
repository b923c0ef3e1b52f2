"""What a pod's spec says of the nodes where it may be: tolerations of taints, node selector,
required node affinity.

Upstream: component-helpers/scheduling/corev1 (helpers.go, nodeaffinity). The scheduler, the kubelet
and the controllers that place or evict pods all ask here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import strconv

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
        have, limit = _canonical(value), _canonical(wanted)
        if have is None or limit is None:
            return False
        return have > limit if operator == "Gt" else have < limit
    return value == wanted


def _canonical(text: str) -> int | None:
    """The number that a text is, without a plus sign or zeros in front; None for any other."""
    number = _number(text)
    return number if number is not None and str(number) == text else None


def _number(text: str) -> int | None:
    """The number of 64 bits that a text is, or None."""
    number = strconv.whole(text)
    return number if number is not None and -_INT64 <= number < _INT64 else None


_INT64 = 2**63


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration], effects: Sequence[str]) -> Taint | None:
    """The first taint with one of the effects that nothing tolerates."""
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def selects(spec: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Whether a pod's nodeSelector and required node affinity take a node of that name with those
    labels.
    """
    selector = spec.get("nodeSelector")
    if selector and any(labels.get(key) != value for key, value in selector.items()):
        return False
    required = node_affinity(spec).get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(term_matches(term, name, labels) for term in required.get("nodeSelectorTerms") or ())


def node_affinity(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pod's node affinity; empty when it has none."""
    found: Mapping[str, Any] = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return found


def term_matches(term: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node selector term matches a node; an empty one matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return _all_match(expressions, labels) and _all_match(fields, {"metadata.name": name})


def _all_match(requirements: Sequence[Mapping[str, Any]], values: Mapping[str, str]) -> bool:
    return all(_matches(requirement, values) for requirement in requirements)


def _matches(requirement: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    key: str = requirement["key"]
    operator: str = requirement["operator"]
    wanted: list[str] = list(requirement.get("values") or [])
    value: str | None = values.get(key)
    if operator in ("In", "NotIn"):
        return (value in wanted) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    if value is None or len(wanted) != 1:
        return False
    have, limit = _number(value), _number(wanted[0])
    if have is None or limit is None:
        return False
    return have > limit if operator == "Gt" else have < limit
