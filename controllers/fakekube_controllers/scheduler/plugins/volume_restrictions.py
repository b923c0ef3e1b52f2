"""Volumes that no two pods may use: disks that are attached to one machine, and claims that are
ReadWriteOncePod.

Upstream: plugins/volumerestrictions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube.runtime import volumes
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
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.hints import hint, uses_claim
from fakekube_controllers.scheduler.plugins.releases import minor_version

DISK_CONFLICT = "node(s) had no available disk"
ONE_POD_CONFLICT = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
ONE_POD_CONFLICT_BEFORE = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
ONE_POD_CONFLICT_SINCE = 34  # the minor number of the release with the newer words
ONE_POD = "ReadWriteOncePod"
DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")


@dataclass(slots=True)
class RestrictionsState:
    """The claims of the pod that only one pod may use, and how many of them some pod uses."""

    claims: tuple[str, ...]
    conflicts: int

    def clone(self) -> "RestrictionsState":
        """A copy that can be changed."""
        return replace(self)


class VolumeRestrictions:
    """PreFilter and Filter."""

    name = "VolumeRestrictions"
    deferred = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._claims = handle.lister(PERSISTENT_VOLUME_CLAIMS)
        self._snapshot = Snapshot()  # of the cycle
        newer = minor_version(handle.version) >= ONE_POD_CONFLICT_SINCE
        self._one_pod_conflict = ONE_POD_CONFLICT if newer else ONE_POD_CONFLICT_BEFORE

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), _after_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), _after_claim))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Why the pod must wait for a claim, SKIP where nothing can be in its way, or None."""
        listed = pod.pod["spec"].get("volumes")
        if not listed:
            return SKIP
        self._snapshot, namespace = snapshot, meta.namespace_of(pod.pod)
        exclusive: dict[str, None] = {}
        for volume in listed:
            if "persistentVolumeClaim" not in volume:
                continue
            name = volume["persistentVolumeClaim"]["claimName"]
            claim = self._claims.get(namespace, name)
            if claim is None:
                return unresolvable(f'persistentvolumeclaim "{name}" not found')
            if ONE_POD in (claim["spec"].get("accessModes") or ()):
                exclusive[name] = None
        conflicts = sum(snapshot.is_claim_used(namespace, name) for name in exclusive)
        if not conflicts and not any(_is_disk(volume) for volume in listed):
            return SKIP
        state[self.name] = RestrictionsState(tuple(exclusive), conflicts)
        return None

    def add_pod(self, state: CycleState, pod: PodInfo, pod_to_add: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is on a node."""
        _change(state.get(self.name), pod_to_add, 1)
        return None

    def remove_pod(self, state: CycleState, pod: PodInfo, pod_to_remove: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is gone from a node."""
        _change(state.get(self.name), pod_to_remove, -1)
        return None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the volumes cannot be used on the node, or None."""
        found: RestrictionsState | None = state.get(self.name)
        if found is None:
            return None
        disks = [volume for volume in pod.pod["spec"].get("volumes") or () if _is_disk(volume)]
        if disks and any(_conflict(disks, other.pod) for other in node.pods.values()):
            return unschedulable(DISK_CONFLICT)
        return unschedulable(self._one_pod_conflict) if found.conflicts > 0 else None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The claims that are not there; the pods with the disks or the claims are to go."""
        from fakekube_controllers.scheduler.plugins.missing import domains
        from fakekube_controllers.scheduler.plugins.missing import volumes as missing

        namespace = meta.namespace_of(pod.pod)
        if node is None:
            return missing.create_claims(pod.pod, {
                name: self._claims.get(namespace, name) is not None for name, _ in volumes.claim_names(pod.pod)})
        disks = [volume for volume in pod.pod["spec"].get("volumes") or () if _is_disk(volume)]
        going = {other.uid: (other, node) for other in node.pods.values() if disks and _conflict(disks, other.pod)}
        found: RestrictionsState | None = state.get(self.name)
        if found is not None and found.conflicts > 0:
            claims = [(namespace, name) for name in found.claims]
            going.update((other.uid, (other, place)) for place in self._snapshot.all_nodes.infos() if place.claim_counts
                         for other in place.pods.values() if any(claim in claims for claim in other.claims))
        return domains.delete(list(going.values()), "which has a volume that no two may have")


def _change(state: RestrictionsState | None, other: PodInfo, more: int) -> None:
    """Claims are told apart by their names alone, as upstream does."""
    if state is not None:
        state.conflicts += more * sum(name in state.claims for _, name in other.claims)


def _is_disk(volume: ReadOnlyTree) -> bool:
    return any(name in volume for name in DISKS)


def _conflict(disks: Sequence[ReadOnlyTree], pod: ReadOnlyTree) -> bool:
    """Whether a pod has one of these disks in a way that leaves no room for another."""
    others = [volume for volume in pod["spec"].get("volumes") or () if _is_disk(volume)]
    return any(_is_same(disk, other) for disk in disks for other in others)


def _is_same(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    for name in DISKS:
        disk, taken = one.get(name), other.get(name)
        if disk is None or taken is None:
            continue
        if name == "awsElasticBlockStore":
            if disk.get("volumeID") == taken.get("volumeID"):
                return True
        elif not (disk.get("readOnly") and taken.get("readOnly")) and _has_same_image(name, disk, taken):
            return True
    return False


def _has_same_image(name: str, disk: ReadOnlyTree, taken: ReadOnlyTree) -> bool:
    if name != "rbd":
        field = "pdName" if name == "gcePersistentDisk" else "iqn"
        return bool(disk.get(field) == taken.get(field))
    monitors = taken.get("monitors") or ()
    return (any(each in monitors for each in disk.get("monitors") or ())
            and disk.get("pool") == taken.get("pool") and disk.get("image") == taken.get("image"))


def _after_pod(pod: PodInfo, old: ReadOnlyTree | None, _new: ReadOnlyTree | None) -> QueueingHint:
    """A pod that goes and had one of the disks or claims."""
    if old is None or meta.namespace_of(old) != meta.namespace_of(pod.pod):
        return hint(False)
    disks = [volume for volume in pod.pod["spec"].get("volumes") or () if _is_disk(volume)]
    if disks and _conflict(disks, old):
        return hint(True)
    own = {name for _, name in pod.claims}
    return hint(any(
        volume["persistentVolumeClaim"]["claimName"] in own
        for volume in old["spec"].get("volumes") or () if "persistentVolumeClaim" in volume))


def _after_claim(pod: PodInfo, _old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(new is not None and uses_claim(pod.pod, new))
