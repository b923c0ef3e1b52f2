"""Typed models of core/v1: Node, Namespace, Service, Endpoints, ConfigMap, Secret,
ServiceAccount, Event, LimitRange, ResourceQuota and their parts.
"""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.meta import Condition
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import ObjectReference
from fakekube.types.values import Bool, Int, IntOrString, MicroTime, Quantity, Time
from fakekube.types.volumes import LocalObjectReference


class Taint(Model):
    """In NodeSpec.taints."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class ConfigMapNodeConfigSource(Model):
    """In NodeConfigSource.configMap."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    kubelet_config_key: str = ""


class NodeConfigSource(Model):
    """In NodeSpec.configSource, NodeConfigStatus.assigned and others."""

    config_map: ConfigMapNodeConfigSource | None = None


class NodePodPreemptionPolicy(Model):
    """In NodeSpec.podPreemptionPolicy."""

    disable_resize_preemption: list[str] = empty(list)


class NodeSpec(Model):
    """In Node.spec."""

    pod_cidr: str = wire("podCIDR", "")
    pod_cidrs: list[str] = wire("podCIDRs", list)
    provider_id: str = wire("providerID", "")
    unschedulable: Bool = False
    taints: list[Taint] = empty(list)
    config_source: NodeConfigSource | None = None
    external_id: str = wire("externalID", "")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None


class NodeCondition(Model):
    """In NodeStatus.conditions."""

    type: str = ""
    status: str = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class NodeAddress(Model):
    """In NodeStatus.addresses."""

    type: str = ""
    address: str = ""


class DaemonEndpoint(Model):
    """In NodeDaemonEndpoints.kubeletEndpoint."""

    port: Int = wire("Port", 0)


class NodeDaemonEndpoints(Model):
    """In NodeStatus.daemonEndpoints."""

    kubelet_endpoint: DaemonEndpoint = empty(DaemonEndpoint)


class NodeSwapStatus(Model):
    """In NodeSystemInfo.swap."""

    capacity: Int | None = None


class NodeSystemInfo(Model):
    """In NodeStatus.nodeInfo."""

    machine_id: str = wire("machineID", "")
    system_uuid: str = wire("systemUUID", "")
    boot_id: str = wire("bootID", "")
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""
    operating_system: str = ""
    architecture: str = ""
    swap: NodeSwapStatus | None = None
    running_in_user_namespace: Bool | None = None


class ContainerImage(Model):
    """In NodeStatus.images."""

    names: list[str] = empty(list)
    size_bytes: Int = 0


class AttachedVolume(Model):
    """In NodeStatus.volumesAttached."""

    name: str = ""
    device_path: str = ""


class NodeConfigStatus(Model):
    """In NodeStatus.config."""

    assigned: NodeConfigSource | None = None
    active: NodeConfigSource | None = None
    last_known_good: NodeConfigSource | None = None
    error: str = ""


class NodeRuntimeHandlerFeatures(Model):
    """In NodeRuntimeHandler.features."""

    recursive_read_only_mounts: Bool | None = None
    user_namespaces: Bool | None = None


class NodeRuntimeHandler(Model):
    """In NodeStatus.runtimeHandlers."""

    name: str = ""
    features: NodeRuntimeHandlerFeatures | None = None


class NodeFeatures(Model):
    """In NodeStatus.features."""

    supplemental_groups_policy: Bool | None = None


class NodeStatus(Model):
    """In Node.status."""

    capacity: dict[str, Quantity] = empty(dict)
    allocatable: dict[str, Quantity] = empty(dict)
    phase: str = ""
    conditions: list[NodeCondition] = empty(list)
    addresses: list[NodeAddress] = empty(list)
    daemon_endpoints: NodeDaemonEndpoints = empty(NodeDaemonEndpoints)
    node_info: NodeSystemInfo = empty(NodeSystemInfo)
    images: list[ContainerImage] = empty(list)
    volumes_in_use: list[str] = empty(list)
    volumes_attached: list[AttachedVolume] = empty(list)
    config: NodeConfigStatus | None = None
    runtime_handlers: list[NodeRuntimeHandler] = empty(list)
    features: NodeFeatures | None = None
    declared_features: list[str] = empty(list)


class Node(Object):
    """``nodes`` of v1, in no namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "nodes", "Node", namespaced=False)

    spec: NodeSpec = empty(NodeSpec)
    status: NodeStatus = empty(NodeStatus)


class NamespaceSpec(Model):
    """In Namespace.spec."""

    finalizers: list[str] = empty(list)


class NamespaceCondition(Model):
    """In NamespaceStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class NamespaceStatus(Model):
    """In Namespace.status."""

    phase: str = ""
    conditions: list[NamespaceCondition] = empty(list)


