"""How HorizontalPodAutoscalers print, from their v2 form, and the Scales of whatever can be scaled.
"""

from fakekube.apimachinery.ages import UNKNOWN
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import AGE, NAME, NONE, UNSET, column, dig, table

SHOWN = 2
NIL = "<nil>"  # how Go writes a quantity that is not there
FIELDS = {
    "External": "external", "Pods": "pods", "Object": "object", "Resource": "resource",
    "ContainerResource": "containerResource",
}  # fmt: skip


def _metric(spec: Tree, status: Tree) -> str:
    """``current/target`` of one metric."""
    field = FIELDS.get(spec.get("type", ""))
    if field is None:
        return "<unknown type>"
    target = dig(spec, field, "target") or {}
    current = dig(status, field, "current")
    if field in ("resource", "containerResource"):
        name = dig(spec, field, "name") or ""
        if "averageValue" in target:
            shown = UNKNOWN if current is None else current.get("averageValue", NIL)
            return f"{name}: {shown}/{target['averageValue']}"
        return f"{name}: {_percent(current, UNKNOWN)}/{_percent(target, '<auto>')}"
    if field == "pods":
        shown = UNKNOWN if current is None else current.get("averageValue", NIL)
        return f"{shown}/{target.get('averageValue', NIL)}"
    if "averageValue" in target:
        return f"{(current or {}).get('averageValue', UNKNOWN)}/{target['averageValue']} (avg)"
    shown = UNKNOWN if current is None else current.get("value", NIL)
    return f"{shown}/{target.get('value', NIL)}"


def _percent(value: Tree | None, absent: str) -> str:
    utilization = (value or {}).get("averageUtilization")
    return absent if utilization is None else f"{utilization}%"


def _targets(obj: Tree) -> str:
    specs = dig(obj, "spec", "metrics") or ()
    if not specs:
        return NONE
    statuses = dig(obj, "status", "currentMetrics") or ()
    shown = [_metric(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs)]
    text = ", ".join(shown[:SHOWN])
    return f"{text} + {len(shown) - SHOWN} more..." if len(shown) > SHOWN else text


def _reference(obj: Tree) -> str:
    target = dig(obj, "spec", "scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _min_pods(obj: Tree) -> Json:
    replicas = dig(obj, "spec", "minReplicas")
    return UNSET if replicas is None else str(replicas)


HORIZONTAL_POD_AUTOSCALER = table(
    NAME,
    column("Reference", _reference),
    column("Targets", _targets),
    column("MinPods", _min_pods),
    column("MaxPods", "spec.maxReplicas", 0),
    column("Replicas", "status.currentReplicas", 0),
    AGE,
)

SCALE = table(
    NAME._replace(column=NAME.column._replace(format="")),
    column("Desired:integer", "spec.replicas", 0),
    column("Available:integer", "status.replicas", 0),
    AGE,
)
