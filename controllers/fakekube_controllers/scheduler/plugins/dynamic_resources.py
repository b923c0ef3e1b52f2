"""Pods wait for their ResourceClaims, and go where the devices are that these ask for.

For pods without claims there is nothing to do, and nothing is loaded before there is another:
``claim_scheduling`` does the work. One thing can be seen without any claim: the PostFilter looks
for the state that the PreFilter leaves, and fails with "not found" where another PreFilter plugin
has rejected the pod already; that text takes the place of what preemption says.

Upstream: plugins/dynamicresources/dynamicresources.go. The argument ``filterTimeout`` is checked,
but a search is limited by what it does, not by the time that it takes.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, PostFilterResult
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, error, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins import arguments
from fakekube_controllers.scheduler.plugins.extended_resources import extended_resources
from fakekube_controllers.scheduler.plugins.hints import hint
from fakekube_controllers.scheduler.plugins.releases import minor_version

if TYPE_CHECKING:
    from fakekube_controllers.scheduler.devices.pod_claims import PodClaims
    from fakekube_controllers.scheduler.plugins.claim_scheduling import ClaimScheduling

NOT_FOUND = "not found"
NO_CLAIMS, SILENT_SINCE = "no new claims to deallocate", 37
CLAIMS_RELEASED = "deallocation and deletion of ResourceClaims completed"


class GroupState:
    """What the cycle of a PodGroup knows: the claims of the pods that were tried (None: a pod
    without) by namespace and name, and, by the uid of a claim, the uids of pods that share what is
    decided in this cycle.
    """

    def __init__(self) -> None:
        self.pods: dict[tuple[str, str], PodClaims | None] = {}
        self.pending: dict[str, dict[str, None]] = {}


class DynamicResources:
    """PreEnqueue, PreFilter, Filter, PostFilter, PodGroupPostFilter, Score, Reserve and PreBind."""

    name = "DynamicResources"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._args, self._handle = arguments.checked(self.name, args, handle.enabled), handle
        self._nothing = unschedulable(*(() if minor_version(handle.version) >= SILENT_SINCE else (NO_CLAIMS,)))
        self._uses_placements = handle.enabled("TopologyAwareWorkloadScheduling")
        self._scores = handle.enabled("DRAPrioritizedList")
        self._resources = extended_resources(handle)
        self._made: ClaimScheduling | None = None

    @property
    def _work(self) -> "ClaimScheduling":
        """What does the work; made for the first pod with claims."""
        if self._made is None:
            from fakekube_controllers.scheduler.plugins.claim_scheduling import ClaimScheduling

            self._made = ClaimScheduling(self._handle, self._resources, arguments.seconds_of(self._args.get("bindingTimeout")))
        return self._made

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        changed = ActionType.ADD | ActionType.UPDATE
        of_nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, of_nodes)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, changed | ActionType.DELETE), self._after_claim),
            ClusterEventWithHint(
                ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM), self._after_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)))

    def is_inactive(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> bool:
        """The pod has no claims."""
        return state.get(self.name) is None

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Why a claim of the pod cannot be used yet, or None."""
        return self._work.pre_enqueue(pod) if pod.pod["spec"].get("resourceClaims") else None

    # Filter

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Why no node can have the pod's claims, SKIP for a pod without, or None."""
        group = state.pod_group
        if group is not None and self.name not in group:
            group[self.name] = GroupState()
        if not pod.pod["spec"].get("resourceClaims") and not (self._resources and self._work.extended_resources_of(pod)):
            self._keep(state, pod, None)
            return SKIP
        from fakekube_controllers.scheduler.devices.pod_claims import PodClaims

        claims = PodClaims([], ())
        self._keep(state, pod, claims)
        status = self._work.pre_filter(pod, claims, self._pending(state) or {}, snapshot.proposed)
        if status is None and not claims.claims:
            self._keep(state, pod, None)
            return SKIP
        return status

    def _keep(self, state: CycleState, pod: PodInfo, claims: "PodClaims | None") -> None:
        state[self.name] = claims
        if state.pod_group is not None:
            state.pod_group[self.name].pods[meta.key_of(pod.pod)] = claims

    def _pending(self, state: CycleState) -> dict[str, dict[str, None]] | None:
        """What is decided in the cycle of the pod's group; None for a pod on its own."""
        found: GroupState | None = state.pod_group.get(self.name) if state.pod_group is not None else None
        return found.pending if found is not None else None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the node cannot have the claims, or None."""
        claims: PodClaims | None = state.get(self.name)
        return None if claims is None else self._work.filter(pod, claims, node)

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """Claims, classes or devices."""
        if node is None:
            return self._work.missing(pod)
        claims: PodClaims | None = state.get(self.name)
        return None if claims is None else self._work.missing_devices(pod, claims, node)

    # PostFilter

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Free a claim that keeps the pod from all nodes; an error where there is no state."""
        if self.name not in state:
            return None, error(NOT_FOUND)
        claims: PodClaims | None = state[self.name]
        if claims is None:
            return None, self._nothing
        return None, (await self._work.free_one(pod, claims))[1]

    async def pod_group_post_filter(
        self, state: CycleState, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """Free claims that keep the group's pods from all nodes; an error where no pod was tried.

        Trees and groups with topology constraints are left alone, as upstream.
        """
        if group.key.type is EntityType.COMPOSITE_POD_GROUP or (
                self._uses_placements and group.group["spec"].get("schedulingConstraints") is not None):
            return {}, unschedulable()
        tried: GroupState | None = state.get(self.name)
        if tried is None:
            return {}, error(NOT_FOUND)
        found_none = False
        for queued in group.unscheduled_pods:
            key = meta.key_of(queued.info.pod)
            if key not in tried.pods:
                continue
            claims = tried.pods[key]
            is_found, status = (False, None) if claims is None else await self._work.free_one(queued.info, claims)
            if status is not None and not status.is_rejection:
                return {}, status
            found_none = found_none or not is_found
        if found_none and group.group["spec"].get("resourceClaims"):
            status = await self._free_of_group(group, tried)
            if status is not None:
                return {}, status
        return {}, unschedulable(CLAIMS_RELEASED)

    async def _free_of_group(self, group: PodGroupInfo, tried: GroupState) -> Status | None:
        """Free a claim of the group, none of whose pods has a node."""
        groups, first = self._handle.groups, group.unscheduled_pods[0].info
        if not self._work.shares or (groups is not None and groups.placed(group.key)):
            return None
        return await self._work.free_of_group(
            group.group, first, [claims for claims in tried.pods.values() if claims is not None])

    # Score

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP for a pod without claims."""
        return SKIP if state.get(self.name) is None or not self._scores else None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """More where requests get what stands earlier in their lists."""
        claims: PodClaims | None = state.get(self.name)
        return 0 if claims is None else claims.score(node.name)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The best of the nodes has 100."""
        best = max(scores.values(), default=0)
        for name, score in scores.items() if best else ():
            scores[name] = MAX_NODE_SCORE * score // best

    # binding

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Keep the devices that the claims are to get from others."""
        claims: PodClaims | None = state.get(self.name)
        return None if claims is None else self._work.reserve(pod, claims, self._pending(state), node_name)

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let others have them."""
        claims: PodClaims | None = state.get(self.name)
        if claims is not None:
            self._work.unreserve(pod, claims, self._pending(state))

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """SKIP for a pod without claims."""
        return SKIP if state.get(self.name) is None else None

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write what the claims get and for whom they are reserved; what went wrong, or None."""
        return await self._work.pre_bind(pod, state[self.name], node_name)

    # hints

    def _after_claim(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        """Devices are free, or a claim of the pod has changed."""
        had = old is not None and bool((old.get("status") or {}).get("allocation"))
        if new is None:
            return hint(had)
        if not self._names_claims(pod):
            return hint(False)
        if had and not (new.get("status") or {}).get("allocation"):
            return hint(True)
        uses = any(meta.uid_of(claim) == meta.uid_of(new) for claim in self._work.claims_of(pod.pod))
        return hint(uses and (old is None or (old.get("status") or {}) != (new.get("status") or {})))

    def _after_pod(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        """All claims of the pod are there."""
        return hint(new is None or self._names_claims(pod.at(new)))

    def _names_claims(self, pod: PodInfo) -> bool:
        """Whether all claims that a pod names are there."""
        return self._work.pre_enqueue(pod) is None
