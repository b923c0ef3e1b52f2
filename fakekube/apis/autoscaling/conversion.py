"""HorizontalPodAutoscaler between autoscaling/v1 and v2, in which it is stored.

v1 knows one metric, the utilization of cpu; everything else travels in annotations, so that nothing
is lost on the way through v1. Upstream: pkg/apis/autoscaling/v1/conversion.go.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from fakekube.apimachinery.types import Json, Tree

PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS = PREFIX + "metrics"
CURRENT_METRICS = PREFIX + "current-metrics"
CONDITIONS = PREFIX + "conditions"
BEHAVIOR = PREFIX + "behavior"
ROUND_TRIP = (
    METRICS, BEHAVIOR, PREFIX + "scale-down-tolerance", PREFIX + "scale-up-tolerance", CURRENT_METRICS, CONDITIONS,
)  # fmt: skip
CONDITION_FIELDS = ("type", "status", "lastTransitionTime", "reason", "message", "observedGeneration")
DEFAULT_CPU_PERCENT = 80
SOURCES = {
    "Object": "object", "Pods": "pods", "Resource": "resource", "ContainerResource": "containerResource",
    "External": "external",
}  # fmt: skip
# Fields of the behaviour, which upstream writes with the names of its internal type.
RULES = {
    "StabilizationWindowSeconds": "stabilizationWindowSeconds", "SelectPolicy": "selectPolicy", "Policies": "policies",
    "Tolerance": "tolerance",
}  # fmt: skip
POLICY = {"Type": "type", "Value": "value", "PeriodSeconds": "periodSeconds"}


def to_v2(tree: Tree) -> Tree:
    """An autoscaler of v1 as v2; without any metric it watches cpu, at 80 %."""
    annotations = (tree.get("metadata") or {}).get("annotations") or {}
    spec, status = tree.setdefault("spec", {}), tree.get("status", {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_metric_from_v1(metric) for metric in _decoded_list(annotations, METRICS) or ()]
    if percent is not None or not metrics:
        metrics.append(_cpu(DEFAULT_CPU_PERCENT if percent is None else percent))
    spec["metrics"] = metrics
    behavior = _decoded(annotations, BEHAVIOR)
    if isinstance(behavior, dict) and behavior:
        spec["behavior"] = _behavior_from_v1(behavior)
    current = status.pop("currentCPUUtilizationPercentage", None)
    if current is not None:
        status["currentMetrics"] = [_cpu_status(current)]
    if (told := _decoded_list(annotations, CURRENT_METRICS)) is not None:
        status["currentMetrics"] = [_status_from_v1(metric) for metric in told]
    if (conditions := _decoded_list(annotations, CONDITIONS)) is not None:
        status["conditions"] = conditions
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    if "status" in tree:
        status.setdefault("currentMetrics", None)  # which v2 prints in any case
    _drop_round_trip(tree)
    return tree


def from_v2(tree: Tree) -> Tree:
    """An autoscaler of v2 as v1."""
    _drop_round_trip(tree)
    spec, status = tree.setdefault("spec", {}), tree.get("status", {})
    kept: dict[str, Json] = {}
    metrics = spec.pop("metrics", None) or []
    others = [metric for metric in metrics if not _is_cpu_utilization(metric)]
    percents = [metric["resource"]["target"]["averageUtilization"] for metric in metrics if _is_cpu_utilization(metric)]
    if percents:
        spec["targetCPUUtilizationPercentage"] = percents[0]
    if others:
        kept[METRICS] = [_metric_to_v1(metric) for metric in others]
    current = status.pop("currentMetrics", None) or []
    for metric in current:
        if _is_cpu(metric) and "averageUtilization" in metric["resource"].get("current", {}):
            status["currentCPUUtilizationPercentage"] = metric["resource"]["current"]["averageUtilization"]
    if current:
        kept[CURRENT_METRICS] = [_status_to_v1(metric) for metric in current]
    behavior = spec.pop("behavior", None)
    if behavior is not None:
        kept[BEHAVIOR] = _behavior_to_v1(behavior)
    if conditions := status.pop("conditions", None):
        kept[CONDITIONS] = [{name: told[name] for name in CONDITION_FIELDS if name in told} for told in conditions]
    if "status" in tree:
        status.setdefault("currentReplicas", 0)
    if kept:
        annotations = tree.setdefault("metadata", {}).setdefault("annotations", {})
        annotations.update({name: orjson.dumps(value).decode() for name, value in kept.items()})
    return tree


def _drop_round_trip(tree: Tree) -> None:
    metadata = tree.get("metadata") or {}
    annotations = metadata.get("annotations")
    if annotations:
        for name in ROUND_TRIP:
            annotations.pop(name, None)
        if not annotations:
            del metadata["annotations"]


def _decoded(annotations: Mapping[str, str], name: str) -> Any:
    """What an annotation holds; None when it is absent or no JSON, which upstream overlooks too."""
    try:
        return orjson.loads(annotations[name]) if name in annotations else None
    except orjson.JSONDecodeError:
        return None


def _decoded_list(annotations: Mapping[str, str], name: str) -> list[Tree] | None:
    decoded = _decoded(annotations, name)
    if not isinstance(decoded, list) or not all(isinstance(each, dict) for each in decoded):
        return None
    return decoded


def _cpu(percent: int) -> Tree:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _cpu_status(percent: int) -> Tree:
    return {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}


def _is_cpu(metric: Tree) -> bool:
    return metric.get("type") == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"


def _is_cpu_utilization(metric: Tree) -> bool:
    return _is_cpu(metric) and "averageUtilization" in metric["resource"].get("target", {})


# Metrics: what v2 puts below ``metric`` and ``target``, v1 writes side by side, with names that
# differ by source.


def _put(tree: Tree, name: str, value: Json) -> None:
    if value is not None:
        tree[name] = value


def _metric_to_v1(metric: Tree) -> Tree:
    return _converted(metric, lambda source, body: _source_to_v1(source, body, body.get("target") or {}, "target"))


def _status_to_v1(metric: Tree) -> Tree:
    return _converted(metric, lambda source, body: _source_to_v1(source, body, body.get("current") or {}, "current"))


def _metric_from_v1(metric: Tree) -> Tree:
    def target(source: str, body: Tree) -> Tree:
        converted = _source_from_v1(source, body, "target")
        values = converted["target"]
        if "averageUtilization" in values:
            values["type"] = "Utilization"
        elif source in ("resource", "containerResource", "pods") or "value" not in values:
            values["type"] = "AverageValue"
        else:
            values["type"] = "Value"
        if source == "object" and "averageValue" in values:
            values["type"] = "AverageValue"
            if values.get("value") == "0":
                del values["value"]
        return converted

    return _converted(metric, target)


def _status_from_v1(metric: Tree) -> Tree:
    return _converted(metric, lambda source, body: _source_from_v1(source, body, "current"))


def _converted(metric: Tree, body_of: Callable[[str, Tree], Tree]) -> Tree:
    source = SOURCES.get(metric.get("type", ""), "")
    converted: Tree = {"type": metric.get("type", "")}
    if source in metric:
        converted[source] = body_of(source, metric[source])
    return converted


def _value_names(source: str, side: str) -> dict[str, str]:
    """How v1 calls a value, an average value and a utilization, for ``target`` or ``current``."""
    if source == "object":
        return {"value": f"{side}Value", "averageValue": "averageValue"}
    return {
        "value": f"{side}Value",
        "averageValue": f"{side}AverageValue",
        "averageUtilization": f"{side}AverageUtilization",
    }


def _selector_name(source: str) -> str:
    return "metricSelector" if source == "external" else "selector"


def _source_to_v1(source: str, body: Tree, values: Tree, side: str) -> Tree:
    converted: Tree = {}
    if source in ("resource", "containerResource"):
        converted["name"] = body.get("name", "")
        _put(converted, f"{side}AverageUtilization", values.get("averageUtilization"))
        _put(converted, f"{side}AverageValue", values.get("averageValue", "0" if side == "current" else None))
        if source == "containerResource":
            converted["container"] = body.get("container", "")
        return converted
    metric = body.get("metric") or {}
    if source == "object":
        converted["target"] = body.get("describedObject") or {}
    converted["metricName"] = metric.get("name", "")
    _put(converted, _selector_name(source), metric.get("selector"))
    for name, old in _value_names(source, side).items():
        _put(converted, old, values.get(name))
    if source == "object" or (source == "external" and side == "current"):
        converted.setdefault(f"{side}Value", "0")
    if source == "pods":
        converted.setdefault(f"{side}AverageValue", "0")
    order = ("target", "metricName", "metricSelector", f"{side}Value", f"{side}AverageValue", "selector", "averageValue")
    return {name: converted[name] for name in order if name in converted}


def _source_from_v1(source: str, body: Tree, side: str) -> Tree:
    values = {name: body[old] for name, old in _value_names(source, side).items() if old in body}
    if source in ("resource", "containerResource"):
        converted: Tree = {"name": body.get("name", ""), side: values}
        if source == "containerResource":
            converted["container"] = body.get("container", "")
        return converted
    metric: Tree = {"name": body.get("metricName", "")}
    _put(metric, "selector", body.get(_selector_name(source)))
    converted = {"metric": metric, side: values}
    if source == "object":
        converted = {"describedObject": body.get("target") or {}, side: values, "metric": metric}
    return converted


def _behavior_to_v1(behavior: Tree) -> Tree:
    return {"ScaleUp": _rules_to_v1(behavior.get("scaleUp")), "ScaleDown": _rules_to_v1(behavior.get("scaleDown"))}


def _rules_to_v1(rules: Tree | None) -> Tree | None:
    if rules is None:
        return None
    policies = [{old: policy.get(name) for old, name in POLICY.items()} for policy in rules.get("policies") or ()]
    converted = {old: rules.get(name) for old, name in RULES.items()}
    converted["Policies"] = policies or None
    return converted


def _behavior_from_v1(behavior: Tree) -> Tree:
    pairs = (("scaleUp", behavior.get("ScaleUp")), ("scaleDown", behavior.get("ScaleDown")))
    return {name: _rules_from_v1(rules) for name, rules in pairs if rules is not None}


def _rules_from_v1(rules: Tree) -> Tree:
    converted: Tree = {}
    for old, name in RULES.items():
        _put(converted, name, rules.get(old))
    if "policies" in converted:
        converted["policies"] = [
            {name: policy[old] for old, name in POLICY.items() if old in policy} for policy in converted["policies"]
        ]
    return converted
