"""Pods go where the devices are that their claims ask for, and claims are allocated for them.

What DynamicResources does for pods that have claims, or extended resources that are devices; it is
imported with the first of them. What is decided about a claim counts from ``reserve`` on, and is
written by ``pre_bind``.

Upstream: plugins/dynamicresources. Left out: resources of the node that are devices
(DRANodeAllocatableResources), which is alpha. Where a claim that a group shares comes before one of
the pod's own, upstream 1.37.1 gives each what the other was to have; here each gets its own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import RESOURCE_CLAIMS, Resource
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.devices import references, special
from fakekube_controllers.scheduler.devices.allocator import Allocator
from fakekube_controllers.scheduler.devices.model import AllocationError, Features, NodeAllocationError, TakesTooLong
from fakekube_controllers.scheduler.devices.pod_claims import (
    NodeAllocation,
    PodClaims,
    bound_devices,
    is_available,
    is_ready,
    may_be_freed,
)
from fakekube_controllers.scheduler.devices.references import ClaimProblem, allocation_of
from fakekube_controllers.scheduler.devices.requests import asked_of, claim_name
from fakekube_controllers.scheduler.devices.selectors import Selectors
from fakekube_controllers.scheduler.devices.slices import TaintedSlices
from fakekube_controllers.scheduler.devices.tracker import ClaimTracker
from fakekube_controllers.scheduler.devices.writer import ClaimWriter
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.queued import pod_group_key
from fakekube_controllers.scheduler.framework.status import Status, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.extended_resources import DEVICE_CLASSES, ExtendedResources
from fakekube_controllers.scheduler.plugins.releases import minor_version

if TYPE_CHECKING:
    from fakekube_controllers.scheduler.devices.pools import ResourceSlices

COMMON = "claims of the cluster"
STILL, SILENT_SINCE = "still not schedulable", 37
SLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False)
TAINT_RULES_GATE, GROUPS_GATE = "DRADeviceTaintRules", "DRAWorkloadResourceClaims"
TAINT_RULE_VERSIONS = {"1.35": "v1alpha3", "1.36": "v1beta2"}

Pending = dict[str, dict[str, None]]
"""In the cycle of a group: the uids of pods that share what is to be written, by that of a claim.
"""


def features_of(handle: Handle) -> Features:
    """What gates switch on of the allocation."""
    on = handle.enabled
    return Features(
        admin_access=on("DRAAdminAccess"), prioritized_list=on("DRAPrioritizedList"),
        partitionable_devices=on("DRAPartitionableDevices"), device_taints=on("DRADeviceTaints"),
        device_binding_and_status=on("DRADeviceBindingConditions") and on("DRAResourceClaimDeviceStatus"),
        consumable_capacity=on("DRAConsumableCapacity"), fractional_capacity_range=on("DRAFractionalCapacityRange"),
        list_type_attributes=on("DRAListTypeAttributes"))


def _tracker(handle: Handle, features: Features) -> ClaimTracker:
    """That of the cluster, the same for all profiles."""
    found: ClaimTracker | None = handle.common.get(COMMON)
    if found is None:
        found = handle.common[COMMON] = ClaimTracker(handle.lister(RESOURCE_CLAIMS), shares=features.consumable_capacity)
        handle.add_handler(RESOURCE_CLAIMS, found.seen, lambda _, new: found.seen(new), found.gone)
    return found


class ClaimScheduling:
    """Of one profile. Claims of a pod are kept in ``PodClaims`` through its cycle."""

    def __init__(self, handle: Handle, resources: ExtendedResources, binding_timeout_seconds: float) -> None:
        self._handle, self._resources, self._binding_timeout_seconds = handle, resources, binding_timeout_seconds
        self._features = features_of(handle)
        self.shares = handle.enabled(GROUPS_GATE)
        self.tracker = _tracker(handle, self._features)
        self._is_silent = minor_version(handle.version) >= SILENT_SINCE
        self._classes = handle.lister(DEVICE_CLASSES)
        self._slices = TaintedSlices(handle.lister(SLICES), self._taint_rules(handle))
        self._selectors = Selectors(
            minor_version(handle.version), multiple_allocations=self._features.consumable_capacity,
            list_attributes=self._features.list_type_attributes, spawn=handle.spawn)
        self._ids = handle.rng.fork("shares of devices")
        self._writer = ClaimWriter(
            handle.client, handle.clock, self.tracker, stamps=self._features.device_binding_and_status)

    @staticmethod
    def _taint_rules(handle: Handle) -> Any:
        if not handle.enabled(TAINT_RULES_GATE):
            return list
        version = TAINT_RULE_VERSIONS.get(handle.version, "v1")
        return handle.lister(Resource("resource.k8s.io", version, "devicetaintrules", "DeviceTaintRule", namespaced=False)).list

    def claims_of(self, pod: ReadOnlyTree) -> list[ReadOnlyTree]:
        """The claims that a pod names. Raises ClaimProblem."""
        return list(references.claims_of(pod, self.tracker.get, shares=self.shares))

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Why a claim of the pod cannot be used yet, or None."""
        try:
            self.claims_of(pod.pod)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return None

    # PreFilter

    def pre_filter(self, pod: PodInfo, claims: PodClaims, pending: Pending, proposed: Changes = ()) -> Status | None:
        """Read the claims of a pod; why it cannot have them on any node, or None.

        ``proposed``: changes of which some add devices, to be tried.
        """
        try:
            claims.claims = self.claims_of(pod.pod)
            claims.consumers = references.consumers_of(pod.pod, self._group(pod.pod))
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        self._add_special(pod, claims)
        to_allocate = False
        for place, claim in enumerate(claims.claims):
            uid = claims.uid_of(place)
            if allocation_of(claim) is not None:
                continue
            to_allocate, under_way = True, self.tracker.pending(uid)
            if under_way is not None:
                if uid in pending:
                    claims.allocations[place] = under_way
                    continue
                return unresolvable(f"resource claim {claim_name(claim)} is in the process of being allocated")
            status = self._check(claim) if place != claims.special else None
            if status is not None:
                return status
        if to_allocate:
            self._selectors.begin()
            claims.allocator = self.allocator(proposed)
        return None

    def allocator(self, proposed: Changes) -> Allocator:
        """What allocates for one pod; ``proposed``: changes of which some add devices."""
        slices: ResourceSlices = self._slices
        if proposed:
            from fakekube_controllers.scheduler.devices.proposed import ProposedSlices

            slices = ProposedSlices(slices, proposed)
        return Allocator(
            self._features, self.tracker.allocated, lambda name: self._classes.get("", name), slices, self._selectors.match,
            self._ids)

    def _group(self, pod: ReadOnlyTree) -> ReadOnlyTree | None:
        """The PodGroup of a pod, where groups have claims. Raises ClaimProblem."""
        name = references.group_name_of(pod) if self.shares else ""
        if not name or self._handle.groups is None:
            return None
        group = self._handle.groups.group(pod_group_key(meta.namespace_of(pod), name))
        if group is None:
            raise ClaimProblem(f'podgroup.scheduling.k8s.io "{name}" not found')
        return group

    def extended_resources_of(self, pod: PodInfo) -> list[str]:
        """The extended resources of a pod that devices stand for."""
        return [name for name, asked in pod.requests.items() if asked and self._resources.class_of(name) is not None]

    def _add_special(self, pod: PodInfo, claims: PodClaims) -> None:
        if not self.extended_resources_of(pod):
            return
        owned = self._handle.lister(RESOURCE_CLAIMS).controlled_by(pod.uid)
        known = next((each for each in owned if special.is_special(each)), None)
        claim = known and self.tracker.get(*meta.key_of(known))
        claims.special = len(claims.claims)
        claims.special_uid = meta.uid_of(claim) if claim is not None else self._ids.fork(pod.uid).uid()
        claims.claims = [*claims.claims, claim if claim is not None else special.special_claim(pod.pod, claims.special_uid)]

    def _check(self, claim: ReadOnlyTree) -> Status | None:
        """Why no node can have the claim: its classes."""
        for request in asked_of(claim).get("requests") or ():
            alternatives = request.get("firstAvailable") or ()
            if alternatives and not self._features.prioritized_list:
                return unresolvable(
                    f"resource claim {claim_name(claim)}, request {request['name']}: has subrequests, but the "
                    "DRAPrioritizedList feature is disabled")
            named = [(f"{request['name']}/{each['name']}", each) for each in alternatives]
            if request.get("exactly") is not None:
                named = [(request["name"], request["exactly"])]
            if not named:
                return unresolvable(f"resource claim {claim_name(claim)}, request {request['name']}: unknown request type")
            for name, body in named:
                if not body.get("deviceClassName"):
                    return error(f"request {name}: unsupported request type")
                if self._classes.get("", body["deviceClassName"]) is None:
                    return unresolvable(f"request {name}: device class {body['deviceClassName']} does not exist")
        return None

    # Filter

    def filter(self, pod: PodInfo, claims: PodClaims, node: NodeInfo) -> Status | None:
        """Why the claims cannot be on the node, or None: then what they would get is kept."""
        found = NodeAllocation({})
        if claims.special is not None:
            status = self._special_requests(pod, claims, node, found)
            if status is not None:
                return status
            if found.special is None and claims.special == 0:
                return None
        unavailable = [place for place in range(len(claims.claims)) if not self._is_available(claims, place, node)]
        if claims.allocator is not None:
            status = self._allocate(claims, claims.allocator, node, found)
            if status is not None:
                return status
        if unavailable:
            claims.unavailable.update(dict.fromkeys(unavailable))
            return unresolvable("resourceclaim not available on the node")
        claims.nodes[node.name] = found
        return None

    def _special_requests(self, pod: PodInfo, claims: PodClaims, node: NodeInfo, found: NodeAllocation) -> Status | None:
        """The special claim as it is to be on this node; None in its place where the node has the
        resources itself.
        """
        assert claims.special is not None, "there is one"
        claim = claims.claims[claims.special]
        if asked_of(claim).get("requests"):
            return unresolvable("cannot schedule extended resource claim")
        resources = [name for name in self.extended_resources_of(pod) if not node.allocatable.get(name)]
        if not resources and claims.special == 0:
            return None
        requests, mappings = special.requests_of(pod.pod, resources, self._resources.class_of)
        found.special = {**claim, "spec": {"devices": {"requests": requests}}}
        found.mappings = mappings
        return None

    def _is_available(self, claims: PodClaims, place: int, node: NodeInfo) -> bool:
        """Whether a claim that has an allocation, or is to have one, can be used on a node."""
        claim = claims.claims[place]
        allocation = allocation_of(claim)
        decided = allocation or claims.allocations.get(place)
        if decided is not None and not is_available(decided, node):
            return False
        if allocation is None or not self._features.device_binding_and_status:
            return True
        ready, failure = is_ready(claim)
        return not failure and (ready or not self._is_late(claim))

    def _is_late(self, claim: ReadOnlyTree) -> bool:
        written = (allocation_of(claim) or {}).get("allocationTimestamp")
        if not written or not bound_devices(claim):
            return False
        return parse_time(written) + self._binding_timeout_seconds < self._handle.clock.time()

    @staticmethod
    def _wanted(claims: PodClaims, found: NodeAllocation) -> dict[int, ReadOnlyTree]:
        """The claims that are to get devices; those for which that is decided get it."""
        wanted: dict[int, ReadOnlyTree] = {}
        for place, claim in claims.to_allocate():
            if place in claims.allocations:
                found.allocations[place] = claims.allocations[place]
            elif place != claims.special:
                wanted[place] = claim
            elif found.special is not None and found.special["spec"]["devices"]["requests"]:
                wanted[place] = found.special
        return wanted

    @classmethod
    def _allocate(cls, claims: PodClaims, allocator: Allocator, node: NodeInfo, found: NodeAllocation) -> Status | None:
        wanted = cls._wanted(claims, found)
        labels = meta.labels_of(node.node) if node.node is not None else {}
        try:
            allocations = allocator.allocate(node.name, labels, list(wanted.values()))
        except TakesTooLong:
            return error(f"node {node.name}: timed out trying to allocate devices")
        except NodeAllocationError as failure:
            return unresolvable(str(failure))
        except AllocationError as failure:
            return error(str(failure))
        if allocations is None:
            return unresolvable("cannot allocate all claims")
        found.allocations.update(zip(wanted, allocations, strict=True))
        return None

    # what is missing

    def missing(self, pod: PodInfo) -> list[Change] | None:
        """The claims or classes that are not there; None where there are none of these."""
        from fakekube_controllers.scheduler.plugins.missing import devices

        return devices.missing_objects(pod.pod, self.tracker.get, self._classes.get)

    def missing_devices(self, pod: PodInfo, claims: PodClaims, node: NodeInfo) -> list[Change] | None:
        """The devices that a node lacks; None where these are not all, or nothing is known."""
        from fakekube_controllers.scheduler.plugins.missing import devices

        found = NodeAllocation({})
        if claims.special is not None and self._special_requests(pod, claims, node, found) is not None:
            return None
        if not all(self._is_available(claims, place, node) for place in range(len(claims.claims))):
            return None
        known = self._handle.lister(SLICES).list()
        return devices.missing(self.allocator, known, list(self._wanted(claims, found).values()), node)

    # Reserve

    def reserve(self, pod: PodInfo, claims: PodClaims, pending: Pending | None, node_name: str) -> Status | None:
        """Have others know what the claims are to get."""
        if claims.allocator is None:
            return None
        found = claims.nodes.get(node_name)
        for place, _ in claims.to_allocate():
            allocation = found.allocations.get(place) if found is not None else None
            if allocation is None:
                if place == claims.special:
                    continue
                return error("claim allocation not found for node")
            claims.allocations[place] = allocation
            uid = claims.uid_of(place)
            self.tracker.reserve(uid, allocation)
            if pending is not None:
                pending.setdefault(uid, {})[pod.uid] = None
        return None

    def unreserve(self, pod: PodInfo, claims: PodClaims, pending: Pending | None) -> None:
        """Undo that, and what was written for this pod alone."""
        for place, claim in enumerate(claims.claims):
            uid = claims.uid_of(place)
            if self.tracker.release(uid) and pending is not None:
                pending.pop(uid, None)
            if place == claims.special:
                if special.is_written(claim):
                    self._handle.spawn(self._delete(claim), "deleting a claim for extended resources")
            elif allocation_of(claim) is not None and references.is_reserved_for(pod.pod, claim, shares=False):
                self._handle.spawn(self._writer.unreserve(claim, pod.uid), "taking back a reservation of a claim")

    async def _delete(self, claim: ReadOnlyTree) -> None:
        try:
            await self._writer.delete(claim)
        except APIError:
            return  # its pod's end is its end

    # PreBind

    async def pre_bind(self, pod: PodInfo, claims: PodClaims, node_name: str) -> Status | None:
        """Write what was decided, and wait until devices are ready; what went wrong, or None."""
        try:
            for place, claim in enumerate(claims.claims):
                if not references.is_reserved_for(pod.pod, claim, shares=self.shares):
                    consumer = references.consumer_of(pod.pod) if place == claims.special else claims.consumers[place]
                    await self._writer.bind(pod.pod, claims, place, consumer, node_name)
        except ClaimProblem as problem:
            return error(str(problem))
        status = await self._wait(pod, claims, node_name)
        if status is None:
            for place in claims.allocations:
                self.tracker.release(claims.uid_of(place), is_done=True)
        return status

    async def _wait(self, pod: PodInfo, claims: PodClaims, node_name: str) -> Status | None:
        if not self._features.device_binding_and_status or not any(map(bound_devices, claims.claims)):
            return None
        self._handle.recorder.report(
            pod.pod, "Normal", "BindingConditionsPending", "Scheduling",
            f"waiting for binding conditions for device on node {node_name}")
        try:
            failure = await self._handle.wait_for(lambda: self._readiness(claims), self._binding_timeout_seconds)
        except TimeoutError:
            failure = "device binding timeout: context deadline exceeded"
        return error(failure) if failure else None

    def _readiness(self, claims: PodClaims) -> str | None:
        """Empty once all devices are ready, None while they are not, or why they will never be."""
        for place, known in enumerate(claims.claims):
            claim = self.tracker.get(*meta.key_of(known))
            if claim is None:
                return f'could not find ResourceClaim "{claim_name(known)}"'
            claims.claims[place] = claim
            ready, failure = is_ready(claim)
            if failure:
                return failure
            if not ready:
                return f"device binding timeout: claim={meta.name_of(claim)}" if self._is_late(claim) else None
        return ""

    # PostFilter

    async def free_one(self, pod: PodInfo, claims: PodClaims) -> tuple[bool, Status]:
        """Free a claim that keeps the pod from its nodes; whether there was one."""
        try:
            for place in claims.unavailable:
                claim = claims.claims[place]
                if place != claims.special and may_be_freed(claim, pod.uid):
                    await self._writer.free(claim)
                    return True, unschedulable("deallocation of ResourceClaim completed")
            if claims.special is not None and special.is_written(claims.claims[claims.special]):
                await self._writer.delete(claims.claims[claims.special])
                return True, unschedulable("deletion of ResourceClaim completed")
        except APIError as failure:
            return True, error(str(failure))
        return False, unschedulable(*(() if self._is_silent else (STILL,)))

    async def free_of_group(self, group: ReadOnlyTree, pod: PodInfo, of_pods: Sequence[PodClaims]) -> Status | None:
        """Free a claim that keeps a group from its nodes, or take back the group's reservation.
        What was done, or None.
        """
        try:
            for claims in of_pods:
                for place in claims.unavailable:
                    if may_be_freed(claims.claims[place], meta.uid_of(group)):
                        await self._writer.free(claims.claims[place])
                        return unschedulable("deallocation of PodGroup ResourceClaim completed")
            for claim in references.claims_of_group(group, self.tracker.get):
                if (allocation_of(claim) is not None and references.is_reserved_for(pod.pod, claim, shares=self.shares)
                        and await self._writer.unreserve(claim, meta.uid_of(group))):
                    return unresolvable("ResourceClaim unreserved for PodGroup")
        except (APIError, ClaimProblem) as failure:
            return error(str(failure))
        return None
