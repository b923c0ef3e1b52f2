"""Typed models of core/v1: PersistentVolume and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.object import Object
from fakekube.types.values import Bool, Int, Quantity, Time
from fakekube.types.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    FCVolumeSource,
    FlockerVolumeSource,
    GCEPersistentDiskVolumeSource,
    HostPathVolumeSource,
    NFSVolumeSource,
    PhotonPersistentDiskVolumeSource,
    PortworxVolumeSource,
    QuobyteVolumeSource,
    VsphereVirtualDiskVolumeSource,
)


class GlusterfsPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.glusterfs."""

    endpoints: str = ""
    path: str = ""
    read_only: Bool = False
    endpoints_namespace: str | None = None


class SecretReference(Model):
    """In RBDPersistentVolumeSource.secretRef and others."""

    name: str = ""
    namespace: str = ""


class RBDPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.rbd."""

    monitors: list[str] = empty(list)
    image: str = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    secret_ref: SecretReference | None = None
    read_only: Bool = False


class ISCSIPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.iscsi."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: Bool = False
    portals: list[str] = empty(list)
    chap_auth_discovery: Bool = False
    chap_auth_session: Bool = False
    secret_ref: SecretReference | None = None
    initiator_name: str | None = None


class CinderPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.cinder."""

    volume_id: str = wire("volumeID", "")
    fs_type: str = ""
    read_only: Bool = False
    secret_ref: SecretReference | None = None


class CephFSPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.cephfs."""

    monitors: list[str] = empty(list)
    path: str = ""
    user: str = ""
    secret_file: str = ""
    secret_ref: SecretReference | None = None
    read_only: Bool = False


class FlexPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.flexVolume."""

    driver: str = ""
    fs_type: str = ""
    secret_ref: SecretReference | None = None
    read_only: Bool = False
    options: dict[str, str] = empty(dict)


class AzureFilePersistentVolumeSource(Model):
    """In PersistentVolumeSpec.azureFile."""

    secret_name: str = ""
    share_name: str = ""
    read_only: Bool = False
    secret_namespace: str | None = None


class ScaleIOPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.scaleIO."""

    gateway: str = ""
    system: str = ""
    secret_ref: SecretReference | None = None
    ssl_enabled: Bool = False
    protection_domain: str = ""
    storage_pool: str = ""
    storage_mode: str = ""
    volume_name: str = ""
    fs_type: str = ""
    read_only: Bool = False


class LocalVolumeSource(Model):
    """In PersistentVolumeSpec.local."""

    path: str = ""
    fs_type: str | None = None


class ObjectReference(Model):
    """In StorageOSPersistentVolumeSource.secretRef and others."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class StorageOSPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.storageos."""

    volume_name: str = ""
    volume_namespace: str = ""
    fs_type: str = ""
    read_only: Bool = False
    secret_ref: ObjectReference | None = None


class CSIPersistentVolumeSource(Model):
    """In PersistentVolumeSpec.csi."""

    driver: str = ""
    volume_handle: str = ""
    read_only: Bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = empty(dict)
    controller_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    controller_expand_secret_ref: SecretReference | None = None
    node_expand_secret_ref: SecretReference | None = None


class NodeSelectorRequirement(Model):
    """In NodeSelectorTerm.matchExpressions, NodeSelectorTerm.matchFields."""

    key: str = ""
    operator: str = ""
    values: list[str] = empty(list)


class NodeSelectorTerm(Model):
    """In NodeSelector.nodeSelectorTerms, PreferredSchedulingTerm.preference."""

    match_expressions: list[NodeSelectorRequirement] = empty(list)
    match_fields: list[NodeSelectorRequirement] = empty(list)


class NodeSelector(Model):
    """In VolumeNodeAffinity.required and others."""

    node_selector_terms: list[NodeSelectorTerm] = empty(list)


class VolumeNodeAffinity(Model):
    """In PersistentVolumeSpec.nodeAffinity."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Model):
    """In PersistentVolume.spec, VolumeAttachmentSource.inlineVolumeSpec."""

    capacity: dict[str, Quantity] = empty(dict)
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    cephfs: CephFSPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = wire("scaleIO", None)
    local: LocalVolumeSource | None = None
    storageos: StorageOSPersistentVolumeSource | None = None
    csi: CSIPersistentVolumeSource | None = None
    access_modes: list[str] = empty(list)
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    mount_options: list[str] = empty(list)
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeStatus(Model):
    """In PersistentVolume.status."""

    phase: str = ""
    message: str = ""
    reason: str = ""
    last_phase_transition_time: Time | None = None


class PersistentVolume(Object):
    """``persistentvolumes`` of v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "", "v1", "persistentvolumes", "PersistentVolume", namespaced=False,
    )

    spec: PersistentVolumeSpec = empty(PersistentVolumeSpec)
    status: PersistentVolumeStatus = empty(PersistentVolumeStatus)
