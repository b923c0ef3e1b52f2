"""The building blocks of gang scheduling, which PodGroups, Workloads, Jobs and the APIs of other
controllers share, and what is wrong with them.

The server uses these rules for what it stores, a controller for its own API, through
``fakekube_controllers.workloadbuilder``. With an old block, what did not change is not looked at
again. Upstream: the declarative rules of k8s.io/api/scheduling/v1alpha3
(zz_generated.validations.go).
"""

from collections.abc import Sequence
from typing import Literal

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import ReadOnlyTree

POLICIES = ("basic", "gang")
MODES = ("single", "all")
CLAIM_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")
MAX_TOPOLOGY_KEYS = 1
MAX_CLAIMS = 4
ALL_NEEDS_GANG = "the disruptionMode `all` is not supported with the Basic scheduling policy"


def policy_of(block: ReadOnlyTree | None) -> Literal["basic", "gang"] | None:
    """Which policy a block asks for: basic, if it wrongly asks for both."""
    if block is None:
        return None
    if block.get("basic") is not None:
        return "basic"
    return "gang" if block.get("gang") is not None else None


def mode_of(block: ReadOnlyTree | None) -> Literal["single", "all"] | None:
    """Which disruption mode a block asks for: single, if it wrongly asks for both."""
    if block is None:
        return None
    if block.get("single") is not None:
        return "single"
    return "all" if block.get("all") is not None else None


def short_name(text: str) -> list[str]:
    """A DNS label, whose length these rules tell in bytes."""
    return [names.in_bytes(each) for each in names.dns1123_label(text)]


def long_name(text: str) -> list[str]:
    """A DNS subdomain, whose length these rules tell in bytes."""
    return [names.in_bytes(each) for each in names.dns1123_subdomain(text)]


def one_member(
    union: ReadOnlyTree, path: str, members: Sequence[str], old: ReadOnlyTree | None = None,
) -> list[FieldError]:
    """A union of which exactly one member must be there, unless ``old`` had the same ones."""
    given = [name for name in members if union.get(name) is not None]
    if len(given) == 1 or (old is not None and given == [name for name in members if old.get(name) is not None]):
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


def validate_policy(
    policy: ReadOnlyTree, path: str, old: ReadOnlyTree | None = None, *, count: str = "minCount", required: bool = False,
) -> list[FieldError]:
    """Basic or gang; a gang has a number called ``count``, which some kinds require."""
    found = one_member(policy, path, POLICIES, old)
    gang = policy.get("gang")
    if gang is None:
        return found
    number = gang.get(count)
    if old is not None and number == (old.get("gang") or {}).get(count):
        return found
    if required and not number:
        return [*found, field_errors.required(f"{path}.gang.{count}")]
    return found + at_least(f"{path}.gang.{count}", number, 1)


def validate_mode(mode: ReadOnlyTree, path: str, old: ReadOnlyTree | None = None) -> list[FieldError]:
    """Single or all."""
    return one_member(mode, path, MODES, old)


def validate_mode_for_policy(mode: str | None, policy: str | None, path: str) -> list[FieldError]:
    """Pods that are scheduled one by one are not disrupted all at once."""
    return [field_errors.invalid(path, "", ALL_NEEDS_GANG)] if mode == "all" and policy == "basic" else []


def validate_constraints(constraints: ReadOnlyTree, path: str, old: ReadOnlyTree | None = None) -> list[FieldError]:
    """Where a group must be together."""
    topology = constraints.get("topology") or []
    if old is not None and topology == (old.get("topology") or []):
        return []
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


def validate_claims(claims: Sequence[ReadOnlyTree], path: str) -> list[FieldError]:
    """Resource claims of a whole group."""
    if len(claims) > MAX_CLAIMS:
        return [field_errors.too_many(path, len(claims), MAX_CLAIMS)]
    repeated = field_errors.repetitions(claim.get("name", "") for claim in claims)
    found = [field_errors.duplicate(f"{path}[{position}]", claims[position]) for position in sorted(repeated)]
    for position, claim in enumerate(claims):
        found += validate_claim(claim, f"{path}[{position}]")
    return found


def validate_claim(claim: ReadOnlyTree, path: str, old: ReadOnlyTree | None = None) -> list[FieldError]:
    """One resource claim; ``old`` is the one of the same name."""
    found = one_member(claim, path, CLAIM_SOURCES, old)
    if old is None:
        name = claim.get("name", "")
        if not name:
            found.append(field_errors.required(f"{path}.name"))
        else:
            found += complaints(f"{path}.name", name, short_name(name))
    for field in CLAIM_SOURCES:
        if field in claim and (old is None or claim[field] != old.get(field)):
            found += complaints(f"{path}.{field}", claim[field], long_name(claim[field]))
    return found
