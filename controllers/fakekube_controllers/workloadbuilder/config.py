"""How a group is scheduled, alike for groups of pods and groups of groups.

A controller writes its defaults in this form, and its callbacks read and change it.
Upstream: types.go (SchedulingConfig and its parts).
"""

from dataclasses import dataclass, field, replace
from enum import Enum


class SchedulingPolicyOption(Enum):
    """A policy that a controller allows."""

    BASIC = "basic"
    GANG = "gang"


class DisruptionModeOption(Enum):
    """A disruption mode that a controller allows."""

    SINGLE = "single"
    ALL = "all"


@dataclass(slots=True)
class BasicSchedulingPolicy:
    """Pods are scheduled one by one."""


@dataclass(slots=True)
class GangSchedulingPolicy:
    """All or nothing: ``min_count`` pods, or groups in a group of groups.

    None is for a callback to fill in.
    """

    min_count: int | None = None


@dataclass(slots=True)
class SchedulingPolicy:
    """Exactly one of both."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


@dataclass(slots=True)
class TopologyConstraint:
    """The label whose value all nodes of a group share."""

    key: str = ""


@dataclass(slots=True)
class SchedulingConstraints:
    """Where a group must be together."""

    topology: list[TopologyConstraint] = field(default_factory=list)


@dataclass(slots=True)
class SingleDisruptionMode:
    """Members are disrupted one by one."""


@dataclass(slots=True)
class AllDisruptionMode:
    """Members are disrupted together."""


@dataclass(slots=True)
class DisruptionMode:
    """Exactly one of both."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


@dataclass(slots=True)
class ResourceClaim:
    """A claim that all pods of a group share; exactly one of its sources is set."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


@dataclass(slots=True)
class SchedulingConfig:
    """How a group is scheduled. No policy is the basic one, no mode leaves it to the scheduler."""

    policy: SchedulingPolicy | None = None
    constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    resource_claims: list[ResourceClaim] = field(default_factory=list)
    priority_class_name: str = ""

    def copy(self) -> "SchedulingConfig":
        """The same, sharing nothing that can be changed."""
        policy, constraints, mode = self.policy, self.constraints, self.disruption_mode
        if policy is not None:
            policy = replace(policy, gang=replace(policy.gang) if policy.gang else None)
        if constraints is not None:
            constraints = SchedulingConstraints([replace(each) for each in constraints.topology])
        return SchedulingConfig(
            policy, constraints, replace(mode) if mode else None, [replace(claim) for claim in self.resource_claims],
            self.priority_class_name)

    def overlaid(self, user: "SchedulingConfig") -> "SchedulingConfig":
        """A copy in which each field that ``user`` sets is theirs, as a whole."""
        mine, theirs = self.copy(), user.copy()
        return SchedulingConfig(
            theirs.policy or mine.policy, theirs.constraints or mine.constraints, theirs.disruption_mode or mine.disruption_mode,
            theirs.resource_claims or mine.resource_claims, theirs.priority_class_name or mine.priority_class_name)

    @property
    def mode_name(self) -> str | None:
        """``all`` or ``single``; all, if a callback has set both."""
        if self.disruption_mode is None:
            return None
        if self.disruption_mode.all is not None:
            return DisruptionModeOption.ALL.value
        return DisruptionModeOption.SINGLE.value if self.disruption_mode.single is not None else None
