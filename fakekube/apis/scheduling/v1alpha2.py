"""Workloads and PodGroups as Kubernetes 1.36 had them: a flat list of templates, and specs that
never change.

Upstream: pkg/registry/scheduling and the declarative rules of k8s.io/api/scheduling/v1alpha2 in
1.36.
"""

from collections.abc import Callable

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis import base
from fakekube.apis.scheduling import blocks, groups
from fakekube.apis.scheduling.podgroup import GroupStrategy
from fakekube.apis.scheduling.workload import validate_controller
from fakekube.registry.strategy import Strategy, WriteContext

TEMPLATES = "podGroupTemplates"
MAX_TEMPLATES = 8
MODES = ("Pod", "PodGroup")
GATES = {
    "schedulingConstraints": "TopologyAwareWorkloadScheduling",
    "resourceClaims": "DRAWorkloadResourceClaims",
    "disruptionMode": "WorkloadAwarePreemption",
    "priorityClassName": "WorkloadAwarePreemption",
    "priority": "WorkloadAwarePreemption",
}
SHOWN = ("name", "schedulingPolicy", "schedulingConstraints", "resourceClaims", *GATES)

Check = Callable[[Tree, str], list[FieldError]]


class WorkloadStrategy(Strategy):
    """Templates that nobody changes."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A Workload has a spec, and it always shows constraints."""
        for template in obj.setdefault("spec", {}).get(TEMPLATES) or ():
            template.setdefault("schedulingConstraints", None)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Without what a gate forbids."""
        for template in obj["spec"].get(TEMPLATES) or ():
            base.drop_disabled(template, None, GATES, ctx)
            template.setdefault("schedulingConstraints", None)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The controller and each template."""
        spec = obj["spec"]
        found = groups.settled(spec, None, "spec", "controllerRef", validate_controller)
        return found + _validate_templates(spec.get(TEMPLATES) or [], f"spec.{TEMPLATES}")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Nothing of the spec may change."""
        spec, before, path = obj["spec"], old["spec"], f"spec.{TEMPLATES}"
        found = blocks.immutable("spec.controllerRef", spec.get("controllerRef"), before.get("controllerRef"))
        found += blocks.immutable_list(path, spec.get(TEMPLATES), before.get(TEMPLATES), MAX_TEMPLATES)
        return found if spec.get(TEMPLATES) else [*found, field_errors.required(path)]


class PodGroupStrategy(GroupStrategy):
    """Pods that are scheduled together."""

    gates = GATES

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Pods of a group are disrupted one by one."""
        spec = obj.setdefault("spec", {})
        if ctx.cluster.gate("WorkloadAwarePreemption"):
            spec.setdefault("disruptionMode", "Pod")

    def validate_spec(self, spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
        """Each field by itself; none changes later."""
        if old is not None:
            found: list[FieldError] = []
            for field in ("podGroupTemplateRef", "schedulingPolicy", *_RULES):
                here, new, was = f"{path}.{field}", spec.get(field) or None, old.get(field) or None
                if field == "resourceClaims":
                    found += blocks.immutable_list(here, new, was, scheduling_blocks.MAX_CLAIMS)
                else:
                    found += blocks.immutable(here, new, was)
            return found
        found = groups.settled(spec, None, path, "podGroupTemplateRef", _validate_reference)
        return found + _validate_group(spec, path)


def _validate_templates(items: list[Tree], path: str) -> list[FieldError]:
    if not items:
        return [field_errors.required(path)]
    if len(items) > MAX_TEMPLATES:
        return [field_errors.too_many(path, len(items), MAX_TEMPLATES)]
    known = [item.get("name", "") for item in items]
    found: list[FieldError] = []
    for position, name in enumerate(known):
        if name in known[:position]:
            shown = {field: items[position][field] for field in SHOWN if field in items[position]}
            found.append(field_errors.duplicate(f"{path}[{position}]", shown))
    for position, item in enumerate(items):
        here = f"{path}[{position}]"
        found += groups.required_name(item, here, "name", scheduling_blocks.short_name) + _validate_group(item, here)
    return found


def _validate_group(group: Tree, path: str) -> list[FieldError]:
    found = scheduling_blocks.validate_policy(group.get("schedulingPolicy", {}), f"{path}.schedulingPolicy", required=True)
    for field, check in _RULES.items():
        if group.get(field) is not None:
            found += check(group[field], f"{path}.{field}")
    return found


def _validate_mode(mode: str, path: str) -> list[FieldError]:
    return one_of(path, mode, MODES)


def _validate_priority(priority: int, path: str) -> list[FieldError]:
    if priority <= groups.HIGHEST:
        return []
    return [field_errors.invalid(path, priority, f"must be less than or equal to {groups.HIGHEST}")]


def _validate_reference(reference: Tree, path: str) -> list[FieldError]:
    """The template of a Workload that a group was made from."""
    if found := scheduling_blocks.one_member(reference, path, ("workload",)):
        return found
    workload, here = reference["workload"], f"{path}.workload"
    return [
        *groups.required_name(workload, here, "workloadName", scheduling_blocks.long_name),
        *groups.required_name(workload, here, "podGroupTemplateName", scheduling_blocks.short_name),
    ]


_RULES: dict[str, Callable[..., list[FieldError]]] = {
    "schedulingConstraints": scheduling_blocks.validate_constraints,
    "resourceClaims": scheduling_blocks.validate_claims,
    "disruptionMode": _validate_mode,
    "priorityClassName": groups.long_name,
    "priority": _validate_priority,
}

WORKLOAD = WorkloadStrategy()
POD_GROUP = PodGroupStrategy()
