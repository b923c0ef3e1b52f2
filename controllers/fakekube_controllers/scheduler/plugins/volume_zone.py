"""A pod goes where its volumes are: their labels of zone and region must be those of the node.

Upstream: plugins/volumezone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from fakekube.runtime import volumes
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
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
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.csi_migration import BETA_REGION, BETA_ZONE, DELIMITER, REGION, ZONE
from fakekube_controllers.scheduler.plugins.hints import hint, uses_claim
from fakekube_controllers.scheduler.plugins.topology_counts import node_labels

CONFLICT = "node(s) had no available volume zone"
TOPOLOGY_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
NEWER = {BETA_ZONE: ZONE, BETA_REGION: REGION}
DELAYED = "WaitForFirstConsumer"


class VolumeTopology(NamedTuple):
    """The values that one of the labels may have on a node with the volume."""

    label: str
    values: tuple[str, ...]


class VolumeZone:
    """PreFilter and Filter."""

    name = "VolumeZone"
    deferred = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._claims, self._volumes = handle.lister(PERSISTENT_VOLUME_CLAIMS), handle.lister(PERSISTENT_VOLUMES)
        self._classes = handle.lister(STORAGE_CLASSES)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        changed = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD), _after_class),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed), _after_claim),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, changed), _after_volume))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Why the pod must wait for a claim, SKIP where no volume has a zone, or None."""
        if not pod.pod["spec"].get("volumes"):
            return SKIP
        found: list[VolumeTopology] = []
        for volume in pod.pod["spec"]["volumes"]:
            if "persistentVolumeClaim" in volume:
                why = self._add(found, meta.namespace_of(pod.pod), volume["persistentVolumeClaim"].get("claimName", ""))
                if why:
                    return unresolvable(why)
        if not found:
            return SKIP
        state[self.name] = found
        return None

    def _add(self, found: list[VolumeTopology], namespace: str, name: str) -> str:
        """Add the topologies of a claim's volume; why that is impossible, or nothing."""
        if not name:
            return "PersistentVolumeClaim had no name"
        claim = self._claims.get(namespace, name)
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        volume_name = claim["spec"].get("volumeName")
        if not volume_name:
            return self._why_without_volume(claim)
        volume = self._volumes.get("", volume_name)
        if volume is None:
            return f'persistentvolume "{volume_name}" not found'
        found += _topologies(volume)
        return ""

    def _why_without_volume(self, claim: ReadOnlyTree) -> str:
        name = volumes.class_of(claim)
        if not name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        found = self._classes.get("", name)
        if found is None:
            return f'storageclass.storage.k8s.io "{name}" not found'
        mode = found.get("volumeBindingMode")
        if mode is None:
            return f'VolumeBindingMode not set for StorageClass "{name}"'
        return "" if mode == DELAYED else "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the volumes cannot be on the node, or None."""
        found: list[VolumeTopology] | None = state.get(self.name)
        if found is None:
            return None
        return unresolvable(CONFLICT) if next(_conflicts(found, node), None) is not None else None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The labels of the volumes."""
        found: list[VolumeTopology] | None = state.get(self.name)
        if node is None or found is None:
            return None
        target = changes.node_target(node)
        return [changes.set_label(target, label, values[0]) for label, values in _conflicts(found, node)]


def _conflicts(found: Sequence[VolumeTopology], node: NodeInfo) -> Iterator[VolumeTopology]:
    """Those that a node does not have; a node without any of the labels may have all."""
    own = node_labels(node)
    if not any(label in own for label in TOPOLOGY_LABELS):
        return
    for each in found:
        value = own.get(each.label)
        if value is None:
            value = own.get(NEWER.get(each.label, each.label))
        if value not in each.values:
            yield each


def _topologies(volume: ReadOnlyTree) -> Iterator[VolumeTopology]:
    own = meta.labels_of(volume)
    for label in TOPOLOGY_LABELS:
        if label in own:
            values = tuple(value.strip() for value in own[label].split(DELIMITER))
            if all(values):  # else upstream ignores the label
                yield VolumeTopology(label, values)


def _after_class(_pod: PodInfo, _old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(new is not None and new.get("volumeBindingMode") == DELAYED)


def _after_claim(pod: PodInfo, _old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(new is not None and uses_claim(pod.pod, new))


def _after_volume(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or new is None or list(_topologies(old)) != list(_topologies(new)))
