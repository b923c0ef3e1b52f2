"""What the scheduler does with each event of the cluster: the caches follow it, and the queue is
told what happened.

Upstream: pkg/scheduler/eventhandlers.go.
"""

from collections.abc import Callable, Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.pod_resources import Options
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_CLAIMS,
    STORAGE_CLASSES,
    Resource,
)
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import ActionType, ClusterEvent, EventResource
from fakekube_controllers.scheduler.queue import SchedulingQueue
from fakekube_controllers.scheduler.waiting import Changes

DEVICES_GATE, GROUPS_GATE, COMPOSITE_GATE = "DynamicResourceAllocation", "GenericWorkload", "CompositePodGroup"
DRAFT_GATE = "DraftWorkload"  # ours


def watched_resources(ctx: Context) -> dict[EventResource, Resource]:
    """The resources whose events plugins may register, beside nodes and pods; those of gates that
    are off are left out.
    """
    storage, device, group = "storage.k8s.io", "resource.k8s.io", "scheduling.k8s.io"
    found = {
        EventResource.PERSISTENT_VOLUME: PERSISTENT_VOLUMES, EventResource.PERSISTENT_VOLUME_CLAIM: PERSISTENT_VOLUME_CLAIMS,
        EventResource.STORAGE_CLASS: STORAGE_CLASSES,
        EventResource.CSI_NODE: Resource(storage, "v1", "csinodes", "CSINode", namespaced=False),
        EventResource.CSI_DRIVER: Resource(storage, "v1", "csidrivers", "CSIDriver", namespaced=False),
        EventResource.CSI_STORAGE_CAPACITY: Resource(storage, "v1", "csistoragecapacities", "CSIStorageCapacity"),
        EventResource.VOLUME_ATTACHMENT: Resource(storage, "v1", "volumeattachments", "VolumeAttachment", namespaced=False),
    }
    if ctx.enabled(DEVICES_GATE):
        found[EventResource.RESOURCE_CLAIM] = RESOURCE_CLAIMS
        found[EventResource.RESOURCE_SLICE] = Resource(device, "v1", "resourceslices", "ResourceSlice", namespaced=False)
        found[EventResource.DEVICE_CLASS] = Resource(device, "v1", "deviceclasses", "DeviceClass", namespaced=False)
    if ctx.enabled(DRAFT_GATE):
        from fakekube_controllers.scheduler.draft.definition import WORKLOADS

        found[EventResource.WORKLOAD] = WORKLOADS
    elif ctx.enabled(GROUPS_GATE):
        versions = {"1.35": "v1alpha1", "1.36": "v1alpha2"}
        version = versions.get(ctx.version, "v1beta1")
        found[EventResource.WORKLOAD] = Resource(group, version, "workloads", "Workload")
        if version != "v1alpha1":
            found[EventResource.POD_GROUP] = Resource(group, version, "podgroups", "PodGroup")
        if ctx.enabled(COMPOSITE_GATE):
            found[EventResource.COMPOSITE_POD_GROUP] = Resource(group, "v1alpha3", "compositepodgroups", "CompositePodGroup")
    return found


