"""Typed models of core/v1: Pod, PodTemplate, ReplicationController and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.claims import VolumeHealthCondition
from fakekube.types.containers import (
    AppArmorProfile,
    Container,
    EphemeralContainer,
    ResourceRequirements,
    SeccompProfile,
    SELinuxOptions,
    WindowsSecurityContextOptions,
)
from fakekube.types.meta import ObjectMeta
from fakekube.types.object import Object
from fakekube.types.placement import Affinity, PodSchedulingGate, Toleration, TopologySpreadConstraint
from fakekube.types.values import Bool, Int, Quantity, Time
from fakekube.types.volumes import LocalObjectReference, Volume


class Sysctl(Model):
    """In PodSecurityContext.sysctls."""

    name: str = ""
    value: str = ""


class PodSecurityContext(Model):
    """In PodSpec.securityContext."""

    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: Int | None = None
    run_as_group: Int | None = None
    run_as_non_root: Bool | None = None
    supplemental_groups: list[Int] = empty(list)
    supplemental_groups_policy: str | None = None
    fs_group: Int | None = None
    sysctls: list[Sysctl] = empty(list)
    fs_group_change_policy: str | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None
    se_linux_change_policy: str | None = None


class HostAlias(Model):
    """In PodSpec.hostAliases."""

    ip: str = ""
    hostnames: list[str] = empty(list)


class PodDNSConfigOption(Model):
    """In PodDNSConfig.options."""

    name: str = ""
    value: str | None = None


class PodDNSConfig(Model):
    """In PodSpec.dnsConfig."""

    nameservers: list[str] = empty(list)
    searches: list[str] = empty(list)
    options: list[PodDNSConfigOption] = empty(list)


class PodReadinessGate(Model):
    """In PodSpec.readinessGates."""

    condition_type: str = ""


class PodOS(Model):
    """In PodSpec.os."""

    name: str = ""


class PodResourceClaim(Model):
    """In PodSpec.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(Model):
    """In PodSpec.schedulingGroup."""

    pod_group_name: str | None = None


class EvictionResponder(Model):
    """In PodSpec.evictionResponders."""

    name: str = ""
    priority: Int | None = None


class PodSpec(Model):
    """In Pod.spec, PodTemplateSpec.spec."""

    volumes: list[Volume] = empty(list)
    init_containers: list[Container] = empty(list)
    containers: list[Container] = empty(list)
    ephemeral_containers: list[EphemeralContainer] = empty(list)
    restart_policy: str = ""
    termination_grace_period_seconds: Int | None = None
    active_deadline_seconds: Int | None = None
    dns_policy: str = ""
    node_selector: dict[str, str] = empty(dict)
    service_account_name: str = ""
    service_account: str = ""
    automount_service_account_token: Bool | None = None
    node_name: str = ""
    host_network: Bool = False
    host_pid: Bool = wire("hostPID", False)
    host_ipc: Bool = wire("hostIPC", False)
    share_process_namespace: Bool | None = None
    security_context: PodSecurityContext | None = None
    image_pull_secrets: list[LocalObjectReference] = empty(list)
    hostname: str = ""
    subdomain: str = ""
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: list[Toleration] = empty(list)
    host_aliases: list[HostAlias] = empty(list)
    priority_class_name: str = ""
    priority: Int | None = None
    dns_config: PodDNSConfig | None = None
    readiness_gates: list[PodReadinessGate] = empty(list)
    runtime_class_name: str | None = None
    enable_service_links: Bool | None = None
    preemption_policy: str | None = None
    overhead: dict[str, Quantity] = empty(dict)
    topology_spread_constraints: list[TopologySpreadConstraint] = empty(list)
    set_hostname_as_fqdn: Bool | None = wire("setHostnameAsFQDN", None)
    os: PodOS | None = None
    host_users: Bool | None = None
    scheduling_gates: list[PodSchedulingGate] = empty(list)
    resource_claims: list[PodResourceClaim] = empty(list)
    resources: ResourceRequirements | None = None
    hostname_override: str | None = None
    scheduling_group: PodSchedulingGroup | None = None
    eviction_responders: list[EvictionResponder] = empty(list)


class PodCondition(Model):
    """In PodStatus.conditions."""

    type: str = ""
    observed_generation: Int = 0
    status: str = ""
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class HostIP(Model):
    """In PodStatus.hostIPs."""

    ip: str = ""


class PodIP(Model):
    """In PodStatus.podIPs."""

    ip: str = ""


class ContainerStateWaiting(Model):
    """In ContainerState.waiting."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(Model):
    """In ContainerState.running."""

    started_at: Time | None = None


class ContainerStateTerminated(Model):
    """In ContainerState.terminated."""

    exit_code: Int = 0
    signal: Int = 0
    reason: str = ""
    message: str = ""
    started_at: Time | None = None
    finished_at: Time | None = None
    container_id: str = wire("containerID", "")


class ContainerState(Model):
    """In ContainerStatus.state, ContainerStatus.lastState."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ImageVolumeStatus(Model):
    """In VolumeStatus.image."""

    image_ref: str = ""


class VolumeStatus(Model):
    """In VolumeMountStatus.volumeStatus."""

    image: ImageVolumeStatus | None = None


