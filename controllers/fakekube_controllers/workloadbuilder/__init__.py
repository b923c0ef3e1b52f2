"""What a controller hands its scheduling API to, to get Workloads and groups for the scheduler.

A controller puts the building blocks that its users wrote into a tree of ``WorkloadItem``, its own
defaults and callbacks beside them, and asks a ``Builder``: ``validate``, ``build_workload``,
``new_pod_group``, ``new_composite_pod_group``. Building blocks come, and objects are given, as JSON
trees; ``fakekube.types`` reads and writes them as models. ``docs/workloadbuilder.md`` has an
example. Read ``builder.py`` first; ``earlier.py`` has the names that KEP-6089 used before.
Upstream: k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder 1.37. Nothing here runs:
it is a library, which controllers of any package may import.
"""

from fakekube_controllers.workloadbuilder.builder import Builder, BuildOptions
from fakekube_controllers.workloadbuilder.config import (
    AllDisruptionMode,
    BasicSchedulingPolicy,
    DisruptionMode,
    DisruptionModeOption,
    GangSchedulingPolicy,
    ResourceClaim,
    SchedulingConfig,
    SchedulingConstraints,
    SchedulingPolicy,
    SchedulingPolicyOption,
    SingleDisruptionMode,
    TopologyConstraint,
)
from fakekube_controllers.workloadbuilder.items import (
    Callback,
    ConstraintsInput,
    DisruptionModeInput,
    PolicyInput,
    ResourceClaimsInput,
    WorkloadBuildError,
    WorkloadInput,
    WorkloadItem,
)

__all__ = [
    "AllDisruptionMode",
    "BasicSchedulingPolicy",
    "BuildOptions",
    "Builder",
    "Callback",
    "ConstraintsInput",
    "DisruptionMode",
    "DisruptionModeInput",
    "DisruptionModeOption",
    "GangSchedulingPolicy",
    "PolicyInput",
    "ResourceClaim",
    "ResourceClaimsInput",
    "SchedulingConfig",
    "SchedulingConstraints",
    "SchedulingPolicy",
    "SchedulingPolicyOption",
    "SingleDisruptionMode",
    "TopologyConstraint",
    "WorkloadBuildError",
    "WorkloadInput",
    "WorkloadItem",
]
