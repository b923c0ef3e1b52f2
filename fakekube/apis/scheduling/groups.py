"""What PodGroups, CompositePodGroups and the templates of both have in common.

Upstream: the declarative rules of k8s.io/api/scheduling/v1alpha3/types.go, and the dropDisabled…
functions of pkg/registry/scheduling. ``old`` is None for what is new; what did not change is not
looked at again.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fakekube.apimachinery import field_errors, scheduling_blocks, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.scheduling import blocks

HIGHEST = 1_000_000_000
PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
NO_ADDING, NO_REMOVING = "item may not be added", "item may not be removed"
PREEMPTION_GATE = {"preemptionPolicy": "PodGroupPreemptionPolicy"}
GROUP_GATES = {
    "schedulingConstraints": "TopologyAwareWorkloadScheduling",
    "resourceClaims": "DRAWorkloadResourceClaims",
    **PREEMPTION_GATE,
}

Check = Callable[[Any, str], list[FieldError]]


def settled(
    new: Tree, old: Tree | None, path: str, field: str, check: Check, *, pointer: bool = False,
) -> list[FieldError]:
    """A field that is checked once and then stays. An empty value of a ``pointer`` is a value."""
    value, here = new.get(field), f"{path}.{field}"
    if value in ("", []) and not pointer:
        value = None
    if old is not None:
        return blocks.immutable(here, value, old.get(field))
    return [] if value is None else check(value, here)


def long_name(value: str, path: str) -> list[FieldError]:
    """A DNS subdomain."""
    return complaints(path, value, scheduling_blocks.long_name(value))


def required_name(obj: Tree, path: str, field: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    """A name that must be there and obey a rule."""
    value, here = obj.get(field, ""), f"{path}.{field}"
    return complaints(here, value, rule(value)) if value else [field_errors.required(here)]


def validate_group(group: Tree, old: Tree | None, path: str, *, composite: bool = False) -> list[FieldError]:
    """How a group is scheduled and disrupted, in the order of the Go structs."""
    return [
        *_validate_policy(group, old, f"{path}.schedulingPolicy", "minGroupCount" if composite else "minCount"),
        *settled(group, old, path, "schedulingConstraints", scheduling_blocks.validate_constraints),
        *_validate_claims(group, old, f"{path}.resourceClaims"),
        *settled(group, old, path, "disruptionMode", scheduling_blocks.validate_mode),
        *settled(group, old, path, "priorityClassName", long_name),
        *settled(group, old, path, "priority", _validate_priority),
        *_validate_preemption(group, old, path),
    ]


def _validate_policy(group: Tree, old: Tree | None, path: str, count: str) -> list[FieldError]:
    policy = group.get("schedulingPolicy", {})
    if old is None:
        return scheduling_blocks.validate_policy(policy, path, count=count, required=True)
    before = old.get("schedulingPolicy", {})
    if same(policy, before):
        return []
    found: list[FieldError] = []
    if policy.keys() != before.keys():
        found += scheduling_blocks.one_member(policy, path, scheduling_blocks.POLICIES)
    found += blocks.immutable(f"{path}.basic", policy.get("basic"), before.get("basic"))
    gang, gang_before = policy.get("gang"), before.get("gang")
    if wrong := blocks.neither_set_nor_unset(f"{path}.gang", gang, gang_before):
        return found + wrong
    if gang is None or same(gang, gang_before):
        return found
    number, here = gang.get(count), f"{path}.gang.{count}"
    return [*found, field_errors.required(here)] if not number else found + scheduling_blocks.at_least(here, number, 1)


def _validate_claims(group: Tree, old: Tree | None, path: str) -> list[FieldError]:
    claims: list[Tree] = group.get("resourceClaims") or []
    if old is None:
        return scheduling_blocks.validate_claims(claims, path)
    return blocks.immutable_list(path, claims, old.get("resourceClaims"), scheduling_blocks.MAX_CLAIMS)


def _validate_priority(value: int, path: str) -> list[FieldError]:
    if value <= HIGHEST:
        return []
    return [field_errors.invalid(path, value, f"must be less than or equal to {HIGHEST}")]


def _validate_preemption(group: Tree, old: Tree | None, path: str) -> list[FieldError]:
    value, here = group.get("preemptionPolicy"), f"{path}.preemptionPolicy"
    if old is not None:
        return blocks.immutable(here, value, old.get("preemptionPolicy"))
    return [] if value is None else one_of(here, value, PREEMPTION_POLICIES)


def validate_workload_reference(reference: Tree, path: str) -> list[FieldError]:
    """The template that a group was made from."""
    return [
        *required_name(reference, path, "workloadName", scheduling_blocks.long_name),
        *required_name(reference, path, "templateName", scheduling_blocks.short_name),
    ]


def validate_status(status: Tree, spec: Tree, path: str) -> list[FieldError]:
    """What a scheduler reports about a group."""
    found = validation.conditions(status.get("conditions", []), f"{path}.conditions")
    claims = [claim.get("name", "") for claim in spec.get("resourceClaims", [])]
    for position, item in enumerate(status.get("resourceClaimStatuses", [])):
        name, here = item.get("name", ""), f"{path}.resourceClaimStatuses[{position}]"
        if name not in claims:
            what = "must match the name of an entry in `spec.resourceClaims`"
            found.append(field_errors.invalid(f"{here}.name", name, what))
        if item.get("resourceClaimName"):
            found += long_name(item["resourceClaimName"], f"{here}.resourceClaimName")
    return found


def changed_names(new: Sequence[Tree], old: Sequence[Tree], path: str) -> list[FieldError]:
    """Items of a list that neither grows nor shrinks; they are told apart by their names."""
    before, after = ([item.get("name", "") for item in items] for items in (old, new))
    added = [position for position, name in enumerate(after) if name not in before]
    return [
        *(field_errors.forbidden(f"{path}[{position}]", NO_ADDING) for position in added),
        *(field_errors.forbidden(path, NO_REMOVING) for name in before if name not in after),
    ]
