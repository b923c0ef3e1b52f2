"""What is wrong with the building blocks of a tree, and with what they resolve to.

The rules of a block by itself are those of the API server, in
``fakekube.apimachinery.scheduling_blocks``. Upstream: validate.go.
"""

from collections.abc import Collection, Sequence

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.workloadbuilder.config import DisruptionModeOption, SchedulingConfig, SchedulingPolicyOption
from fakekube_controllers.workloadbuilder.items import BlockInput, WorkloadItem

Policies = Collection[SchedulingPolicyOption]
Modes = Collection[DisruptionModeOption]


def validate_item(
    item: WorkloadItem, old: WorkloadItem | None, policies: Policies, modes: Modes, *, declarative: bool,
) -> list[FieldError]:
    """An item and its children; ``old`` is the item of that name at the same place before.

    ``declarative`` says whether blocks are looked at by themselves too.
    """
    found = _validate_blocks(item, old) if declarative else []
    config = item.resolved()
    found += _validate_allowed(item, config, policies, modes)
    is_basic = config.policy is not None and config.policy.basic is not None
    found += scheduling_blocks.validate_mode_for_policy(
        config.mode_name, "basic" if is_basic else None, item.input.disruption_mode.path(item.path))
    before = {child.name: child for child in (old.children if old else ()) if child is not None}
    for child in item.children:
        if child is not None:
            found += validate_item(child, before.get(child.name), policies, modes, declarative=declarative)
    return found


def _validate_allowed(item: WorkloadItem, config: SchedulingConfig, policies: Policies, modes: Modes) -> list[FieldError]:
    policy, mode = config.policy, config.disruption_mode
    policy_path, mode_path = item.input.policy.path(item.path), item.input.disruption_mode.path(item.path)
    return [
        *(field_errors.forbidden(policy_path, f"{each.value} scheduling policy is not supported by this controller")
          for each in SchedulingPolicyOption
          if policy is not None and getattr(policy, each.value) is not None and each not in policies),
        *(field_errors.forbidden(mode_path, f"the disruptionMode `{each.value}` is not supported by this controller")
          for each in DisruptionModeOption
          if mode is not None and getattr(mode, each.value) is not None and each not in modes),
    ]


def _validate_blocks(item: WorkloadItem, old: WorkloadItem | None) -> list[FieldError]:
    """The blocks of one item. One that is gone is not looked at: the API that has it says whether
    it may go.
    """
    given, before, composite = item.input, old.input if old else None, item.is_composite
    found: list[FieldError] = []
    policy = _data(given.policy, composite=composite)
    if policy is not None:
        found += scheduling_blocks.validate_policy(
            policy, given.policy.path(item.path), _data(before.policy if before else None, composite=composite),
            count="minGroupCount" if composite else "minCount")
    constraints = _data(given.constraints, composite=composite)
    if constraints is not None:
        found += scheduling_blocks.validate_constraints(
            constraints, given.constraints.path(item.path), _data(before.constraints if before else None, composite=composite))
    mode = _data(given.disruption_mode, composite=composite)
    if mode is not None:
        found += scheduling_blocks.validate_mode(
            mode, given.disruption_mode.path(item.path),
            _data(before.disruption_mode if before else None, composite=composite))
    if composite:
        return found
    claims: Sequence[ReadOnlyTree] = before.resource_claims.pod_group_data if before else ()
    known = {claim.get("name", ""): claim for claim in claims}
    for position, claim in enumerate(given.resource_claims.pod_group_data):
        here = field_errors.index(given.resource_claims.path(item.path), position)
        found += scheduling_blocks.validate_claim(claim, here, known.get(claim.get("name", "")))
    return found


def _data(block: BlockInput | None, *, composite: bool) -> ReadOnlyTree | None:
    if block is None:
        return None
    return block.composite_pod_group_data if composite else block.pod_group_data
