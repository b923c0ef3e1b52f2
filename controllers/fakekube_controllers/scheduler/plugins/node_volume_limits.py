"""A node takes no more volumes of a CSI driver than its CSINode says.

Upstream: plugins/nodevolumelimits/csi.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from fakekube.runtime import volumes
from fakekube.runtime.why import Change, Changes
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
from fakekube_controllers.scheduler.framework.status import SKIP, Status, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins import csi_migration
from fakekube_controllers.scheduler.plugins.hints import has_node, hint, uses_claim

TOO_MANY = "node(s) exceed max volume count"
SCALING_GATE = "VolumeLimitScaling"
BY_NODE = "spec.nodeName"


class Attachable(NamedTuple):
    """A volume of a CSI driver; that of a claim without one has the claim's key as its handle."""

    driver: str
    handle: str


class LookupFailure(Exception):
    """A claim of a pod that is not there, or is not the pod's."""

    def __init__(self, text: str, *, not_found: bool) -> None:
        self.not_found = not_found
        super().__init__(text)


class NodeVolumeLimits:
    """PreFilter and Filter."""

    name = "NodeVolumeLimits"
    deferred = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._claims, self._volumes = handle.lister(PERSISTENT_VOLUME_CLAIMS), handle.lister(PERSISTENT_VOLUMES)
        self._classes, self._nodes = handle.lister(STORAGE_CLASSES), handle.lister(CSI_NODES)
        self._drivers, self._attachments = handle.lister(CSI_DRIVERS), handle.lister(VOLUME_ATTACHMENTS)
        self._attachments.add_index(BY_NODE, lambda attachment: [attachment["spec"].get("nodeName", "")])
        self._scales = handle.enabled(SCALING_GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE), _after_csi_node),
            ClusterEventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), _after_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), _after_claim),
            ClusterEventWithHint(ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE), _after_attachment))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """SKIP for a pod without volumes that a driver may attach."""
        listed = pod.pod["spec"].get("volumes") or ()
        if snapshot.proposed:
            state[self.name] = _proposed(snapshot.proposed)
        return None if any(_may_be_attached(volume) for volume in listed) else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the node takes no more volumes, or None."""
        try:
            found = self._too_many(state, pod, node)
        except LookupFailure as failure:
            return unresolvable(str(failure)) if failure.not_found else error(str(failure))
        if isinstance(found, Status):
            return found
        return unschedulable(TOO_MANY) if found else None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """Room for volumes of some drivers."""
        if node is None:
            return None
        found = self._too_many(state, pod, node)
        target = changes.node_target(node)
        return None if isinstance(found, Status) else [
            changes.add_volume_limit(target, driver, count) for driver, count in found.items()]

    def _too_many(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> dict[str, int] | Status:
        """By driver, by how many volumes a node would have too many; why it cannot have any. Raises
        LookupFailure.
        """
        if not pod.pod["spec"].get("volumes"):
            return {}
        csi_node = self._nodes.get("", node.name)
        wanted = dict.fromkeys(self._attachable(pod.pod, csi_node, is_new=True))
        if not wanted:
            return {}
        missing = self._missing_driver(wanted, csi_node) if self._scales else ""
        if missing:
            return unschedulable(f"{missing} CSI driver is not installed on the node")
        limits = _limits(csi_node)
        if not limits:
            return {}
        present = dict.fromkeys(
            each for other in node.pods.values() if other.pod["spec"].get("volumes")
            for each in self._attachable(other.pod, csi_node, is_new=False))
        wanted = {each: None for each in wanted if each not in present}
        present.update(dict.fromkeys(self._attached(node.name)))
        more: Mapping[tuple[str, str], int] = state.get(self.name, {})
        found: dict[str, int] = {}
        for driver in dict.fromkeys(each.driver for each in wanted):
            limit = limits.get(driver)
            count = sum(each.driver == driver for each in (*wanted, *present))
            over = 0 if limit is None else count - limit - more.get((changes.node_target(node), driver), 0)
            if over > 0:
                found[driver] = over
        return found

    def _missing_driver(self, wanted: dict[Attachable, None], csi_node: ReadOnlyTree | None) -> str:
        """The first driver that wants to be installed on a node before pods come, and is not."""
        installed = [each["name"] for each in csi_node["spec"].get("drivers") or ()] if csi_node is not None else []
        for name, _ in wanted:
            driver = self._drivers.get("", name)
            if driver is not None and driver["spec"].get("preventPodSchedulingIfMissing") and name not in installed:
                return name
        return ""

    def _attachable(self, pod: ReadOnlyTree, csi_node: ReadOnlyTree | None, *, is_new: bool) -> Iterator[Attachable]:
        """The volumes of a pod that CSI drivers attach. Raises LookupFailure."""
        namespace = meta.namespace_of(pod)
        for volume in pod["spec"].get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                name, is_ephemeral = volume["persistentVolumeClaim"].get("claimName", ""), False
            elif "ephemeral" in volume:
                name, is_ephemeral = volumes.ephemeral_claim_name(pod, volume), True
            else:
                translated = csi_migration.translated(volume) if csi_node is not None else None
                if translated is not None:
                    yield Attachable(*translated)
                continue
            if not name:
                raise LookupFailure("PersistentVolumeClaim had no name", not_found=False)
            claim = self._claims.get(namespace, name)
            if claim is None:
                if is_new:
                    text = f'looking up PVC {namespace}/{name}: persistentvolumeclaim "{name}" not found'
                    raise LookupFailure(text, not_found=True)
                continue
            if is_ephemeral and (why := volumes.not_for_pod(pod, claim)):
                raise LookupFailure(why, not_found=False)
            found = self._of_claim(claim, csi_node)
            if found is not None:
                yield found

    def _of_claim(self, claim: ReadOnlyTree, csi_node: ReadOnlyTree | None) -> Attachable | None:
        """The volume of a claim, or the one that its class will make; None when no driver does."""
        name = claim["spec"].get("volumeName")
        volume = self._volumes.get("", name) if name else None
        if volume is None:
            return self._of_class(claim, csi_node)
        source = volume["spec"].get("csi")
        if source is not None:
            return Attachable(source["driver"], source["volumeHandle"]) if source["driver"] and source["volumeHandle"] else None
        translated = csi_migration.translated(volume["spec"]) if csi_node is not None else None
        return Attachable(*translated) if translated is not None else None

    def _of_class(self, claim: ReadOnlyTree, csi_node: ReadOnlyTree | None) -> Attachable | None:
        name = volumes.class_of(claim)
        found = self._classes.get("", name) if name else None
        if found is None:
            return None
        namespace, claim_name = meta.key_of(claim)
        driver = csi_migration.driver_of(found["provisioner"])
        if driver is None:
            return Attachable(found["provisioner"], f"{namespace}/{claim_name}")
        return Attachable(driver, f"{namespace}/{claim_name}") if csi_node is not None else None

    def _attached(self, node_name: str) -> Iterator[Attachable]:
        """What VolumeAttachments say."""
        for attachment in self._attachments.by_index(BY_NODE, node_name):
            spec = attachment["spec"]
            name = (spec.get("source") or {}).get("persistentVolumeName")
            volume = self._volumes.get("", name) if name and spec.get("attacher") else None
            source = volume["spec"].get("csi") if volume is not None else None
            if source is not None:
                yield Attachable(spec["attacher"], source["volumeHandle"])


def _proposed(wanted: Changes) -> dict[tuple[str, str], int]:
    """How many volumes more changes would let there be, by node and driver."""
    found: dict[tuple[str, str], int] = {}
    for each in wanted:
        if each.action == changes.ADD_VOLUME_LIMIT:
            key = each.target, str(each.details["driver"])
            found[key] = found.get(key, 0) + int(str(each.details["count"]))
    return found


def _may_be_attached(volume: ReadOnlyTree) -> bool:
    return "persistentVolumeClaim" in volume or "ephemeral" in volume or csi_migration.is_migratable(volume)


def _limits(csi_node: ReadOnlyTree | None) -> dict[str, int]:
    """The most volumes by driver; a driver that says nothing is not in it."""
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node is not None else ()
    return {each["name"]: count for each in drivers if (count := (each.get("allocatable") or {}).get("count")) is not None}


# hints


def _after_csi_node(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    before, now = _limits(old), _limits(new)
    return hint(any(limit > before.get(driver, 0) for driver, limit in now.items()))


def _after_pod(_pod: PodInfo, old: ReadOnlyTree | None, _new: ReadOnlyTree | None) -> QueueingHint:
    return hint(
        old is not None and has_node(old) and any(_may_be_attached(volume) for volume in old["spec"].get("volumes") or ()))


def _after_claim(pod: PodInfo, _old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(new is not None and uses_claim(pod.pod, new, ephemeral=True))


def _after_attachment(pod: PodInfo, old: ReadOnlyTree | None, _new: ReadOnlyTree | None) -> QueueingHint:
    """The pod uses a claim, or a volume of the same driver."""
    attacher = old["spec"].get("attacher") if old is not None else None
    for volume in pod.pod["spec"].get("volumes") or ():
        translated = csi_migration.translated(volume)
        if "persistentVolumeClaim" in volume or (translated is not None and translated[0] == attacher):
            return hint(True)
    return hint(False)
