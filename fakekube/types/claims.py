"""Typed models of core/v1: PersistentVolumeClaim and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import LabelSelector
from fakekube.types.object import Object
from fakekube.types.values import Quantity, Time


class VolumeResourceRequirements(Model):
    """In PersistentVolumeClaimSpec.resources."""

    limits: dict[str, Quantity] = empty(dict)
    requests: dict[str, Quantity] = empty(dict)


class TypedLocalObjectReference(Model):
    """In PersistentVolumeClaimSpec.dataSource, IngressBackend.resource."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class TypedObjectReference(Model):
    """In PersistentVolumeClaimSpec.dataSourceRef."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class PersistentVolumeClaimSpec(Model):
    """In PersistentVolumeClaim.spec, PersistentVolumeClaimTemplate.spec."""

    access_modes: list[str] = empty(list)
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = empty(VolumeResourceRequirements)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimCondition(Model):
    """In PersistentVolumeClaimStatus.conditions."""

    type: str = ""
    status: str = ""
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class ModifyVolumeStatus(Model):
    """In PersistentVolumeClaimStatus.modifyVolumeStatus."""

    target_volume_attributes_class_name: str = ""
    status: str = ""


class VolumeHealthCondition(Model):
    """In VolumeHealthStatus.healthConditions, PodVolumeHealth.healthConditions."""

    status: str = ""
    reason: str = ""
    message: str = ""


class VolumeHealthStatus(Model):
    """In PersistentVolumeClaimStatus.healthStatus."""

    health_conditions: list[VolumeHealthCondition] = empty(list)
    last_transition_time: Time | None = None


class PersistentVolumeClaimStatus(Model):
    """In PersistentVolumeClaim.status."""

    phase: str = ""
    access_modes: list[str] = empty(list)
    capacity: dict[str, Quantity] = empty(dict)
    conditions: list[PersistentVolumeClaimCondition] = empty(list)
    allocated_resources: dict[str, Quantity] = empty(dict)
    allocated_resource_statuses: dict[str, str] = empty(dict)
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    health_status: VolumeHealthStatus | None = None


class PersistentVolumeClaim(Object):
    """``persistentvolumeclaims`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
    )

    spec: PersistentVolumeClaimSpec = empty(PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = empty(PersistentVolumeClaimStatus)