class EventHandlers:
    """The handlers of one scheduler.

    ``is_responsible_for`` says of a scheduler's name whether there is such a profile; ``release``
    is told the uid of an assumed pod that is deleted, before its node is free again.
    """

    def __init__(
        self, cache: Cache, queue: SchedulingQueue, changes: Changes, options: Options, *,
        is_responsible_for: Callable[[str], bool], release: Callable[[str], None], are_groups_on: bool = False,
    ) -> None:
        self._cache, self._queue, self._changes, self._options = cache, queue, changes, options
        self._is_responsible_for, self._release, self._are_groups_on = is_responsible_for, release, are_groups_on

    def install(self, ctx: Context, registered: Iterable[ClusterEvent]) -> None:
        """Be told of nodes and pods, and of the other resources that plugins have registered."""
        ctx.add_handler(NODES, self.add_node, self.update_node, self.delete_node)
        ctx.add_handler(PODS, self.add_pod, self.update_pod, self.delete_pod)
        wanted: dict[EventResource, ActionType] = {}
        for event in registered:
            wanted[event.resource] = wanted.get(event.resource, ActionType.NONE) | event.action_type
        everything = wanted.get(EventResource.WILD_CARD, ActionType.NONE)
        for kind, resource in watched_resources(ctx).items():
            # a plugin that registers nothing by name hears of what others make the scheduler watch
            if actions := wanted.get(kind):
                self._watch(ctx, kind, resource, actions | everything)

    def _watch(self, ctx: Context, kind: EventResource, resource: Resource, actions: ActionType) -> None:
        add, update, delete = (ClusterEvent(kind, each) for each in (ActionType.ADD, ActionType.UPDATE, ActionType.DELETE))

        def added(obj: Tree) -> None:
            self.happened(add, None, obj)

        def updated(old: Tree, new: Tree) -> None:
            self.happened(update, old, new)

        def deleted(obj: Tree) -> None:
            self.happened(delete, obj, None)

        ctx.add_handler(
            resource, added if actions & ActionType.ADD else None, updated if actions & ActionType.UPDATE else None,
            deleted if actions & ActionType.DELETE else None)

    def happened(self, event: ClusterEvent, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """Pods may fit now, and those that wait may be ready to be bound."""
        self._queue.move_all_to_active_or_backoff(event, old, new)
        self._changes.happened()

    # nodes

    def add_node(self, node: Tree) -> None:
        """A node was added."""
        self._cache.set_node(node)
        self.happened(events.NODE_ADD, None, node)

    def update_node(self, old: Tree, new: Tree) -> None:
        """A node was updated."""
        self._cache.set_node(new)
        for event in events.node_scheduling_properties_change(old, new):
            self.happened(event, old, new)

    def delete_node(self, node: Tree) -> None:
        """A node is gone."""
        self.happened(events.NODE_DELETE, node, None)
        self._cache.remove_node(meta.name_of(node))

    # pods: those that have finished are as good as gone

    def add_pod(self, pod: Tree) -> None:
        """A pod was added."""
        if pods.is_finished(pod):
            return
        if node_name := pod["spec"].get("nodeName"):
            self._cache.add_pod(pod, node_name)
            self.happened(events.ASSIGNED_POD_ADD, None, pod)
        elif self._is_ours(pod):
            self._queue.add(pod)
            if self._are_groups_on:
                self.happened(events.UNSCHEDULED_POD_ADD, None, pod)

    def update_pod(self, old: Tree, new: Tree) -> None:
        """A pod was updated."""
        was_finished, is_finished = pods.is_finished(old), pods.is_finished(new)
        if was_finished or is_finished:
            if not was_finished:
                self.delete_pod(old)
            elif not is_finished:
                self.add_pod(new)
            return
        node_name = new["spec"].get("nodeName")
        if old["spec"].get("nodeName"):
            self._cache.add_pod(new, node_name)
            for event in events.pod_scheduling_properties_change(old, new, options=self._options):
                self.happened(event, old, new)
        elif node_name:
            self._cache.add_pod(new, node_name)
            self.happened(events.ASSIGNED_POD_ADD, None, new)
            if self._is_ours(new):
                self._queue.remove(new)
        elif self._is_ours(new):
            self._update_unscheduled_pod(old, new)

    def _update_unscheduled_pod(self, old: Tree, new: Tree) -> None:
        uid = meta.uid_of(new)
        if self._cache.is_assumed_pod(uid):
            if meta.is_deleting(new) and not meta.is_deleting(old):
                self._assumed_pod_is_deleted(uid, new)
            return
        self._queue.update(old, new)
        before = (old.get("status") or {}).get("nominatedNodeName")
        if before and before != (new.get("status") or {}).get("nominatedNodeName"):
            self._queue.move_all_to_active_or_backoff(events.ASSIGNED_POD_DELETE, old, None, _priority_of(old))

    def delete_pod(self, pod: Tree) -> None:
        """A pod is gone, or has finished."""
        uid = meta.uid_of(pod)
        if pod["spec"].get("nodeName"):
            self._cache.remove_pod(uid)
            self.happened(events.ASSIGNED_POD_DELETE, pod, None)
            return
        if not self._is_ours(pod):
            return
        self._queue.remove(pod)
        if self._cache.is_assumed_pod(uid):
            self._assumed_pod_is_deleted(uid, pod)
        elif (pod.get("status") or {}).get("nominatedNodeName"):
            self._queue.move_all_to_active_or_backoff(events.ASSIGNED_POD_DELETE, pod, None, _priority_of(pod))

    def _assumed_pod_is_deleted(self, uid: str, pod: Tree) -> None:
        """Its node is free at once, whatever its binding still does."""
        self._release(uid)
        self.happened(events.ASSIGNED_POD_DELETE, pod, None)

    def _is_ours(self, pod: ReadOnlyTree) -> bool:
        return self._is_responsible_for(pod["spec"].get("schedulerName", ""))


def _priority_of(pod: ReadOnlyTree) -> int:
    return int(pod["spec"].get("priority") or 0)
