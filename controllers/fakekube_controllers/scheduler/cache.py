"""The nodes with the pods on them, assumed pods included.

A pod is assumed on its node from the scheduling decision until the informer shows it there, so that
the next cycle counts it.
Upstream: pkg/scheduler/backend/cache (cache.go, snapshot.go).
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import ImageState, NodeInfo, PodInfo, pod_info

if TYPE_CHECKING:
    from fakekube_controllers.scheduler.groups.states import GroupStates


class Cache:
    """Nodes by name, in the order in which they were added, as they are now."""

    def __init__(self, options: Options = IN_FLIGHT) -> None:
        self._options = options
        self._nodes: dict[str, NodeInfo] = {}  # also nodes that do not exist and have pods
        self._changed: dict[str, None] = {}
        self._placed: dict[str, str] = {}  # the node's name by the pod's uid
        self._assumed: dict[str, None] = {}
        self._images: dict[str, ImageState] = {}
        self._snapshot = Snapshot()
        self.groups: GroupStates | None = None

    def snapshot(self) -> Snapshot:
        """The nodes as they are now.

        It takes as long as there are nodes that changed since the last one.
        """
        if self._changed:
            changes: dict[str, NodeInfo | None] = {}
            for name in self._changed:
                info = self._nodes.get(name)
                changes[name] = info.copy() if info is not None and info.node is not None else None
            self._changed = {}
            self._snapshot = self._snapshot.with_changes(changes, self._images)
        return self._snapshot.copy()

    def _info(self, name: str) -> NodeInfo:
        self._changed[name] = None
        return self._nodes.setdefault(name, NodeInfo(name))

    def set_node(self, node: ReadOnlyTree) -> None:
        """A node was added or updated."""
        info = self._info(node["metadata"]["name"])
        before = info.images
        info.set_node(node)
        if info.images is not before:
            self._count_images(before, info.images)

    def remove_node(self, name: str) -> None:
        """A node is gone; its pods are kept in case that it comes back."""
        info = self._nodes.get(name)
        if info is not None:
            self._changed[name] = None
            self._count_images(info.images, {})
            info.remove_node()
            if not info.pods:
                del self._nodes[name]

    def _count_images(self, before: dict[str, int], now: dict[str, int]) -> None:
        """A node has other images. The size of an image is what the first node said."""
        images = dict(self._images)
        for name in before:
            size, count = images[name]
            if count > 1:
                images[name] = ImageState(size, count - 1)
            else:
                del images[name]
        for name, size in now.items():
            known = images.get(name)
            images[name] = ImageState(size, 1) if known is None else ImageState(known.size, known.num_nodes + 1)
        self._images = images

    def add_pod(self, pod: ReadOnlyTree, node_name: str) -> None:
        """The informer shows a pod on a node."""
        uid = pod["metadata"]["uid"]
        self._assumed.pop(uid, None)
        known = self._nodes[node_name].pods.get(uid) if self._placed.get(uid) == node_name else None
        if known is not None and known.counts_like(pod):
            known.pod = pod
            self._tell_groups(known, node_name)
            return
        self._put(pod_info(pod, self._options), node_name)

    def assume_pod(self, info: PodInfo, node_name: str) -> None:
        """Put a pod on the node that this scheduler has decided on, until the informer shows it
        there.
        """
        self._assumed[info.uid] = None
        self._put(info, node_name)

    def forget_pod(self, uid: str) -> None:
        """An assumed pod does not go to its node; harmless when the informer shows it there."""
        if uid in self._assumed:
            self.remove_pod(uid)

    def is_assumed_pod(self, uid: str) -> bool:
        """Whether a pod is assumed and the informer does not show it on its node yet."""
        return uid in self._assumed

    def _put(self, info: PodInfo, node_name: str) -> None:
        if self._placed.get(info.uid, node_name) != node_name:
            self.remove_pod(info.uid)
        self._placed[info.uid] = node_name
        self._info(node_name).add(info)
        self._tell_groups(info, node_name)

    def _tell_groups(self, info: PodInfo, node_name: str) -> None:
        if self.groups is not None and (key := self.groups.key_of(info.pod)) is not None:
            self.groups.set_pod(key, info, node_name, assumed=info.uid in self._assumed)

    def remove_pod(self, uid: str) -> bool:
        """A pod is gone, or is not bound after all. Whether it was on a node."""
        self._assumed.pop(uid, None)
        node_name = self._placed.pop(uid, None)
        if node_name is None:
            return False
        self._changed[node_name] = None
        self._nodes[node_name].remove(uid)
        if self.groups is not None:
            self.groups.remove_pod(uid)
        return True
