"""The building blocks of gang scheduling, which PodGroups, Workloads and Jobs share, and what is
wrong with them.

Upstream: the declarative rules of pkg/apis/scheduling (zz_generated.validations.go) and
pkg/api/validate, which word all of this in their own way.
"""

from collections.abc import Sequence

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.validation import IMMUTABLE, complaints

POLICIES = ("basic", "gang")
MODES = ("single", "all")
CLAIM_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")
MAX_TOPOLOGY_KEYS = 1
MAX_CLAIMS = 4


def short_name(text: str) -> list[str]:
    """A DNS label, whose length these rules tell in bytes."""
    return [names.in_bytes(each) for each in names.dns1123_label(text)]


def long_name(text: str) -> list[str]:
    """A DNS subdomain, whose length these rules tell in bytes."""
    return [names.in_bytes(each) for each in names.dns1123_subdomain(text)]


def one_member(union: Tree, path: str, members: Sequence[str]) -> list[FieldError]:
    """A union of which exactly one member must be there."""
    given = [name for name in members if union.get(name) is not None]
    if len(given) == 1:
        return []
    shown = ", ".join(f"`{name}`" for name in members)
    if not given:
        return [field_errors.invalid(path, "", f"must specify one of: {shown}")]
    return [field_errors.invalid(path, f"{{{', '.join(given)}}}", f"must specify exactly one of: {shown}")]


def at_least(path: str, number: int | None, minimum: int) -> list[FieldError]:
    """A number below its minimum. None is fine."""
    if number is None or number >= minimum:
        return []
    return [field_errors.invalid(path, number, f"must be greater than or equal to {minimum}")]


def immutable(path: str, new: Json, old: Json) -> list[FieldError]:
    """A value that may not change, worded as the declarative rules do: without the value."""
    return [] if new == old else [field_errors.invalid(path, None, IMMUTABLE)]


def neither_set_nor_unset(path: str, new: Json, old: Json) -> list[FieldError]:
    """A value that is there from the beginning, or never."""
    if (new is None) == (old is None):
        return []
    what = "field cannot be set once created" if old is None else "field cannot be cleared once set"
    return [field_errors.invalid(path, None, what)]


def validate_policy(policy: Tree, path: str, *, count: str = "minCount", required: bool = False) -> list[FieldError]:
    """Basic or gang; a gang has a number called ``count``, which some kinds require."""
    found = one_member(policy, path, POLICIES)
    gang = policy.get("gang")
    if gang is None:
        return found
    number = gang.get(count)
    if required and not number:
        return [*found, field_errors.required(f"{path}.gang.{count}")]
    return found + at_least(f"{path}.gang.{count}", number, 1)


def validate_mode(mode: Tree, path: str) -> list[FieldError]:
    """Single or all."""
    return one_member(mode, path, MODES)


def validate_constraints(constraints: Tree, path: str) -> list[FieldError]:
    """Where a group must be together."""
    topology = constraints.get("topology") or []
    found: list[FieldError] = []
    if len(topology) > MAX_TOPOLOGY_KEYS:
        return [field_errors.too_many(f"{path}.topology", len(topology), MAX_TOPOLOGY_KEYS)]
    for position, constraint in enumerate(topology):
        here, key = f"{path}.topology[{position}].key", constraint.get("key", "")
        if not key:
            found.append(field_errors.required(here))
        else:
            found += complaints(here, key, names.qualified_name(key))
    return found


def validate_claims(claims: list[Tree], path: str) -> list[FieldError]:
    """Resource claims of a whole group."""
    if len(claims) > MAX_CLAIMS:
        return [field_errors.too_many(path, len(claims), MAX_CLAIMS)]
    known = [claim.get("name", "") for claim in claims]
    found = [
        field_errors.duplicate(f"{path}[{position}]", claims[position])
        for position, name in enumerate(known)
        if name in known[:position]
    ]
    for position, claim in enumerate(claims):
        here, name = f"{path}[{position}]", known[position]
        found += one_member(claim, here, CLAIM_SOURCES)
        if not name:
            found.append(field_errors.required(f"{here}.name"))
        else:
            found += complaints(f"{here}.name", name, short_name(name))
        for field in CLAIM_SOURCES:
            if field in claim:
                found += complaints(f"{here}.{field}", claim[field], long_name(claim[field]))
    return found
