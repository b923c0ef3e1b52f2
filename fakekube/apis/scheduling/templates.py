"""The tree of templates in a Workload.

Upstream: ValidateWorkloadSpec in pkg/apis/scheduling/validation/validation.go, the declarative
rules of k8s.io/api/scheduling/v1alpha3, and dropDisabledWorkloadSpecFields in
pkg/registry/scheduling/workload/strategy.go.
"""

from collections.abc import Callable, Iterator
from typing import Any

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis import base
from fakekube.apis.scheduling import groups
from fakekube.registry.strategy import WriteContext

LEAVES, BRANCHES = "podGroupTemplates", "compositePodGroupTemplates"
LISTS = (LEAVES, BRANCHES)
MAX_TEMPLATES = 8
MAX_DEPTH = 4
FIELDS = (
    "name", "schedulingPolicy", "schedulingConstraints", "resourceClaims", "disruptionMode", "priorityClassName",
    "priority", "preemptionPolicy", *LISTS,
)  # fmt: skip
SAME_PRIORITY = "detected multiple priority configurations"
SAME_PRIORITY_IN_TREE = "all priority and priorityClassName values must be identical, detected multiple values"
NO_CHILD = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"


def drop_disabled(spec: Tree, old: Tree | None, ctx: WriteContext) -> None:
    """Take away what a gate forbids, at every level."""
    base.drop_disabled(spec, old, {BRANCHES: "CompositePodGroup"}, ctx)
    before = _items(old, LEAVES)
    for position, template in enumerate(_items(spec, LEAVES)):
        was = before[position] if position < len(before) else None
        base.drop_disabled(template, was, groups.GROUP_GATES, ctx)
        template.setdefault("schedulingConstraints", None)
    known = _by_name(_items(old, BRANCHES))
    for template in _items(spec, BRANCHES):
        was = known.get(template.get("name", ""))
        base.drop_disabled(template, was, groups.PREEMPTION_GATE, ctx)
        drop_disabled(template, was, ctx)


def validate_tree(spec: Tree, path: str) -> list[FieldError]:
    """What concerns the tree as a whole: names, depth, priorities, and groups of nothing."""
    seen = {template.get("name", "") for template in _items(spec, LEAVES)}
    found = _repeated(spec, path, seen)
    for position, template in enumerate(_items(spec, BRANCHES)):
        if _depth(template) >= MAX_DEPTH:
            shown = _internal_list(_items(template, BRANCHES), composite=True)
            what = f"maximum template hierarchy depth is {MAX_DEPTH}"
            found.append(field_errors.invalid(f"{path}.{BRANCHES}[{position}]", shown, what))
    found += _validate_priorities(spec, path)
    return found + _childless(spec, path)


