"""The names that drafts of KEP-6089 used, as thin wrappers.

A draft's item had the user's intent in the form of a config, its builder got name, namespace and
owner with ``build``, and policies and modes were validated one by one, at the path of the member.
Upstream: the KEP's text, and component-helpers between 1.36 and 1.37.
"""

from collections.abc import Sequence

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.workloadbuilder import items
from fakekube_controllers.workloadbuilder.builder import Builder, BuildOptions
from fakekube_controllers.workloadbuilder.config import DisruptionModeOption, SchedulingConfig, SchedulingPolicyOption
from fakekube_controllers.workloadbuilder.items import (
    Callback,
    ConstraintsInput,
    DisruptionModeInput,
    PolicyInput,
    ResourceClaimsInput,
    WorkloadInput,
    WorkloadItem,
)


def map_pod_group_config(
    policy: ReadOnlyTree | None = None, constraints: ReadOnlyTree | None = None, disruption: ReadOnlyTree | None = None,
    claims: Sequence[ReadOnlyTree] = (),
) -> SchedulingConfig:
    """The building blocks of a group of pods as a config (MapPodGroupConfig)."""
    given = WorkloadInput(
        PolicyInput(policy), ConstraintsInput(constraints), DisruptionModeInput(disruption), ResourceClaimsInput(claims))
    return items.mapped(given, composite=False)


def map_composite_group_config(
    policy: ReadOnlyTree | None = None, constraints: ReadOnlyTree | None = None, disruption: ReadOnlyTree | None = None,
) -> SchedulingConfig:
    """The building blocks of a group of groups as a config (MapCompositeGroupConfig)."""
    given = WorkloadInput(
        PolicyInput(None, policy), ConstraintsInput(None, constraints), DisruptionModeInput(None, disruption))
    return items.mapped(given, composite=True)


def workload_item(
    name: str, default_config: SchedulingConfig | None = None, user_config: SchedulingConfig | None = None,
    callbacks: Sequence[Callback] = (), children: Sequence[WorkloadItem] = (),
) -> WorkloadItem:
    """An item whose user's intent is a config already (WorkloadItem with UserConfig).

    A callback (WorkloadItemFunc) gets the resolved config, whose ``policy`` is where a draft's item
    has it.
    """
    config = (default_config or SchedulingConfig()).overlaid(user_config or SchedulingConfig())
    return WorkloadItem(name, default_config=config, callbacks=callbacks, children=children)


class WorkloadBuilder:
    """A builder that learns whose Workload it is when it builds (NewBuilder(root).Build)."""

    def __init__(self, root: WorkloadItem) -> None:
        self.root = root

    def build(self, name: str, namespace: str, owner: ReadOnlyTree) -> Tree:
        """The Workload. Raises WorkloadBuildError."""
        return build(self.root, BuildOptions(name, namespace, owner))


def build(item: WorkloadItem, options: BuildOptions) -> Tree:
    """The Workload of a tree (the free function Build). Raises WorkloadBuildError."""
    return Builder(item, options).build_workload()


def validate_scheduling_policy(
    policy: ReadOnlyTree | None, path: str, *allowed: SchedulingPolicyOption,
) -> list[FieldError]:
    """A policy by itself (ValidateSchedulingPolicy)."""
    return validate_scheduling_policy_update(policy, None, path, *allowed)


def validate_scheduling_policy_update(
    policy: ReadOnlyTree | None, old: ReadOnlyTree | None, path: str, *allowed: SchedulingPolicyOption,
) -> list[FieldError]:
    """A policy that was ``old`` before (ValidateSchedulingPolicyUpdate)."""
    if policy is None:
        return []
    found = [
        field_errors.forbidden(f"{path}.{each.value}", f"{each.value} scheduling policy is not supported by this controller")
        for each in SchedulingPolicyOption
        if policy.get(each.value) is not None and each not in allowed
    ]
    return found + scheduling_blocks.validate_policy(policy, path, old)


def validate_disruption_mode(mode: ReadOnlyTree | None, path: str, *allowed: DisruptionModeOption) -> list[FieldError]:
    """A disruption mode by itself (ValidateDisruptionMode)."""
    return validate_disruption_mode_update(mode, None, path, *allowed)


def validate_disruption_mode_update(
    mode: ReadOnlyTree | None, old: ReadOnlyTree | None, path: str, *allowed: DisruptionModeOption,
) -> list[FieldError]:
    """A disruption mode that was ``old`` before (ValidateDisruptionModeUpdate)."""
    if mode is None:
        return []
    found = [
        field_errors.forbidden(f"{path}.{each.value}", f"{each.value} disruption mode is not supported by this controller")
        for each in DisruptionModeOption
        if mode.get(each.value) is not None and each not in allowed
    ]
    return found + scheduling_blocks.validate_mode(mode, path, old)
