"""Typed models of storage/v1: StorageClass, CSINode, CSIDriver, VolumeAttachment and their
parts.
"""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import PersistentVolumeSpec
from fakekube.types.values import Bool, Int, Time


class TopologySelectorLabelRequirement(Model):
    """In TopologySelectorTerm.matchLabelExpressions."""

    key: str = ""
    values: list[str] = empty(list)


class TopologySelectorTerm(Model):
    """In StorageClass.allowedTopologies."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = empty(list)


class StorageClass(Object):
    """``storageclasses`` of storage.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False,
    )

    provisioner: str = ""
    parameters: dict[str, str] = empty(dict)
    reclaim_policy: str | None = None
    mount_options: list[str] = empty(list)
    allow_volume_expansion: Bool | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] = empty(list)


class VolumeNodeResources(Model):
    """In CSINodeDriver.allocatable."""

    count: Int | None = None


class CSINodeDriver(Model):
    """In CSINodeSpec.drivers."""

    name: str = ""
    node_id: str = wire("nodeID", "")
    topology_keys: list[str] = empty(list)
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Model):
    """In CSINode.spec."""

    drivers: list[CSINodeDriver] = empty(list)


class StorageHealthCondition(Model):
    """In StorageHealth.healthConditions."""

    status: str = ""
    reason: str = ""
    message: str = ""
    access_mode: str | None = None
    volume_mode: str | None = None
    last_transition_time: Time | None = None


class StorageHealth(Model):
    """In CSINodeStatus.storageHealth."""

    name: str = ""
    health_conditions: list[StorageHealthCondition] = empty(list)


class CSINodeStatus(Model):
    """In CSINode.status."""

    storage_health: list[StorageHealth] = empty(list)


class CSINode(Object):
    """``csinodes`` of storage.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False,
    )

    spec: CSINodeSpec = empty(CSINodeSpec)
    status: CSINodeStatus = empty(CSINodeStatus)


class TokenRequest(Model):
    """In CSIDriverSpec.tokenRequests."""

    audience: str = ""
    expiration_seconds: Int | None = None


class CSIDriverSpec(Model):
    """In CSIDriver.spec."""

    attach_required: Bool | None = None
    pod_info_on_mount: Bool | None = None
    volume_lifecycle_modes: list[str] = empty(list)
    storage_capacity: Bool | None = None
    fs_group_policy: str | None = None
    token_requests: list[TokenRequest] = empty(list)
    requires_republish: Bool | None = None
    se_linux_mount: Bool | None = None
    node_allocatable_update_period_seconds: Int | None = None
    service_account_token_in_secrets: Bool | None = None
    prevent_pod_scheduling_if_missing: Bool | None = None


class CSIDriver(Object):
    """``csidrivers`` of storage.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False,
    )

    spec: CSIDriverSpec = empty(CSIDriverSpec)


class VolumeAttachmentSource(Model):
    """In VolumeAttachmentSpec.source."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Model):
    """In VolumeAttachment.spec."""

    attacher: str = ""
    source: VolumeAttachmentSource = empty(VolumeAttachmentSource)
    node_name: str = ""


class VolumeError(Model):
    """In VolumeAttachmentStatus.attachError, VolumeAttachmentStatus.detachError."""

    time: Time | None = None
    message: str = ""
    error_code: Int | None = None


class VolumeAttachmentStatus(Model):
    """In VolumeAttachment.status."""

    attached: Bool = False
    attachment_metadata: dict[str, str] = empty(dict)
    attach_error: VolumeError | None = None
    detach_error: VolumeError | None = None


class VolumeAttachment(Object):
    """``volumeattachments`` of storage.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False,
    )

    spec: VolumeAttachmentSpec = empty(VolumeAttachmentSpec)
    status: VolumeAttachmentStatus = empty(VolumeAttachmentStatus)