def validate_lists(spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
    """Both lists of templates, of a Workload or of a composite template."""
    found = _validate_list(spec, old, path, LEAVES, _validate_leaf)
    return found + _validate_list(spec, old, path, BRANCHES, _validate_branch)


def _validate_list(
    spec: Tree, old: Tree | None, path: str, field: str, check: Callable[[Tree, Tree | None, str], list[FieldError]]
) -> list[FieldError]:
    items, here = _items(spec, field), f"{path}.{field}"
    before = _items(old, field)
    if old is not None and same(items, before):
        return []
    wrong = [field_errors.too_many(here, len(items), MAX_TEMPLATES)] if len(items) > MAX_TEMPLATES else []
    if old is not None:
        wrong += groups.changed_names(items, before, here)
    if wrong:
        return wrong
    known, seen = _by_name(before), set()
    found: list[FieldError] = []
    for position, item in enumerate(items):
        name = item.get("name", "")
        if name in seen:
            found.append(field_errors.duplicate(f"{here}[{position}]", _ordered(item, composite=field == BRANCHES)))
        seen.add(name)
    for position, item in enumerate(items):
        was = known.get(item.get("name", ""))
        if not same(item, was):
            found += check(item, was, f"{here}[{position}]")
    return found


def _validate_leaf(template: Tree, old: Tree | None, path: str) -> list[FieldError]:
    return [
        *groups.required_name(template, path, "name", scheduling_blocks.short_name),
        *groups.validate_group(template, old, path),
    ]


def _validate_branch(template: Tree, old: Tree | None, path: str) -> list[FieldError]:
    return [
        *groups.required_name(template, path, "name", scheduling_blocks.short_name),
        *groups.validate_group(template, old, path, composite=True),
        *validate_lists(template, old, path),
    ]


def _items(spec: Tree | None, field: str) -> list[Tree]:
    """A list of templates, which is null when it is printed without being there."""
    return [] if spec is None else spec.get(field) or []


def _by_name(items: list[Tree]) -> dict[str, Tree]:
    return {item.get("name", ""): item for item in items}


def _repeated(spec: Tree, path: str, seen: set[str]) -> list[FieldError]:
    """Names that occur in another list of the tree; those within a list are another check's
    business.
    """
    found: list[FieldError] = []
    branches = _items(spec, BRANCHES)
    found += _known_names(branches, f"{path}.{BRANCHES}", seen)
    for position, branch in enumerate(branches):
        here = f"{path}.{BRANCHES}[{position}]"
        found += _known_names(_items(branch, LEAVES), f"{here}.{LEAVES}", seen)
        found += _repeated(branch, here, seen)
    return found


def _known_names(items: list[Tree], path: str, seen: set[str]) -> list[FieldError]:
    known = [item.get("name", "") for item in items]
    found = [field_errors.duplicate(f"{path}[{position}].name", name) for position, name in enumerate(known) if name in seen]
    seen.update(known)
    return found


def _depth(template: Tree) -> int:
    return 1 + max((_depth(child) for child in _items(template, BRANCHES)), default=0)


def _childless(spec: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    for position, branch in enumerate(_items(spec, BRANCHES)):
        here = f"{path}.{BRANCHES}[{position}]"
        if not branch.get(LEAVES) and not branch.get(BRANCHES):
            found.append(field_errors.invalid(here, branch.get("name", ""), NO_CHILD))
        found += _childless(branch, here)
    return found


def _priority(template: Tree) -> tuple[str, int | None]:
    return template.get("priorityClassName", ""), template.get("priority")


def _priorities_below(spec: Tree) -> Iterator[tuple[str, int | None]]:
    for branch in _items(spec, BRANCHES):
        yield _priority(branch)
        yield from _priorities_below(branch)
        yield from map(_priority, _items(branch, LEAVES))


def _validate_priorities(spec: Tree, path: str) -> list[FieldError]:
    first = {_priority(template) for template in _items(spec, LEAVES)}
    if len(first) > 1:
        return [field_errors.invalid(path, None, SAME_PRIORITY)]
    if len(first | set(_priorities_below(spec))) > 1:
        return [field_errors.invalid(path, None, SAME_PRIORITY_IN_TREE)]
    return []


def _ordered(template: Tree, *, composite: bool) -> Tree:
    """A template as Go prints it: fields in the order of the struct, and the one that is always
    there.
    """
    shown = {"schedulingPolicy": {}, **template} if composite else {
        "schedulingPolicy": {}, "schedulingConstraints": None, **template}  # fmt: skip
    return {field: shown[field] for field in FIELDS if field in shown}


def _internal_list(items: list[Tree], *, composite: bool) -> Json:
    return [_internal(item, composite=composite) for item in items] or None


def _internal(template: Tree, *, composite: bool) -> Tree:
    """A template in the server's own form, where every field is printed and names are Go's."""
    policy = template.get("schedulingPolicy", {})
    shown: dict[str, Any] = {
        "Name": template.get("name", ""),
        "SchedulingPolicy": {"Basic": policy.get("basic"), "Gang": _capital(policy.get("gang"))},
        "SchedulingConstraints": _capital(template.get("schedulingConstraints")),
    }
    if not composite:
        shown["ResourceClaims"] = _capital(template.get("resourceClaims"))
    shown |= {
        "DisruptionMode": _capital(template.get("disruptionMode")),
        "PriorityClassName": template.get("priorityClassName", ""),
        "Priority": template.get("priority"),
        "PreemptionPolicy": template.get("preemptionPolicy"),
    }
    if composite:
        shown["PodGroupTemplates"] = _internal_list(_items(template, LEAVES), composite=False)
        shown["CompositePodGroupTemplates"] = _internal_list(_items(template, BRANCHES), composite=True)
    return shown


def _capital(value: Json) -> Json:
    """Field names as in Go; fields of optional structs that are not there stay away, which upstream
    prints as null.
    """
    if isinstance(value, list):
        return [_capital(item) for item in value]
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: _capital(item) for name, item in value.items()}
    return value
