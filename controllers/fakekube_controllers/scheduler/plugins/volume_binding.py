"""Pods wait for their claims, go where their volumes can be reached, and say where volumes are to
be made.

A claim that is bound at once must be bound; one that waits for its first consumer is bound, or
provisioned, once a node is chosen: ``pre_bind`` writes that down and waits until the binder is
done.

Upstream: plugins/volumebinding (volume_binding.go, binder.go, scorer.go).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from fakekube.runtime import volumes
from fakekube.runtime.volumes import BOUND_BY_CONTROLLER, SELECTED_NODE, YES
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Code, Status, error, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins import arguments, resource_scores
from fakekube_controllers.scheduler.plugins.csi_migration import MIGRATED_PLUGINS
from fakekube_controllers.scheduler.plugins.hints import hint, uses_claim
from fakekube_controllers.scheduler.plugins.volume_binder import PodClaims, VolumeBinder, limit_has_grown

UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
BOUND = Status(Code.SUCCESS)


class VolumeBinding:
    """PreFilter, Filter, PreScore, Score, Reserve and PreBind."""

    name = "VolumeBinding"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        checked = arguments.checked(self.name, args, handle.enabled)
        self._client, self._handle, self._binder = handle.client, handle, VolumeBinder(handle)
        self._timeout_seconds = float(checked["bindTimeoutSeconds"])
        self._scores_capacity = handle.enabled(arguments.CAPACITY_SCORING)
        self._shape = resource_scores.shape_of(checked.get("shape") or ())

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        changed = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.STORAGE_CLASS, changed), _after_class),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed), _after_claim),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, changed)),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, changed), _after_csi_node),
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_DRIVER, ActionType.UPDATE), _after_csi_driver),
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, changed), _after_capacity))

    def is_inactive(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> bool:
        """The pod has no claims."""
        return self.name not in state

    # Filter

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Why the pod must wait for a claim, SKIP for a pod without claims, or None."""
        if not pod.pod["spec"].get("volumes"):
            return SKIP
        found, binder, namespace = PodClaims(), self._binder, meta.namespace_of(pod.pod)
        names = list(volumes.claim_names(pod.pod))
        for name, is_ephemeral in names:
            claim = binder.claims.get(namespace, name)
            if claim is None or (why := _unusable(pod.pod, claim, is_ephemeral=is_ephemeral)):
                return unresolvable(_missing(name, is_ephemeral=is_ephemeral) if claim is None else why)
            if volumes.is_fully_bound(claim):
                found.bound.append(claim)
            elif not claim["spec"].get("volumeName") and volumes.delays_binding(claim, binder.find_class):
                found.delayed.append(claim)
        if len(found.bound) + len(found.delayed) < len(names):
            return unresolvable(UNBOUND_IMMEDIATE)
        if not names:
            return SKIP
        if snapshot.proposed:
            found.propose(snapshot.proposed)
        state[self.name] = found
        return None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why a volume of the pod cannot be on the node, or None."""
        claims: PodClaims | None = state.get(self.name)
        if claims is None:
            return None
        decided, reasons = self._binder.find(claims, node)
        if reasons:
            return unresolvable(*reasons)
        claims.decided[node.name] = decided
        return None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """Claims, volumes for them, or labels by which a node reaches their volumes."""
        from fakekube_controllers.scheduler.plugins.missing import volumes as missing

        if node is not None:
            claims: PodClaims | None = state.get(self.name)
            return None if claims is None else self._binder.missing(claims, node)
        known = {name: self._binder.claims.get(meta.namespace_of(pod.pod), name) for name, _ in volumes.claim_names(pod.pod)}
        wanted = missing.create_claims(pod.pod, {name: claim is not None for name, claim in known.items()})
        if wanted is not None:
            return wanted
        unbound = [
            claim for claim in known.values() if claim is not None and not claim["spec"].get("volumeName")
            and not volumes.delays_binding(claim, self._binder.find_class)]
        made = [each for claim in unbound if (each := missing.create_volume(claim)) is not None]
        return made if made and len(made) == len(unbound) else None

    # Score

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP where volumes say nothing about nodes."""
        return None if self._scores_capacity and self.name in state else SKIP

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """How well what is asked for uses what there is, by the shape, on average over classes."""
        claims: PodClaims = state[self.name]
        scores = [
            resource_scores.utilization_score(self._shape, asked, has)
            for asked, has in self._binder.storage(claims.decided.get(node.name, ()))]
        return resource_scores.rounded(sum(scores) / len(scores)) if scores else 0

    # binding

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Keep the volumes that the pod is to have from others."""
        claims: PodClaims | None = state.get(self.name)
        if claims is not None:
            self._binder.assume(pod.uid, claims.decided.get(node_name, []), node_name)
        return None

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let others have them."""
        self._binder.forget(pod.uid)

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """They are bound: their claims say so."""
        self._binder.forget(pod.uid)

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """SKIP when no claim is to be bound."""
        claims: PodClaims | None = state.get(self.name)
        return None if claims is not None and claims.decided.get(node_name) else SKIP

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write down what was decided, and wait until the claims are bound; what went wrong, or
        None.
        """
        claims: PodClaims = state[self.name]
        decisions = claims.decided[node_name]
        written: dict[str, int] = {}
        try:
            for claim, volume, _ in decisions:
                await self._write(written, claim, volume, node_name)
        except APIError as failure:
            return error(str(failure))

        def check() -> Status | None:
            statuses = [self._check(written, claim, volume, node_name) for claim, volume, _ in decisions]
            failed = next((each for each in statuses if each is not None and each.code == Code.ERROR), None)
            return failed or (None if any(each is None for each in statuses) else BOUND)

        try:
            status = await self._handle.wait_for(check, self._timeout_seconds)
        except TimeoutError:
            return error("binding volumes: context deadline exceeded")
        return None if status is BOUND else status

    async def _write(
        self, written: dict[str, int], claim: ReadOnlyTree, volume: ReadOnlyTree | None, node_name: str,
    ) -> None:
        """Name the claim in its volume, or the node in the claim. Raises APIError."""
        if volume is None:
            answer = await self._client.patch(
                PERSISTENT_VOLUME_CLAIMS, meta.name_of(claim), meta.namespace_of(claim),
                {"metadata": {"annotations": {SELECTED_NODE: node_name}, "uid": meta.uid_of(claim)}})
        else:
            metadata: Tree = {"resourceVersion": meta.resource_version_of(volume)}
            if not volumes.is_bound_to(volume, claim):
                metadata["annotations"] = {BOUND_BY_CONTROLLER: YES}
            body = {"metadata": metadata, "spec": {"claimRef": volumes.claim_reference(claim)}}
            answer = await self._client.patch(PERSISTENT_VOLUMES, meta.name_of(volume), body=body)
        written[meta.name_of(claim)] = int(meta.resource_version_of(answer))

    def _check(
        self, written: Mapping[str, int], decided: ReadOnlyTree, volume: ReadOnlyTree | None, node_name: str,
    ) -> Status | None:
        """BOUND, None for a claim that is not bound yet, or what went wrong."""
        name = meta.name_of(decided)
        claim = self._binder.claims.get(meta.namespace_of(decided), name)
        if claim is None or meta.uid_of(claim) != meta.uid_of(decided):
            return error(f"binding volumes: {_missing(name, is_ephemeral=False)}")
        if volumes.is_fully_bound(claim):
            return BOUND
        seen = claim if volume is None else self._binder.volumes.get("", meta.name_of(volume))
        if seen is None:
            return error(f'binding volumes: failed to check binding: could not find v1.PersistentVolume "{_name(volume)}"')
        if int(meta.resource_version_of(seen)) < written[name]:
            return None
        if volume is not None:
            if not (seen["spec"].get("claimRef") or {}).get("uid"):
                return error(f'binding volumes: ClaimRef got reset for pv "{_name(volume)}"')
        elif not meta.annotations_of(claim):
            return error(f'binding volumes: selectedNode annotation reset for PVC "{name}"')
        elif meta.annotations_of(claim).get(SELECTED_NODE) != node_name:
            return error(f'binding volumes: provisioning failed for PVC "{name}"')
        return None


def _name(volume: ReadOnlyTree | None) -> str:
    return meta.name_of(volume) if volume is not None else ""


def _missing(name: str, *, is_ephemeral: bool) -> str:
    if is_ephemeral:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    return f'persistentvolumeclaim "{name}" not found'


def _unusable(pod: ReadOnlyTree, claim: ReadOnlyTree, *, is_ephemeral: bool) -> str:
    """Why a pod cannot have a claim at all; empty when it can."""
    name = meta.name_of(claim)
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
    if meta.is_deleting(claim):
        return f'persistentvolumeclaim "{name}" is being deleted'
    return volumes.not_for_pod(pod, claim) if is_ephemeral else ""


# hints


def _after_class(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or new is None or old.get("allowedTopologies") != new.get("allowedTopologies"))


def _after_claim(pod: PodInfo, _old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(new is not None and uses_claim(pod.pod, new, ephemeral=True))


def _after_csi_node(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    if old is None or new is None:
        return hint(True)
    return hint(meta.annotations_of(old).get(MIGRATED_PLUGINS) != meta.annotations_of(new).get(MIGRATED_PLUGINS))


def _after_csi_driver(pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    """The driver of one of the pod's own volumes counts its capacity no more."""
    if old is None or new is None:
        return hint(True)
    used = any((volume.get("csi") or {}).get("driver") == meta.name_of(new) for volume in pod.pod["spec"].get("volumes") or ())
    return hint(used and bool(old["spec"].get("storageCapacity")) and not new["spec"].get("storageCapacity"))


def _after_capacity(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or new is None or limit_has_grown(old, new))
