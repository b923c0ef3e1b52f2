"""Typed models of core/v1: parts that several kinds share."""

# Made by tools/typed_models.py: change that, and run make facts.

from fakekube.types.base import Model, empty, wire
from fakekube.types.claims import PersistentVolumeClaimSpec
from fakekube.types.meta import LabelSelector, ObjectMeta
from fakekube.types.values import Bool, Int, Quantity


class HostPathVolumeSource(Model):
    """In Volume.hostPath, PersistentVolumeSpec.hostPath."""

    path: str = ""
    type: str | None = None


class EmptyDirVolumeSource(Model):
    """In Volume.emptyDir."""

    medium: str = ""
    size_limit: Quantity | None = None
    mode: Int | None = None


class GCEPersistentDiskVolumeSource(Model):
    """In Volume.gcePersistentDisk, PersistentVolumeSpec.gcePersistentDisk."""

    pd_name: str = ""
    fs_type: str = ""
    partition: Int = 0
    read_only: Bool = False


class AWSElasticBlockStoreVolumeSource(Model):
    """In Volume.awsElasticBlockStore, PersistentVolumeSpec.awsElasticBlockStore."""

    volume_id: str = wire("volumeID", "")
    fs_type: str = ""
    partition: Int = 0
    read_only: Bool = False


class GitRepoVolumeSource(Model):
    """In Volume.gitRepo."""

    repository: str = ""
    revision: str = ""
    directory: str = ""


class KeyToPath(Model):
    """In SecretVolumeSource.items, ConfigMapVolumeSource.items and others."""

    key: str = ""
    path: str = ""
    mode: Int | None = None
    user: Int | None = None


class SecretVolumeSource(Model):
    """In Volume.secret."""

    secret_name: str = ""
    items: list[KeyToPath] = empty(list)
    default_mode: Int | None = None
    optional: Bool | None = None
    default_user: Int | None = None


class NFSVolumeSource(Model):
    """In Volume.nfs, PersistentVolumeSpec.nfs."""

    server: str = ""
    path: str = ""
    read_only: Bool = False


class LocalObjectReference(Model):
    """In ISCSIVolumeSource.secretRef, RBDVolumeSource.secretRef and others."""

    name: str = ""


