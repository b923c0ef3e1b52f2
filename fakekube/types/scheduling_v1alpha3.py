"""Typed models of scheduling/v1alpha3: CompositePodGroup and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.batch import TopologyConstraint
from fakekube.types.meta import Condition
from fakekube.types.object import Object
from fakekube.types.values import Int


class WorkloadReference(Model):
    """In CompositePodGroupSpec.workloadRef."""

    workload_name: str = ""
    template_name: str = ""


class CompositeBasicSchedulingPolicy(Model):
    """In CompositePodGroupSchedulingPolicy.basic."""


class CompositeGangSchedulingPolicy(Model):
    """In CompositePodGroupSchedulingPolicy.gang."""

    min_group_count: Int = 0


class CompositePodGroupSchedulingPolicy(Model):
    """In CompositePodGroupSpec.schedulingPolicy."""

    basic: CompositeBasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class CompositePodGroupSchedulingConstraints(Model):
    """In CompositePodGroupSpec.schedulingConstraints."""

    topology: list[TopologyConstraint] = empty(list)


class SingleCompositeDisruptionMode(Model):
    """In CompositeDisruptionMode.single."""


class AllCompositeDisruptionMode(Model):
    """In CompositeDisruptionMode.all."""


class CompositeDisruptionMode(Model):
    """In CompositePodGroupSpec.disruptionMode."""

    single: SingleCompositeDisruptionMode | None = None
    all: AllCompositeDisruptionMode | None = None


class CompositePodGroupSpec(Model):
    """In CompositePodGroup.spec."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: CompositePodGroupSchedulingPolicy = empty(CompositePodGroupSchedulingPolicy)
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    disruption_mode: CompositeDisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(Model):
    """In CompositePodGroup.status."""

    conditions: list[Condition] = empty(list)


class CompositePodGroup(Object):
    """``compositepodgroups`` of scheduling.k8s.io/v1alpha3, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup",
    )

    spec: CompositePodGroupSpec = empty(CompositePodGroupSpec)
    status: CompositePodGroupStatus = empty(CompositePodGroupStatus)