class VolumeMountStatus(Model):
    """In ContainerStatus.volumeMounts."""

    name: str = ""
    mount_path: str = ""
    read_only: Bool = False
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class LinuxContainerUser(Model):
    """In ContainerUser.linux."""

    uid: Int = 0
    gid: Int = 0
    supplemental_groups: list[Int] = empty(list)


class ContainerUser(Model):
    """In ContainerStatus.user."""

    linux: LinuxContainerUser | None = None


class ResourceHealth(Model):
    """In ResourceStatus.resources."""

    resource_id: str = wire("resourceID", "")
    health: str = ""
    message: str | None = None


class ResourceStatus(Model):
    """In ContainerStatus.allocatedResourcesStatus."""

    name: str = ""
    resources: list[ResourceHealth] = empty(list)


class ContainerStatus(Model):
    """In PodStatus.initContainerStatuses, PodStatus.containerStatuses and others."""

    name: str = ""
    state: ContainerState = empty(ContainerState)
    last_state: ContainerState = empty(ContainerState)
    ready: Bool = False
    restart_count: Int = 0
    image: str = ""
    image_id: str = wire("imageID", "")
    container_id: str = wire("containerID", "")
    started: Bool | None = None
    allocated_resources: dict[str, Quantity] = empty(dict)
    resources: ResourceRequirements | None = None
    volume_mounts: list[VolumeMountStatus] = empty(list)
    user: ContainerUser | None = None
    allocated_resources_status: list[ResourceStatus] = empty(list)
    stop_signal: str | None = None


class PodResourceClaimStatus(Model):
    """In PodStatus.resourceClaimStatuses."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Model):
    """In PodExtendedResourceClaimStatus.requestMappings."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Model):
    """In PodStatus.extendedResourceClaimStatus."""

    request_mappings: list[ContainerExtendedResourceRequest] = empty(list)
    resource_claim_name: str = ""


class NodeAllocatableMappedResources(Model):
    """In NodeAllocatableResourceClaimStatus.mapping."""

    name: str = ""
    quantity: Quantity | None = None


class NodeAllocatableOverheadResources(Model):
    """In NodeAllocatableResourceClaimStatus.overhead."""

    name: str = ""
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResourceClaimStatus(Model):
    """In PodStatus.nodeAllocatableResourceClaimStatuses."""

    resource_claim_name: str = ""
    containers: list[str] = empty(list)
    mapping: list[NodeAllocatableMappedResources] = empty(list)
    overhead: list[NodeAllocatableOverheadResources] = empty(list)


class PodVolumeHealth(Model):
    """In PodStatus.volumeHealth."""

    name: str = ""
    health_conditions: list[VolumeHealthCondition] = empty(list)
    last_transition_time: Time | None = None


class PodStatus(Model):
    """In Pod.status."""

    observed_generation: Int = 0
    phase: str = ""
    conditions: list[PodCondition] = empty(list)
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = wire("hostIP", "")
    host_ips: list[HostIP] = wire("hostIPs", list)
    pod_ip: str = wire("podIP", "")
    pod_ips: list[PodIP] = wire("podIPs", list)
    start_time: Time | None = None
    init_container_statuses: list[ContainerStatus] = empty(list)
    container_statuses: list[ContainerStatus] = empty(list)
    qos_class: str = ""
    ephemeral_container_statuses: list[ContainerStatus] = empty(list)
    resize: str = ""
    resource_claim_statuses: list[PodResourceClaimStatus] = empty(list)
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: dict[str, Quantity] = empty(dict)
    resources: ResourceRequirements | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = empty(list)
    volume_health: list[PodVolumeHealth] = empty(list)


class Pod(Object):
    """``pods`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "pods", "Pod")

    spec: PodSpec = empty(PodSpec)
    status: PodStatus = empty(PodStatus)


class PodTemplateSpec(Model):
    """In PodTemplate.template, ReplicationControllerSpec.template and others."""

    metadata: ObjectMeta = empty(ObjectMeta)
    spec: PodSpec = empty(PodSpec)


class PodTemplate(Object):
    """``podtemplates`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "podtemplates", "PodTemplate")

    template: PodTemplateSpec = empty(PodTemplateSpec)


class ReplicationControllerSpec(Model):
    """In ReplicationController.spec."""

    replicas: Int | None = None
    min_ready_seconds: Int = 0
    selector: dict[str, str] = empty(dict)
    template: PodTemplateSpec | None = None


class ReplicationControllerCondition(Model):
    """In ReplicationControllerStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class ReplicationControllerStatus(Model):
    """In ReplicationController.status."""

    replicas: Int = 0
    fully_labeled_replicas: Int = 0
    ready_replicas: Int = 0
    available_replicas: Int = 0
    observed_generation: Int = 0
    conditions: list[ReplicationControllerCondition] = empty(list)


class ReplicationController(Object):
    """``replicationcontrollers`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "", "v1", "replicationcontrollers", "ReplicationController",
    )

    spec: ReplicationControllerSpec = empty(ReplicationControllerSpec)
    status: ReplicationControllerStatus = empty(ReplicationControllerStatus)
