"""Typed models of scheduling/v1, scheduling/v1beta1: PriorityClass, PodGroup, Workload and their
parts.
"""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import Condition
from fakekube.types.object import Object
from fakekube.types.values import Bool, Int


class PriorityClass(Object):
    """``priorityclasses`` of scheduling.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False,
    )

    value: Int = 0
    global_default: Bool = False
    description: str = ""
    preemption_policy: str | None = None


class WorkloadReference(Model):
    """In PodGroupSpec.workloadRef."""

    workload_name: str = ""
    template_name: str = ""


class BasicSchedulingPolicy(Model):
    """In PodGroupSchedulingPolicy.basic."""


class GangSchedulingPolicy(Model):
    """In PodGroupSchedulingPolicy.gang."""

    min_count: Int = 0


class PodGroupSchedulingPolicy(Model):
    """In PodGroupSpec.schedulingPolicy, PodGroupTemplate.schedulingPolicy."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Model):
    """In PodGroupSchedulingConstraints.topology and others."""

    key: str = ""


class PodGroupSchedulingConstraints(Model):
    """In PodGroupSpec.schedulingConstraints and others."""

    topology: list[TopologyConstraint] = empty(list)


class PodGroupResourceClaim(Model):
    """In PodGroupSpec.resourceClaims, PodGroupTemplate.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SingleDisruptionMode(Model):
    """In DisruptionMode.single."""


class AllDisruptionMode(Model):
    """In DisruptionMode.all."""


class DisruptionMode(Model):
    """In PodGroupSpec.disruptionMode, PodGroupTemplate.disruptionMode."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class PodGroupSpec(Model):
    """In PodGroup.spec."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = empty(PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = empty(list)
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int | None = None
    preemption_policy: str | None = None


class PodGroupResourceClaimStatus(Model):
    """In PodGroupStatus.resourceClaimStatuses."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Model):
    """In PodGroup.status."""

    conditions: list[Condition] = empty(list)
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = empty(list)


class PodGroup(Object):
    """``podgroups`` of scheduling.k8s.io/v1beta1, in a namespace."""

    resource: ClassVar[Resource] = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")

    spec: PodGroupSpec = empty(PodGroupSpec)
    status: PodGroupStatus = empty(PodGroupStatus)


class TypedLocalObjectReference(Model):
    """In WorkloadSpec.controllerRef."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class PodGroupTemplate(Model):
    """In WorkloadSpec.podGroupTemplates and others."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = empty(PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = empty(list)
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int | None = None
    preemption_policy: str | None = None


class CompositeBasicSchedulingPolicy(Model):
    """In CompositePodGroupSchedulingPolicy.basic."""


class CompositeGangSchedulingPolicy(Model):
    """In CompositePodGroupSchedulingPolicy.gang."""

    min_group_count: Int = 0


class CompositePodGroupSchedulingPolicy(Model):
    """In CompositePodGroupTemplate.schedulingPolicy."""

    basic: CompositeBasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class CompositePodGroupSchedulingConstraints(Model):
    """In CompositePodGroupTemplate.schedulingConstraints."""

    topology: list[TopologyConstraint] = empty(list)


class SingleCompositeDisruptionMode(Model):
    """In CompositeDisruptionMode.single."""


class AllCompositeDisruptionMode(Model):
    """In CompositeDisruptionMode.all."""


class CompositeDisruptionMode(Model):
    """In CompositePodGroupTemplate.disruptionMode."""

    single: SingleCompositeDisruptionMode | None = None
    all: AllCompositeDisruptionMode | None = None


class CompositePodGroupTemplate(Model):
    """In WorkloadSpec.compositePodGroupTemplates and others."""

    name: str = ""
    scheduling_policy: CompositePodGroupSchedulingPolicy = empty(CompositePodGroupSchedulingPolicy)
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    disruption_mode: CompositeDisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int | None = None
    preemption_policy: str | None = None
    pod_group_templates: list[PodGroupTemplate] = empty(list)
    composite_pod_group_templates: list["CompositePodGroupTemplate"] = empty(list)


class WorkloadSpec(Model):
    """In Workload.spec."""

    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: list[PodGroupTemplate] = empty(list)
    composite_pod_group_templates: list[CompositePodGroupTemplate] = empty(list)


class Workload(Object):
    """``workloads`` of scheduling.k8s.io/v1beta1, in a namespace."""

    resource: ClassVar[Resource] = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")

    spec: WorkloadSpec = empty(WorkloadSpec)
