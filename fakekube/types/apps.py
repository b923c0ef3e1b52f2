"""Typed models of apps/v1: Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision
and their parts.
"""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.claims import PersistentVolumeClaim
from fakekube.types.meta import LabelSelector
from fakekube.types.object import Object
from fakekube.types.pods import PodTemplateSpec
from fakekube.types.values import Bool, Int, IntOrString, Json, Time


class RollingUpdateDeployment(Model):
    """In DeploymentStrategy.rollingUpdate."""

    max_unavailable: IntOrString | None = None
    max_surge: IntOrString | None = None


class DeploymentStrategy(Model):
    """In DeploymentSpec.strategy."""

    type: str = ""
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(Model):
    """In Deployment.spec."""

    replicas: Int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = empty(PodTemplateSpec)
    strategy: DeploymentStrategy = empty(DeploymentStrategy)
    min_ready_seconds: Int = 0
    revision_history_limit: Int | None = None
    paused: Bool = False
    progress_deadline_seconds: Int | None = None


class DeploymentCondition(Model):
    """In DeploymentStatus.conditions."""

    type: str = ""
    status: str = ""
    last_update_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class DeploymentStatus(Model):
    """In Deployment.status."""

    observed_generation: Int = 0
    replicas: Int = 0
    updated_replicas: Int = 0
    ready_replicas: Int = 0
    available_replicas: Int = 0
    unavailable_replicas: Int = 0
    terminating_replicas: Int | None = None
    conditions: list[DeploymentCondition] = empty(list)
    collision_count: Int | None = None


class Deployment(Object):
    """``deployments`` of apps/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("apps", "v1", "deployments", "Deployment")

    spec: DeploymentSpec = empty(DeploymentSpec)
    status: DeploymentStatus = empty(DeploymentStatus)


class ReplicaSetSpec(Model):
    """In ReplicaSet.spec."""

    replicas: Int | None = None
    min_ready_seconds: Int = 0
    selector: LabelSelector | None = None
    template: PodTemplateSpec = empty(PodTemplateSpec)


class ReplicaSetCondition(Model):
    """In ReplicaSetStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class ReplicaSetStatus(Model):
    """In ReplicaSet.status."""

    replicas: Int = 0
    fully_labeled_replicas: Int = 0
    ready_replicas: Int = 0
    available_replicas: Int = 0
    terminating_replicas: Int | None = None
    observed_generation: Int = 0
    conditions: list[ReplicaSetCondition] = empty(list)


class ReplicaSet(Object):
    """``replicasets`` of apps/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("apps", "v1", "replicasets", "ReplicaSet")

    spec: ReplicaSetSpec = empty(ReplicaSetSpec)
    status: ReplicaSetStatus = empty(ReplicaSetStatus)


class RollingUpdateStatefulSetStrategy(Model):
    """In StatefulSetUpdateStrategy.rollingUpdate."""

    partition: Int | None = None
    max_unavailable: IntOrString | None = None


class StatefulSetUpdateStrategy(Model):
    """In StatefulSetSpec.updateStrategy."""

    type: str = ""
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    """In StatefulSetSpec.persistentVolumeClaimRetentionPolicy."""

    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetOrdinals(Model):
    """In StatefulSetSpec.ordinals."""

    start: Int = 0


class StatefulSetSpec(Model):
    """In StatefulSet.spec."""

    replicas: Int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = empty(PodTemplateSpec)
    volume_claim_templates: list[PersistentVolumeClaim] = empty(list)
    service_name: str = ""
    pod_management_policy: str = ""
    update_strategy: StatefulSetUpdateStrategy = empty(StatefulSetUpdateStrategy)
    revision_history_limit: Int | None = None
    min_ready_seconds: Int = 0
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    ordinals: StatefulSetOrdinals | None = None


class StatefulSetCondition(Model):
    """In StatefulSetStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class StatefulSetStatus(Model):
    """In StatefulSet.status."""

    observed_generation: Int = 0
    replicas: Int = 0
    ready_replicas: Int = 0
    current_replicas: Int = 0
    updated_replicas: Int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: Int | None = None
    conditions: list[StatefulSetCondition] = empty(list)
    available_replicas: Int = 0


class StatefulSet(Object):
    """``statefulsets`` of apps/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("apps", "v1", "statefulsets", "StatefulSet")

    spec: StatefulSetSpec = empty(StatefulSetSpec)
    status: StatefulSetStatus = empty(StatefulSetStatus)


class RollingUpdateDaemonSet(Model):
    """In DaemonSetUpdateStrategy.rollingUpdate."""

    max_unavailable: IntOrString | None = None
    max_surge: IntOrString | None = None


class DaemonSetUpdateStrategy(Model):
    """In DaemonSetSpec.updateStrategy."""

    type: str = ""
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(Model):
    """In DaemonSet.spec."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = empty(PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy = empty(DaemonSetUpdateStrategy)
    min_ready_seconds: Int = 0
    revision_history_limit: Int | None = None


class DaemonSetCondition(Model):
    """In DaemonSetStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class DaemonSetStatus(Model):
    """In DaemonSet.status."""

    current_number_scheduled: Int = 0
    number_misscheduled: Int = 0
    desired_number_scheduled: Int = 0
    number_ready: Int = 0
    observed_generation: Int = 0
    updated_number_scheduled: Int = 0
    number_available: Int = 0
    number_unavailable: Int = 0
    collision_count: Int | None = None
    conditions: list[DaemonSetCondition] = empty(list)


class DaemonSet(Object):
    """``daemonsets`` of apps/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("apps", "v1", "daemonsets", "DaemonSet")

    spec: DaemonSetSpec = empty(DaemonSetSpec)
    status: DaemonSetStatus = empty(DaemonSetStatus)


class ControllerRevision(Object):
    """``controllerrevisions`` of apps/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "apps", "v1", "controllerrevisions", "ControllerRevision",
    )

    data: Json = None
    revision: Int = 0
