"""The tree in which a controller describes its workload: what users wrote, and where.

Upstream: types.go (WorkloadItem, WorkloadInput), mapconfig.go and the checks of the tree in
validate.go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery import field_errors, scheduling_blocks
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.workloadbuilder.config import (
    AllDisruptionMode,
    BasicSchedulingPolicy,
    DisruptionMode,
    GangSchedulingPolicy,
    ResourceClaim,
    SchedulingConfig,
    SchedulingConstraints,
    SchedulingPolicy,
    SingleDisruptionMode,
    TopologyConstraint,
)

Callback = Callable[[SchedulingConfig], None]

POLICY, CONSTRAINTS, MODE, CLAIMS = "schedulingPolicy", "schedulingConstraints", "disruptionMode", "resourceClaims"


class WorkloadBuildError(ValueError):
    """A tree or an option from which no object can be made; the text is upstream's."""


@dataclass(slots=True)
class BlockInput:
    """One building block that a user wrote: of a group of pods, or of a group of groups.

    ``path_elements`` are the names of fields that lead to it from the item's path.
    """

    pod_group_data: ReadOnlyTree | None = None
    composite_pod_group_data: ReadOnlyTree | None = None
    path_elements: Sequence[str] = ()

    def path(self, root: str) -> str:
        """Where the block is, for an error."""
        return field_errors.child(root, *self.path_elements) if self.path_elements else root


class PolicyInput(BlockInput):
    """A scheduling policy that a user wrote."""


class ConstraintsInput(BlockInput):
    """Scheduling constraints that a user wrote."""


class DisruptionModeInput(BlockInput):
    """A disruption mode that a user wrote."""


@dataclass(slots=True)
class ResourceClaimsInput:
    """The resource claims that a user wrote for a group of pods; groups of groups have none."""

    pod_group_data: Sequence[ReadOnlyTree] = ()
    path_elements: Sequence[str] = ()

    def path(self, root: str) -> str:
        """Where the list is, for an error."""
        return field_errors.child(root, *self.path_elements) if self.path_elements else root


@dataclass(slots=True)
class WorkloadInput:
    """The building blocks that a user wrote for one item; what they left out stays empty."""

    policy: PolicyInput = field(default_factory=PolicyInput)
    constraints: ConstraintsInput = field(default_factory=ConstraintsInput)
    disruption_mode: DisruptionModeInput = field(default_factory=DisruptionModeInput)
    resource_claims: ResourceClaimsInput = field(default_factory=ResourceClaimsInput)

    @classmethod
    def of(cls, scheduling: ReadOnlyTree | None, *, composite: bool = False) -> "WorkloadInput":
        """The blocks of an object with the fields that a Job's ``spec.scheduling`` has.

        ``composite`` tells that they are those of a group of groups.
        """
        blocks = scheduling or {}

        def given(name: str) -> tuple[ReadOnlyTree | None, ReadOnlyTree | None, Sequence[str]]:
            return (None, blocks.get(name), (name,)) if composite else (blocks.get(name), None, (name,))

        return cls(
            PolicyInput(*given(POLICY)), ConstraintsInput(*given(CONSTRAINTS)), DisruptionModeInput(*given(MODE)),
            ResourceClaimsInput(blocks.get(CLAIMS) or (), (CLAIMS,)))


@dataclass(slots=True)
class WorkloadItem:
    """A node of a workload: a group of pods, or with children a group of groups.

    ``name`` becomes the template's name. ``path`` is where the controller's API has the blocks:
    ``spec.scheduling`` for a Job. Callbacks run in order on what ``default_config`` and ``input``
    give together.
    """

    name: str
    path: str = ""
    default_config: SchedulingConfig | None = None
    input: WorkloadInput = field(default_factory=WorkloadInput)
    callbacks: Sequence[Callback | None] = ()
    children: Sequence["WorkloadItem | None"] = ()

    @property
    def is_composite(self) -> bool:
        """Whether it is a group of groups."""
        return len(self.children) > 0

    def resolved(self) -> SchedulingConfig:
        """The controller's defaults, under what the user wrote, after the callbacks."""
        config = (self.default_config or SchedulingConfig()).overlaid(mapped(self.input, composite=self.is_composite))
        for callback in self.callbacks:
            if callback is not None:
                callback(config)
        return config


def mapped(given: WorkloadInput, *, composite: bool) -> SchedulingConfig:
    """What a user wrote, as a config; a block that is missing or empty leaves its field empty."""
    blocks = (given.policy, given.constraints, given.disruption_mode)
    chosen = [block.composite_pod_group_data if composite else block.pod_group_data for block in blocks]
    policy, constraints, mode = chosen
    claims = () if composite else given.resource_claims.pod_group_data
    return SchedulingConfig(
        _policy(policy, "minGroupCount" if composite else "minCount"), _constraints(constraints), _mode(mode),
        [ResourceClaim(claim.get("name", ""), claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName"))
         for claim in claims])


def _policy(block: ReadOnlyTree | None, count: str) -> SchedulingPolicy | None:
    name = scheduling_blocks.policy_of(block)
    if block is None or name is None:
        return None
    if name == "basic":
        return SchedulingPolicy(basic=BasicSchedulingPolicy())
    return SchedulingPolicy(gang=GangSchedulingPolicy(block["gang"].get(count)))


def _constraints(block: ReadOnlyTree | None) -> SchedulingConstraints | None:
    topology: Sequence[Mapping[str, Any]] = (block or {}).get("topology") or ()
    return SchedulingConstraints([TopologyConstraint(each.get("key", "")) for each in topology]) if topology else None


def _mode(block: ReadOnlyTree | None) -> DisruptionMode | None:
    name = scheduling_blocks.mode_of(block)
    if name is None:
        return None
    return DisruptionMode(single=SingleDisruptionMode()) if name == "single" else DisruptionMode(all=AllDisruptionMode())


def check_tree(root: WorkloadItem | None) -> None:
    """Raise WorkloadBuildError for a tree that is none: no item, no name, a name that is used
    twice, a block of the wrong sort.
    """
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if item is None:
            raise WorkloadBuildError("workload item cannot be nil")
        if not item.name:
            raise WorkloadBuildError("workload item name cannot be empty")
        if item.name in seen:
            shown = field_errors.go_quote(item.name)
            raise WorkloadBuildError(
                f"duplicate workload item name {shown}: template names must be unique across the Workload")
        seen.add(item.name)
        _check_blocks(item)
        waiting += reversed(item.children)


def _check_blocks(item: WorkloadItem) -> None:
    given, shown = item.input, field_errors.go_quote(item.name)
    named = (("policy", given.policy), ("constraints", given.constraints), ("disruptionMode", given.disruption_mode))
    for name, block in named:
        wrong = block.pod_group_data if item.is_composite else block.composite_pod_group_data
        if wrong is not None:
            kinds = ("composite", "leaf") if item.is_composite else ("leaf", "composite")
            raise WorkloadBuildError(f"{kinds[0]} workload item {shown} sets {kinds[1]} building block: {name}")
    if item.is_composite and len(given.resource_claims.pod_group_data) > 0:
        raise WorkloadBuildError(f"composite workload item {shown} sets leaf building block: resourceClaims")
