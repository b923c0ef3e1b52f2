"""Typed models of resource/v1: DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
and their parts.
"""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.meta import Condition, ObjectMeta
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import NodeSelector
from fakekube.types.values import Bool, Int, Json, Quantity, Time


class CELDeviceSelector(Model):
    """In DeviceSelector.cel."""

    expression: str = ""


class DeviceSelector(Model):
    """In DeviceClassSpec.selectors, ExactDeviceRequest.selectors and others."""

    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(Model):
    """In DeviceClassConfiguration.opaque, DeviceClaimConfiguration.opaque and others."""

    driver: str = ""
    parameters: Json = None


class DeviceClassConfiguration(Model):
    """In DeviceClassSpec.config."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Model):
    """In DeviceClass.spec."""

    selectors: list[DeviceSelector] = empty(list)
    config: list[DeviceClassConfiguration] = empty(list)
    extended_resource_name: str | None = None


class DeviceClass(Object):
    """``deviceclasses`` of resource.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False,
    )

    spec: DeviceClassSpec = empty(DeviceClassSpec)


class DeviceToleration(Model):
    """In ExactDeviceRequest.tolerations, DeviceSubRequest.tolerations and others."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int | None = None


class CapacityRequirements(Model):
    """In ExactDeviceRequest.capacity, DeviceSubRequest.capacity."""

    requests: dict[str, Quantity] = empty(dict)


class DeviceDerivedAttribute(Model):
    """In ExactDeviceRequest.derivedAttributes and others."""

    name: str = ""
    expression: str = ""


class ExactDeviceRequest(Model):
    """In DeviceRequest.exactly."""

    device_class_name: str = ""
    selectors: list[DeviceSelector] = empty(list)
    allocation_mode: str = ""
    count: Int = 0
    admin_access: Bool | None = None
    tolerations: list[DeviceToleration] = empty(list)
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] = empty(list)


class DeviceSubRequest(Model):
    """In DeviceRequest.firstAvailable."""

    name: str = ""
    device_class_name: str = ""
    selectors: list[DeviceSelector] = empty(list)
    allocation_mode: str = ""
    count: Int = 0
    tolerations: list[DeviceToleration] = empty(list)
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] = empty(list)


class DeviceRequest(Model):
    """In DeviceClaim.requests."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] = empty(list)


class DeviceConstraint(Model):
    """In DeviceClaim.constraints."""

    requests: list[str] = empty(list)
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(Model):
    """In DeviceClaim.config."""

    requests: list[str] = empty(list)
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Model):
    """In ResourceClaimSpec.devices."""

    requests: list[DeviceRequest] = empty(list)
    constraints: list[DeviceConstraint] = empty(list)
    config: list[DeviceClaimConfiguration] = empty(list)


class ResourceClaimSpec(Model):
    """In ResourceClaim.spec, ResourceClaimTemplateSpec.spec."""

    devices: DeviceClaim = empty(DeviceClaim)


class DeviceRequestAllocationResult(Model):
    """In DeviceAllocationResult.results."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: Bool | None = None
    tolerations: list[DeviceToleration] = empty(list)
    binding_conditions: list[str] = empty(list)
    binding_failure_conditions: list[str] = empty(list)
    share_id: str | None = wire("shareID", None)
    consumed_capacity: dict[str, Quantity] = empty(dict)
    skip_node_operations: list[str] = empty(list)


class DeviceAllocationConfiguration(Model):
    """In DeviceAllocationResult.config."""

    source: str = ""
    requests: list[str] = empty(list)
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(Model):
    """In AllocationResult.devices."""

    results: list[DeviceRequestAllocationResult] = empty(list)
    config: list[DeviceAllocationConfiguration] = empty(list)


class AllocationResult(Model):
    """In ResourceClaimStatus.allocation."""

    devices: DeviceAllocationResult = empty(DeviceAllocationResult)
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None


class ResourceClaimConsumerReference(Model):
    """In ResourceClaimStatus.reservedFor."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class NetworkDeviceData(Model):
    """In AllocatedDeviceStatus.networkData."""

    interface_name: str = ""
    ips: list[str] = empty(list)
    hardware_address: str = ""


