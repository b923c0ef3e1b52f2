"""What is wrong with a Job's ``spec.scheduling``, which asks for a gang.

Upstream: validateGangMinCount, validateJobScheduling, validateJobSchedulingUpdate in
pkg/apis/batch/validation/validation.go and the declarative rules of its blocks.
"""

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.scheduling import blocks

SAME_VARIANT = (
    "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"
)
FROZEN = ("schedulingConstraints", "disruptionMode", "resourceClaims")


def validate_scheduling(spec: Tree, path: str) -> list[FieldError]:
    """The block of a Job's spec."""
    scheduling = spec["scheduling"]
    policy, mode = scheduling.get("schedulingPolicy"), scheduling.get("disruptionMode")
    gang = (policy or {}).get("gang")
    found: list[FieldError] = []
    least, parallelism = (gang or {}).get("minCount"), spec.get("parallelism", 1)
    if least is not None and least > parallelism:
        what = f"must not be greater than parallelism ({parallelism})"
        found.append(field_errors.invalid(f"{path}.schedulingPolicy.gang.minCount", least, what))
    found += scheduling_blocks.validate_mode_for_policy(
        scheduling_blocks.mode_of(mode), scheduling_blocks.policy_of(policy) or "basic", f"{path}.disruptionMode")
    if policy is not None:
        found += scheduling_blocks.validate_policy(policy, f"{path}.schedulingPolicy")
    if "schedulingConstraints" in scheduling:
        found += scheduling_blocks.validate_constraints(scheduling["schedulingConstraints"], f"{path}.schedulingConstraints")
    if mode is not None:
        found += scheduling_blocks.validate_mode(mode, f"{path}.disruptionMode")
    if "resourceClaims" in scheduling:
        found += scheduling_blocks.validate_claims(scheduling["resourceClaims"], f"{path}.resourceClaims")
    return found


def validate_scheduling_update(spec: Tree, old: Tree, path: str) -> list[FieldError]:
    """What may change in it: the size of a gang."""
    new_block, old_block = spec.get("scheduling"), old.get("scheduling")
    if new_block == old_block:
        return []
    if new_block is None or old_block is None:
        return blocks.neither_set_nor_unset(path, new_block, old_block)
    policy, old_policy = new_block.get("schedulingPolicy"), old_block.get("schedulingPolicy")
    here = f"{path}.schedulingPolicy"
    found = blocks.neither_set_nor_unset(here, policy, old_policy)
    if policy is not None and old_policy is not None and ("basic" in policy) != ("basic" in old_policy):
        found.append(field_errors.invalid(here, None, SAME_VARIANT))
    for name in FROZEN:
        found += blocks.immutable(f"{path}.{name}", new_block.get(name), old_block.get(name))
    return found