class ISCSIVolumeSource(Model):
    """In Volume.iscsi."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: Bool = False
    portals: list[str] = empty(list)
    chap_auth_discovery: Bool = False
    chap_auth_session: Bool = False
    secret_ref: LocalObjectReference | None = None
    initiator_name: str | None = None


class GlusterfsVolumeSource(Model):
    """In Volume.glusterfs."""

    endpoints: str = ""
    path: str = ""
    read_only: Bool = False


class PersistentVolumeClaimVolumeSource(Model):
    """In Volume.persistentVolumeClaim."""

    claim_name: str = ""
    read_only: Bool = False


class RBDVolumeSource(Model):
    """In Volume.rbd."""

    monitors: list[str] = empty(list)
    image: str = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: Bool = False


class FlexVolumeSource(Model):
    """In Volume.flexVolume."""

    driver: str = ""
    fs_type: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: Bool = False
    options: dict[str, str] = empty(dict)


class CinderVolumeSource(Model):
    """In Volume.cinder."""

    volume_id: str = wire("volumeID", "")
    fs_type: str = ""
    read_only: Bool = False
    secret_ref: LocalObjectReference | None = None


class CephFSVolumeSource(Model):
    """In Volume.cephfs."""

    monitors: list[str] = empty(list)
    path: str = ""
    user: str = ""
    secret_file: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: Bool = False


class FlockerVolumeSource(Model):
    """In Volume.flocker, PersistentVolumeSpec.flocker."""

    dataset_name: str = ""
    dataset_uuid: str = wire("datasetUUID", "")


class ObjectFieldSelector(Model):
    """In DownwardAPIVolumeFile.fieldRef, EnvVarSource.fieldRef."""

    api_version: str = ""
    field_path: str = ""


class ResourceFieldSelector(Model):
    """In DownwardAPIVolumeFile.resourceFieldRef, EnvVarSource.resourceFieldRef."""

    container_name: str = ""
    resource: str = ""
    divisor: Quantity = ""


class DownwardAPIVolumeFile(Model):
    """In DownwardAPIVolumeSource.items, DownwardAPIProjection.items."""

    path: str = ""
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: Int | None = None
    user: Int | None = None


class DownwardAPIVolumeSource(Model):
    """In Volume.downwardAPI."""

    items: list[DownwardAPIVolumeFile] = empty(list)
    default_mode: Int | None = None
    default_user: Int | None = None


class FCVolumeSource(Model):
    """In Volume.fc, PersistentVolumeSpec.fc."""

    target_wwns: list[str] = wire("targetWWNs", list)
    lun: Int | None = None
    fs_type: str = ""
    read_only: Bool = False
    wwids: list[str] = empty(list)


class AzureFileVolumeSource(Model):
    """In Volume.azureFile."""

    secret_name: str = ""
    share_name: str = ""
    read_only: Bool = False


class ConfigMapVolumeSource(Model):
    """In Volume.configMap."""

    name: str = ""
    items: list[KeyToPath] = empty(list)
    default_mode: Int | None = None
    optional: Bool | None = None
    default_user: Int | None = None


class VsphereVirtualDiskVolumeSource(Model):
    """In Volume.vsphereVolume, PersistentVolumeSpec.vsphereVolume."""

    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = wire("storagePolicyID", "")


class QuobyteVolumeSource(Model):
    """In Volume.quobyte, PersistentVolumeSpec.quobyte."""

    registry: str = ""
    volume: str = ""
    read_only: Bool = False
    user: str = ""
    group: str = ""
    tenant: str = ""


class AzureDiskVolumeSource(Model):
    """In Volume.azureDisk, PersistentVolumeSpec.azureDisk."""

    disk_name: str = ""
    disk_uri: str = wire("diskURI", "")
    caching_mode: str | None = None
    fs_type: str | None = None
    read_only: Bool | None = None
    kind: str | None = None


class PhotonPersistentDiskVolumeSource(Model):
    """In Volume.photonPersistentDisk, PersistentVolumeSpec.photonPersistentDisk."""

    pd_id: str = wire("pdID", "")
    fs_type: str = ""


class SecretProjection(Model):
    """In VolumeProjection.secret."""

    name: str = ""
    items: list[KeyToPath] = empty(list)
    optional: Bool | None = None


class DownwardAPIProjection(Model):
    """In VolumeProjection.downwardAPI."""

    items: list[DownwardAPIVolumeFile] = empty(list)


class ConfigMapProjection(Model):
    """In VolumeProjection.configMap."""

    name: str = ""
    items: list[KeyToPath] = empty(list)
    optional: Bool | None = None


class ServiceAccountTokenProjection(Model):
    """In VolumeProjection.serviceAccountToken."""

    audience: str = ""
    expiration_seconds: Int | None = None
    path: str = ""
    user: Int | None = None


class ClusterTrustBundleProjection(Model):
    """In VolumeProjection.clusterTrustBundle."""

    name: str | None = None
    signer_name: str | None = None
    label_selector: LabelSelector | None = None
    optional: Bool | None = None
    path: str = ""
    user: Int | None = None


class PodCertificateProjection(Model):
    """In VolumeProjection.podCertificate."""

    signer_name: str = ""
    key_type: str = ""
    max_expiration_seconds: Int | None = None
    credential_bundle_path: str = ""
    key_path: str = ""
    certificate_chain_path: str = ""
    user_annotations: dict[str, str] = empty(dict)
    user: Int | None = None


class VolumeProjection(Model):
    """In ProjectedVolumeSource.sources."""

    secret: SecretProjection | None = None
    downward_api: DownwardAPIProjection | None = wire("downwardAPI", None)
    config_map: ConfigMapProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(Model):
    """In Volume.projected."""

    sources: list[VolumeProjection] = empty(list)
    default_mode: Int | None = None
    default_user: Int | None = None


class PortworxVolumeSource(Model):
    """In Volume.portworxVolume, PersistentVolumeSpec.portworxVolume."""

    volume_id: str = wire("volumeID", "")
    fs_type: str = ""
    read_only: Bool = False


class ScaleIOVolumeSource(Model):
    """In Volume.scaleIO."""

    gateway: str = ""
    system: str = ""
    secret_ref: LocalObjectReference | None = None
    ssl_enabled: Bool = False
    protection_domain: str = ""
    storage_pool: str = ""
    storage_mode: str = ""
    volume_name: str = ""
    fs_type: str = ""
    read_only: Bool = False


class StorageOSVolumeSource(Model):
    """In Volume.storageos."""

    volume_name: str = ""
    volume_namespace: str = ""
    fs_type: str = ""
    read_only: Bool = False
    secret_ref: LocalObjectReference | None = None


class CSIVolumeSource(Model):
    """In Volume.csi."""

    driver: str = ""
    read_only: Bool | None = None
    fs_type: str | None = None
    volume_attributes: dict[str, str] = empty(dict)
    node_publish_secret_ref: LocalObjectReference | None = None


class PersistentVolumeClaimTemplate(Model):
    """In EphemeralVolumeSource.volumeClaimTemplate."""

    metadata: ObjectMeta = empty(ObjectMeta)
    spec: PersistentVolumeClaimSpec = empty(PersistentVolumeClaimSpec)


class EphemeralVolumeSource(Model):
    """In Volume.ephemeral."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class ImageVolumeSource(Model):
    """In Volume.image."""

    reference: str = ""
    pull_policy: str = ""


class Volume(Model):
    """In PodSpec.volumes."""

    name: str = ""
    host_path: HostPathVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = wire("downwardAPI", None)
    fc: FCVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = wire("scaleIO", None)
    storageos: StorageOSVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None
