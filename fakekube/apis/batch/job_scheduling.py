"""What is wrong with a Job's ``spec.scheduling``, which asks for a gang.

Upstream: validateGangMinCount, validateJobScheduling, validateJobSchedulingUpdate in
pkg/apis/batch/validation/validation.go and Validate_JobSchedulingConfiguration in
pkg/apis/batch/v1/zz_generated.validations.go.
"""

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError, declared
from fakekube.apimachinery.types import Tree
from fakekube.apis.scheduling import blocks

SAME_VARIANT = (
    "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"
)


def validate_scheduling(spec: Tree, path: str) -> list[FieldError]:
    """What hand-written checks find in the block of a Job's spec, new or changed."""
    scheduling = spec["scheduling"]
    policy, mode = scheduling.get("schedulingPolicy"), scheduling.get("disruptionMode")
    found: list[FieldError] = []
    least, parallelism = ((policy or {}).get("gang") or {}).get("minCount"), spec.get("parallelism", 1)
    if least is not None and least > parallelism:
        what = f"must not be greater than parallelism ({parallelism})"
        found.append(field_errors.invalid(f"{path}.schedulingPolicy.gang.minCount", least, what))
    return found + scheduling_blocks.validate_mode_for_policy(
        scheduling_blocks.mode_of(mode), scheduling_blocks.policy_of(policy) or "basic", f"{path}.disruptionMode")


def validate_variant(spec: Tree, old: Tree, path: str) -> list[FieldError]:
    """A Job does not turn from a gang into single pods, nor back."""
    policy, before = ((each.get("scheduling") or {}).get("schedulingPolicy") for each in (spec, old))
    if policy is None or before is None or (policy.get("basic") is None) == (before.get("basic") is None):
        return []
    return [field_errors.invalid(f"{path}.schedulingPolicy", None, SAME_VARIANT)]


def declared_scheduling(spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
    """What declarative rules find in the block of a Job's spec, or of a CronJob's template.

    ``old`` is the spec before an update: then the size of a gang may change, and nothing else.
    """
    block, before = spec.get("scheduling"), None if old is None else old.get("scheduling")
    if old is not None and (block == before or block is None or before is None):
        return [declared(error) for error in blocks.neither_set_nor_unset(path, block, before)]
    if block is None:
        return []
    found = _policy(block, before, f"{path}.schedulingPolicy")
    for name, check in (
        ("schedulingConstraints", scheduling_blocks.validate_constraints), ("disruptionMode", scheduling_blocks.validate_mode),
    ):
        value, here = block.get(name), f"{path}.{name}"
        if before is not None:
            found += blocks.immutable(here, value, before.get(name))
        elif value is not None:
            found += check(value, here)
    return [declared(error) for error in found + _claims(block, before, f"{path}.resourceClaims")]


def _policy(block: Tree, before: Tree | None, path: str) -> list[FieldError]:
    policy, old = block.get("schedulingPolicy"), None if before is None else before.get("schedulingPolicy")
    if before is not None and (policy is None or old is None):
        return blocks.neither_set_nor_unset(path, policy, old)
    return [] if policy is None else scheduling_blocks.validate_policy(policy, path, old)


def _claims(block: Tree, before: Tree | None, path: str) -> list[FieldError]:
    claims: list[Tree] = block.get("resourceClaims") or []
    if before is None:
        return scheduling_blocks.validate_claims(claims, path)
    return blocks.immutable_list(path, claims, before.get("resourceClaims"), scheduling_blocks.MAX_CLAIMS)