class Namespace(Object):
    """``namespaces`` of v1, in no namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "namespaces", "Namespace", namespaced=False)

    spec: NamespaceSpec = empty(NamespaceSpec)
    status: NamespaceStatus = empty(NamespaceStatus)


class ServicePort(Model):
    """In ServiceSpec.ports."""

    name: str = ""
    protocol: str = ""
    app_protocol: str | None = None
    port: Int = 0
    target_port: IntOrString = 0
    node_port: Int = 0


class ClientIPConfig(Model):
    """In SessionAffinityConfig.clientIP."""

    timeout_seconds: Int | None = None


class SessionAffinityConfig(Model):
    """In ServiceSpec.sessionAffinityConfig."""

    client_ip: ClientIPConfig | None = wire("clientIP", None)


class ServiceSpec(Model):
    """In Service.spec."""

    ports: list[ServicePort] = empty(list)
    selector: dict[str, str] = empty(dict)
    cluster_ip: str = wire("clusterIP", "")
    cluster_ips: list[str] = wire("clusterIPs", list)
    type: str = ""
    external_ips: list[str] = wire("externalIPs", list)
    session_affinity: str = ""
    load_balancer_ip: str = wire("loadBalancerIP", "")
    load_balancer_source_ranges: list[str] = empty(list)
    external_name: str = ""
    external_traffic_policy: str = ""
    health_check_node_port: Int = 0
    publish_not_ready_addresses: Bool = False
    session_affinity_config: SessionAffinityConfig | None = None
    ip_families: list[str] = empty(list)
    ip_family_policy: str | None = None
    allocate_load_balancer_node_ports: Bool | None = None
    load_balancer_class: str | None = None
    internal_traffic_policy: str | None = None
    traffic_distribution: str | None = None


class PortStatus(Model):
    """In LoadBalancerIngress.ports."""

    port: Int = 0
    protocol: str = ""
    error: str | None = None


class LoadBalancerIngress(Model):
    """In LoadBalancerStatus.ingress."""

    ip: str = ""
    hostname: str = ""
    ip_mode: str | None = None
    ports: list[PortStatus] = empty(list)


class LoadBalancerStatus(Model):
    """In ServiceStatus.loadBalancer."""

    ingress: list[LoadBalancerIngress] = empty(list)


class ServiceStatus(Model):
    """In Service.status."""

    load_balancer: LoadBalancerStatus = empty(LoadBalancerStatus)
    conditions: list[Condition] = empty(list)


class Service(Object):
    """``services`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "services", "Service")

    spec: ServiceSpec = empty(ServiceSpec)
    status: ServiceStatus = empty(ServiceStatus)


class EndpointAddress(Model):
    """In EndpointSubset.addresses, EndpointSubset.notReadyAddresses."""

    ip: str = ""
    hostname: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Model):
    """In EndpointSubset.ports."""

    name: str = ""
    port: Int = 0
    protocol: str = ""
    app_protocol: str | None = None


class EndpointSubset(Model):
    """In Endpoints.subsets."""

    addresses: list[EndpointAddress] = empty(list)
    not_ready_addresses: list[EndpointAddress] = empty(list)
    ports: list[EndpointPort] = empty(list)


class Endpoints(Object):
    """``endpoints`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "endpoints", "Endpoints")

    subsets: list[EndpointSubset] = empty(list)


class ConfigMap(Object):
    """``configmaps`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "configmaps", "ConfigMap")

    immutable: Bool | None = None
    data: dict[str, str] = empty(dict)
    binary_data: dict[str, str] = empty(dict)


class Secret(Object):
    """``secrets`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "secrets", "Secret")

    immutable: Bool | None = None
    data: dict[str, str] = empty(dict)
    string_data: dict[str, str] = empty(dict)
    type: str = ""


class ServiceAccount(Object):
    """``serviceaccounts`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "serviceaccounts", "ServiceAccount")

    secrets: list[ObjectReference] = empty(list)
    image_pull_secrets: list[LocalObjectReference] = empty(list)
    automount_service_account_token: Bool | None = None


class EventSource(Model):
    """In Event.source, Event.deprecatedSource."""

    component: str = ""
    host: str = ""


class EventSeries(Model):
    """In Event.series."""

    count: Int = 0
    last_observed_time: MicroTime | None = None


class Event(Object):
    """``events`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "events", "Event")

    involved_object: ObjectReference = empty(ObjectReference)
    reason: str = ""
    message: str = ""
    source: EventSource = empty(EventSource)
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    count: Int = 0
    type: str = ""
    event_time: MicroTime | None = None
    series: EventSeries | None = None
    action: str = ""
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""


class LimitRangeItem(Model):
    """In LimitRangeSpec.limits."""

    type: str = ""
    max: dict[str, Quantity] = empty(dict)
    min: dict[str, Quantity] = empty(dict)
    default: dict[str, Quantity] = empty(dict)
    default_request: dict[str, Quantity] = empty(dict)
    max_limit_request_ratio: dict[str, Quantity] = empty(dict)


class LimitRangeSpec(Model):
    """In LimitRange.spec."""

    limits: list[LimitRangeItem] = empty(list)


class LimitRange(Object):
    """``limitranges`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "limitranges", "LimitRange")

    spec: LimitRangeSpec = empty(LimitRangeSpec)


class ScopedResourceSelectorRequirement(Model):
    """In ScopeSelector.matchExpressions."""

    scope_name: str = ""
    operator: str = ""
    values: list[str] = empty(list)


class ScopeSelector(Model):
    """In ResourceQuotaSpec.scopeSelector."""

    match_expressions: list[ScopedResourceSelectorRequirement] = empty(list)


class ResourceQuotaSpec(Model):
    """In ResourceQuota.spec."""

    hard: dict[str, Quantity] = empty(dict)
    scopes: list[str] = empty(list)
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Model):
    """In ResourceQuota.status."""

    hard: dict[str, Quantity] = empty(dict)
    used: dict[str, Quantity] = empty(dict)


class ResourceQuota(Object):
    """``resourcequotas`` of v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("", "v1", "resourcequotas", "ResourceQuota")

    spec: ResourceQuotaSpec = empty(ResourceQuotaSpec)
    status: ResourceQuotaStatus = empty(ResourceQuotaStatus)
