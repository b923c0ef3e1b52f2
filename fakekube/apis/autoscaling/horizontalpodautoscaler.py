"""HorizontalPodAutoscalers, as they are stored; ``v1`` beside this module has the older version.

Upstream: pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go,
pkg/apis/autoscaling/v2/defaults.go and pkg/apis/autoscaling/validation.
"""

from typing import Any

from fakekube.apimachinery import field_errors, quantity
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import NEGATIVE, nonnegative, nonnegative_fields, one_of
from fakekube.apis.autoscaling.metrics import validate_metrics, validate_reference
from fakekube.apis.base import StatusStrategy, stored_as_null
from fakekube.registry.strategy import WriteContext

CPU_SHARE = 80
MAX_PERIOD_SECONDS = 1800
MAXIMUM_REQUIRED_SINCE = 36  # the minor number of the release that tells no maximum from a bad one
MAX_WINDOW_SECONDS = 3600
SELECT_POLICIES = ("Disabled", "Max", "Min")
POLICY_TYPES = ("Percent", "Pods")


def _scale_up() -> Tree:
    policies = [
        {"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15},
    ]
    return {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": policies}


def _scale_down() -> Tree:
    return {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def _default_metric() -> Tree:
    target: Tree = {"type": "Utilization", "averageUtilization": CPU_SHARE}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


class HorizontalPodAutoscalerStrategy(StatusStrategy):
    """The kind's own endpoint and its status."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            spec["metrics"] = [_default_metric()]
        if "behavior" in spec:
            behavior = spec["behavior"]
            behavior["scaleUp"] = _scale_up() | _given(behavior.get("scaleUp"))
            behavior["scaleDown"] = _scale_down() | _given(behavior.get("scaleDown"))

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return {"currentMetrics": None, "desiredReplicas": 0}

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "status", "currentMetrics")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return _spec(obj, 0 if ctx.cluster.gate("HPAScaleToZero") else 1, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        least = 0 if ctx.cluster.gate("HPAScaleToZero") or old["spec"].get("minReplicas") == 0 else 1
        target, before = (each["spec"].get("scaleTargetRef") or {} for each in (obj, old))
        same = all(target.get(name) == before.get(name) for name in ("apiVersion", "kind"))
        return _spec(obj, least, ctx, needs_group=not same)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        status = obj.get("status", {})
        found: list[FieldError] = []
        for position, condition in enumerate(status.get("conditions") or ()):
            path = f"status.conditions[{position}].observedGeneration"
            found += nonnegative(path, condition.get("observedGeneration"))
        return found + nonnegative_fields(status, "status", "currentReplicas", "desiredReplicas")


def _given(rules: Tree | None) -> dict[str, Any]:
    return {name: value for name, value in (rules or {}).items() if value is not None}


def _spec(obj: Tree, least: int, ctx: WriteContext, *, needs_group: bool = True) -> list[FieldError]:
    spec = obj["spec"]
    minimum, maximum = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    found = _limits(minimum, maximum, least, ctx.minor)
    if minimum is not None and maximum < minimum:
        what = "must be greater than or equal to `minReplicas`"
        found.append(field_errors.invalid("spec.maxReplicas", maximum, what))
    target = spec.get("scaleTargetRef") or {}
    # The one kind of the core group that can be scaled.
    needs_group = needs_group and target.get("kind") != "ReplicationController"
    found += validate_reference(target, "spec.scaleTargetRef", needs_group=needs_group)
    metrics = spec.get("metrics") or []
    found += validate_metrics(metrics, minimum, "spec.metrics")
    for name in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(name)
        if rules is not None:
            found += _rules(rules, f"spec.behavior.{name}")
    return found


def _limits(minimum: int | None, maximum: int, least: int, minor: int) -> list[FieldError]:
    found: list[FieldError] = []
    if minimum is not None and minimum < least:
        what = f"must be greater than or equal to {least}"
        found.append(field_errors.declared(field_errors.invalid("spec.minReplicas", minimum, what)))
    path = "spec.maxReplicas"
    if maximum < 1 and minor < MAXIMUM_REQUIRED_SINCE:
        found.append(field_errors.invalid(path, maximum, "must be greater than 0"))
    elif maximum == 0:
        before = field_errors.required(path, "must be set and greater than 0")
        found.append(field_errors.declared(field_errors.required(path), before))
    elif maximum < 0:
        found.append(field_errors.declared(field_errors.invalid(path, maximum, "must be greater than or equal to 1")))
    return found


def _rules(rules: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        what = "must be greater than or equal to zero"
        found.append(field_errors.invalid(f"{path}.stabilizationWindowSeconds", window, what))
    if window is not None and window > MAX_WINDOW_SECONDS:
        what = f"must be less than or equal to {MAX_WINDOW_SECONDS}"
        found.append(field_errors.invalid(f"{path}.stabilizationWindowSeconds", window, what))
    if "selectPolicy" in rules:
        found += one_of(f"{path}.selectPolicy", rules["selectPolicy"], SELECT_POLICIES)
    policies = rules.get("policies") or []
    if not policies:
        found.append(field_errors.required(f"{path}.policies", "must specify at least one Policy"))
    for position, policy in enumerate(policies):
        found += _policy(policy, f"{path}.policies[{position}]")
    if "tolerance" in rules and quantity.parse(rules["tolerance"]).nano < 0:
        found.append(field_errors.invalid(f"{path}.tolerance", rules["tolerance"], NEGATIVE))
    return found


def _policy(policy: Tree, path: str) -> list[FieldError]:
    found = one_of(f"{path}.type", policy.get("type", ""), POLICY_TYPES)
    for name in ("value", "periodSeconds"):
        if policy.get(name, 0) <= 0:
            what = "must be greater than zero"
            found.append(field_errors.invalid(f"{path}.{name}", policy.get(name, 0), what))
    period = policy.get("periodSeconds", 0)
    if period > MAX_PERIOD_SECONDS:
        what = f"must be less than or equal to {MAX_PERIOD_SECONDS}"
        found.append(field_errors.invalid(f"{path}.periodSeconds", period, what))
    return found


STRATEGY = HorizontalPodAutoscalerStrategy()