class AllocatedDeviceStatus(Model):
    """In ResourceClaimStatus.devices."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = wire("shareID", None)
    conditions: list[Condition] = empty(list)
    data: Json = None
    network_data: NetworkDeviceData | None = None


class ResourceClaimStatus(Model):
    """In ResourceClaim.status."""

    allocation: AllocationResult | None = None
    reserved_for: list[ResourceClaimConsumerReference] = empty(list)
    devices: list[AllocatedDeviceStatus] = empty(list)


class ResourceClaim(Object):
    """``resourceclaims`` of resource.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "resource.k8s.io", "v1", "resourceclaims", "ResourceClaim",
    )

    spec: ResourceClaimSpec = empty(ResourceClaimSpec)
    status: ResourceClaimStatus = empty(ResourceClaimStatus)


class ResourceClaimTemplateSpec(Model):
    """In ResourceClaimTemplate.spec."""

    metadata: ObjectMeta = empty(ObjectMeta)
    spec: ResourceClaimSpec = empty(ResourceClaimSpec)


class ResourceClaimTemplate(Object):
    """``resourceclaimtemplates`` of resource.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate",
    )

    spec: ResourceClaimTemplateSpec = empty(ResourceClaimTemplateSpec)


class ResourcePool(Model):
    """In ResourceSliceSpec.pool."""

    name: str = ""
    generation: Int = 0
    resource_slice_count: Int = 0


class DeviceAttribute(Model):
    """In Device.attributes."""

    int: Int | None = None
    bool: Bool | None = None
    string: str | None = None
    version: str | None = None
    ints: list[Int] = empty(list)
    bools: list[Bool] = empty(list)
    strings: list[str] = empty(list)
    versions: list[str] = empty(list)


class CapacityRequestPolicyRange(Model):
    """In CapacityRequestPolicy.validRange."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Model):
    """In DeviceCapacity.requestPolicy."""

    default: Quantity | None = None
    valid_values: list[Quantity] = empty(list)
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Model):
    """In Device.capacity."""

    value: Quantity = ""
    request_policy: CapacityRequestPolicy | None = None


class Counter(Model):
    """In DeviceCounterConsumption.counters, CounterSet.counters."""

    value: Quantity = ""


class DeviceCounterConsumption(Model):
    """In Device.consumesCounters."""

    counter_set: str = ""
    counters: dict[str, Counter] = empty(dict)
    compatibility_groups: list[str] = empty(list)


class DeviceTaint(Model):
    """In Device.taints."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class NodeAllocatableMapping(Model):
    """In NodeAllocatableResource.mapping."""

    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(Model):
    """In NodeAllocatableResource.overhead."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResource(Model):
    """In Device.nodeAllocatableResources."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class Device(Model):
    """In ResourceSliceSpec.devices."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = empty(dict)
    capacity: dict[str, DeviceCapacity] = empty(dict)
    consumes_counters: list[DeviceCounterConsumption] = empty(list)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: Bool | None = None
    taints: list[DeviceTaint] = empty(list)
    binds_to_node: Bool | None = None
    binding_conditions: list[str] = empty(list)
    binding_failure_conditions: list[str] = empty(list)
    allow_multiple_allocations: Bool | None = None
    node_allocatable_resources: dict[str, NodeAllocatableResource] = empty(dict)


class CounterSet(Model):
    """In ResourceSliceSpec.sharedCounters."""

    name: str = ""
    counters: dict[str, Counter] = empty(dict)


class ResourceSliceSpec(Model):
    """In ResourceSlice.spec."""

    driver: str = ""
    pool: ResourcePool = empty(ResourcePool)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: Bool | None = None
    devices: list[Device] = empty(list)
    per_device_node_selection: Bool | None = None
    shared_counters: list[CounterSet] = empty(list)
    partition_type_attribute: str | None = None
    skip_node_operations: list[str] = empty(list)


class ResourceSlice(Object):
    """``resourceslices`` of resource.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False,
    )

    spec: ResourceSliceSpec = empty(ResourceSliceSpec)
