"""Workloads as Kubernetes 1.35 had them: groups of pods inside, and rules worded by hand.

Upstream: pkg/apis/scheduling/validation/validation.go and pkg/registry/scheduling/workload in 1.35.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Json, Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.scheduling.workload import validate_controller
from fakekube.registry.strategy import Strategy, WriteContext

GROUPS = "podGroups"
MAX_GROUPS = 8
ONE_POLICY = "exactly one of `basic`, `gang` is required"


class WorkloadStrategy(Strategy):
    """Groups that nobody changes, and a controller that may come later."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A Workload has a spec."""
        obj.setdefault("spec", {})

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The controller and each group."""
        spec = obj["spec"]
        reference = spec.get("controllerRef")
        found = [] if reference is None else validate_controller(reference, "spec.controllerRef")
        return found + _validate_groups(spec.get(GROUPS) or [], f"spec.{GROUPS}")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Upstream names the fields that must not change without ``spec``, and shows its own form
        of them.
        """
        found = self.validate(obj, ctx)
        spec, before = obj["spec"], old["spec"]
        reference, told = spec.get("controllerRef"), before.get("controllerRef")
        if told is not None and reference != told:
            found.append(field_errors.invalid("controllerRef", _internal_reference(reference), IMMUTABLE))
        if (spec.get(GROUPS) or []) != (before.get(GROUPS) or []):
            shown = [_internal_group(group) for group in spec.get(GROUPS) or ()] or None
            found.append(field_errors.invalid(GROUPS, shown, IMMUTABLE))
        return found


def _validate_groups(items: list[Tree], path: str) -> list[FieldError]:
    if not items:
        return [field_errors.required(path, "must have at least one item")]
    if len(items) > MAX_GROUPS:
        return [field_errors.too_many(path, len(items), MAX_GROUPS)]
    found: list[FieldError] = []
    known = [item.get("name", "") for item in items]
    for position, item in enumerate(items):
        here, name = f"{path}[{position}]", known[position]
        found += complaints(f"{here}.name", name, names.dns1123_label(name))
        if name in known[:position]:
            found.append(field_errors.duplicate(f"{here}.name", name))
        found += _validate_policy(item.get("policy", {}), f"{here}.policy")
    return found


def _validate_policy(policy: Tree, path: str) -> list[FieldError]:
    given = [name for name in ("basic", "gang") if name in policy]
    if not given:
        return [field_errors.required(path, ONE_POLICY)]
    if len(given) > 1:
        shown = ", ".join(f"`{name}`" for name in given)
        return [field_errors.invalid(path, f"{{{shown}}}", f"{ONE_POLICY}, but multiple fields are set")]
    count = policy["gang"].get("minCount", 0) if "gang" in policy else 1
    return [] if count > 0 else [field_errors.invalid(f"{path}.gang.minCount", count, "must be greater than zero")]


def _internal_reference(reference: Tree | None) -> Json:
    if reference is None:
        return None
    fields = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
    return {shown: reference.get(name, "") for shown, name in fields.items()}


def _internal_group(group: Tree) -> Tree:
    policy = group.get("policy", {})
    gang = {"MinCount": policy["gang"].get("minCount", 0)} if "gang" in policy else None
    return {"Name": group.get("name", ""), "Policy": {"Basic": policy.get("basic"), "Gang": gang}}


WORKLOAD = WorkloadStrategy()
