"""Pods wait for their claims, go where their volumes can be reached, and say where volumes are to
be made.

A claim that is bound at once must be bound; one that waits for its first consumer is bound, or
provisioned, once a node is chosen: ``pre_bind`` writes that down and waits until the binder is
done.

Upstream: plugins/volumebinding (volume_binding.go, binder.go). Left out: scores, capacities that
CSI drivers publish, allowed topologies, volumes that are migrated to CSI.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from fakekube.runtime import volumes
from fakekube.runtime.volumes import BOUND_BY_CONTROLLER, NO_PROVISIONER, SELECTED_NODE, YES
from fakekube_controllers.scheduler.framework import events
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

UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NODE_CONFLICT_BEFORE = "node(s) had volume node affinity conflict"
NODE_CONFLICT_SINCE = 34  # the minor number of the release with the newer words
NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
BIND_TIMEOUT_SECONDS = 600.0
NODE_CHANGE = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE)
CHANGED = ActionType.ADD | ActionType.UPDATE | ActionType.DELETE
BOUND = Status(Code.SUCCESS)


class Decision(NamedTuple):
    """What is to be done for a claim on the chosen node: ``volume`` is to be bound to it, or None:
    one is to be made.
    """

    claim: Tree
    volume: ReadOnlyTree | None


@dataclass(slots=True)
class PodClaims:
    """The claims of a pod, for one cycle."""

    bound: list[Tree] = field(default_factory=list)
    delayed: list[Tree] = field(default_factory=list)
    # by the name of a node that fits
    decided: dict[str, list[Decision]] = field(default_factory=dict)


class VolumeBinding:
    """PreFilter, Filter, Reserve and PreBind."""

    name = "VolumeBinding"
    deferred = True  # few pods have claims, and for these every node is asked

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._client, self._handle = handle.client, handle
        self._claims, self._volumes = handle.lister(PERSISTENT_VOLUME_CLAIMS), handle.lister(PERSISTENT_VOLUMES)
        self._classes = handle.lister(STORAGE_CLASSES)
        # the uid of a pod by the name of the volume that it is about to have
        self._taken: dict[str, str] = {}
        newer = int((handle.version or "0.99").partition(".")[2]) >= NODE_CONFLICT_SINCE
        self._node_conflict = NODE_CONFLICT if newer else NODE_CONFLICT_BEFORE
        self._timeout_seconds = float(args.get("bindTimeoutSeconds") or BIND_TIMEOUT_SECONDS)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A claim of the pod, a volume, a class, or a node that was added or changed."""
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, CHANGED), self._after_claim_change),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, CHANGED)),
            ClusterEventWithHint(ClusterEvent(EventResource.STORAGE_CLASS, CHANGED)), ClusterEventWithHint(NODE_CHANGE)]

    def _after_claim_change(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        namespace, name = meta.key_of(new if new is not None else old or {})
        used = namespace == meta.namespace_of(pod.pod) and any(name == each for each, _ in volumes.claim_names(pod.pod))
        return events.QUEUE if used else events.SKIP

    # a cycle

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Why the pod must wait for a claim, SKIP for a pod without claims, or None."""
        found = PodClaims()
        for name, is_ephemeral in volumes.claim_names(pod.pod):
            claim = self._claims.get(meta.namespace_of(pod.pod), name)
            if claim is None or (why := _unusable(pod.pod, claim, is_ephemeral=is_ephemeral)):
                return unresolvable(_missing(name, is_ephemeral=is_ephemeral) if claim is None else why)
            if volumes.is_fully_bound(claim):
                found.bound.append(claim)
            elif not claim["spec"].get("volumeName") and volumes.delays_binding(claim, self._class):
                found.delayed.append(claim)
            else:
                return unresolvable(UNBOUND_IMMEDIATE)
        if not found.bound and not found.delayed:
            return SKIP
        state[self.name] = found
        return None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why a volume of the pod cannot be on the node, or None."""
        claims: PodClaims | None = state.get(self.name)
        if claims is None:
            return None
        reasons: list[str] = []
        for claim in claims.bound:
            volume = self._volumes.get("", claim["spec"]["volumeName"])
            if volume is None:
                return unresolvable(NO_SUCH_VOLUME)
            if not _reaches(volume, node):
                reasons.append(self._node_conflict)
                break
        decided = self._decide(claims, pod, node) if claims.delayed else []
        if decided is None:
            reasons.append(NO_VOLUME)
        else:
            claims.decided[node.name] = decided
        return unresolvable(*reasons) if reasons else None

    def _decide(self, claims: PodClaims, pod: PodInfo, node: NodeInfo) -> list[Decision] | None:
        """What is to be done for the claims that wait, on one node; None when one of them can have
        no volume there.
        """
        found: list[Decision] = []
        chosen: dict[str, None] = {}

        def is_taken(volume: ReadOnlyTree) -> bool:
            name = meta.name_of(volume)
            return name in chosen or self._taken.get(name, pod.uid) != pod.uid

        for claim in sorted(claims.delayed, key=volumes.requested):
            selected = meta.annotations_of(claim).get(SELECTED_NODE)
            volume: ReadOnlyTree | None = None
            if selected is None:
                volume = volumes.best_match(
                    claim, self._volumes.list(), is_reachable=lambda each: _reaches(each, node), is_taken=is_taken)
            elif selected != node.name:
                return None
            if volume is not None:
                chosen[meta.name_of(volume)] = None
            elif (cls := self._class(volumes.class_of(claim))) is None or cls["provisioner"] == NO_PROVISIONER:
                return None
            found.append(Decision(claim, volume))
        return found

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Keep the volumes that the pod is to have from others."""
        claims: PodClaims | None = state.get(self.name)
        for _, volume in claims.decided[node_name] if claims is not None else ():
            if volume is not None:
                self._taken[meta.name_of(volume)] = pod.uid
        return None

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let others have them."""
        self._taken = {name: uid for name, uid in self._taken.items() if uid != pod.uid}

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """They are bound: their claims say so."""
        if self._taken:
            self.unreserve(state, pod, node_name)

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """SKIP when no claim is to be bound."""
        claims: PodClaims | None = state.get(self.name)
        return None if claims is not None and claims.decided[node_name] else SKIP

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write down what was decided, and wait until the claims are bound; what went wrong, or
        None.
        """
        claims: PodClaims = state[self.name]
        written: dict[str, str] = {}
        try:
            for claim, volume in claims.decided[node_name]:
                await self._write(written, claim, volume, node_name)
        except APIError as failure:
            return error(f"binding volumes: {failure}")

        def check() -> Status | None:
            statuses = [self._check(written, claim, node_name) for claim, _ in claims.decided[node_name]]
            failed = next((each for each in statuses if each is not None and each.code == Code.ERROR), None)
            return failed or (None if any(each is None for each in statuses) else BOUND)

        try:
            status = await self._handle.wait_for(check, self._timeout_seconds)
        except TimeoutError:
            return error("binding volumes: context deadline exceeded")
        return None if status is BOUND else status

    async def _write(
        self, written: dict[str, str], claim: ReadOnlyTree, volume: ReadOnlyTree | None, node_name: str,
    ) -> None:
        """Name the claim in its volume, or the node in the claim. Raises APIError."""
        if volume is None:
            answer = await self._client.patch(
                PERSISTENT_VOLUME_CLAIMS, meta.name_of(claim), meta.namespace_of(claim),
                {"metadata": {"annotations": {SELECTED_NODE: node_name}, "uid": meta.uid_of(claim)}})
            written[meta.name_of(claim)] = meta.resource_version_of(answer)
            return
        metadata: Tree = {"resourceVersion": meta.resource_version_of(volume)}
        if not volumes.is_bound_to(volume, claim):
            metadata["annotations"] = {BOUND_BY_CONTROLLER: YES}
        body = {"metadata": metadata, "spec": {"claimRef": volumes.claim_reference(claim)}}
        await self._client.patch(PERSISTENT_VOLUMES, meta.name_of(volume), body=body)

    def _check(self, written: dict[str, str], decided: ReadOnlyTree, node_name: str) -> Status | None:
        """BOUND, None for a claim that is not bound yet, or what went wrong."""
        name = meta.name_of(decided)
        claim = self._claims.get(meta.namespace_of(decided), name)
        if claim is None or meta.uid_of(claim) != meta.uid_of(decided):
            return error(f"binding volumes: {_missing(name, is_ephemeral=False)}")
        if volumes.is_fully_bound(claim):
            return BOUND
        version = written.get(name)
        is_seen = version is not None and int(meta.resource_version_of(claim)) >= int(version)
        if is_seen and meta.annotations_of(claim).get(SELECTED_NODE) != node_name:
            return error(f'binding volumes: provisioning failed for PVC "{name}"')
        return None

    def _class(self, name: str) -> ReadOnlyTree | None:
        return self._classes.get("", name)


def _reaches(volume: ReadOnlyTree, node: NodeInfo) -> bool:
    return volumes.reaches(volume, node.name, meta.labels_of(node.node) if node.node is not None else meta.EMPTY)


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
