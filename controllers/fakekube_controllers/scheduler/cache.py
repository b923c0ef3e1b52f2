"""The nodes with the pods on them, assumed pods included.

A pod is assumed on its node from the scheduling decision until the informer shows it there, so that
the next cycle counts it.
Upstream: pkg/scheduler/backend/cache (cache.go, snapshot.go).
"""

from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

MAX_DELETED = 1000  # nodes that are gone and still among the changes of a snapshot


class Snapshot:
    """Nodes by name, in the order in which they were added, as they were at the start of a cycle.

    Every update that changes something has the next ``sequence`` number. ``changes``: the number of
    a node's last change, by name, the latest last; complete for all changes after ``known_since``.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.sequence = self.known_since = 0
        self.changes: dict[str, int] = {}


class Cache:
    """Nodes by name, in the order in which they were added, as they are now."""

    def __init__(self, options: Options = IN_FLIGHT) -> None:
        self._options = options
        self._nodes: dict[str, NodeInfo] = {}  # also nodes that do not exist and have pods
        self._changed: dict[str, None] = {}
        self._placed: dict[str, str] = {}  # the node's name by the pod's uid
        self._assumed: dict[str, None] = {}

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Bring a snapshot up to date.

        It takes as long as there are nodes that changed since the last time.
        """
        if not self._changed:
            return
        snapshot.sequence += 1
        for name in self._changed:
            snapshot.changes.pop(name, None)
            snapshot.changes[name] = snapshot.sequence
            info = self._nodes.get(name)
            if info is not None and info.node is not None:
                snapshot.nodes[name] = info.copy()
            else:
                snapshot.nodes.pop(name, None)
        self._changed = {}
        if len(snapshot.changes) > 2 * len(snapshot.nodes) + MAX_DELETED:
            snapshot.changes, snapshot.known_since = {}, snapshot.sequence

    def _info(self, name: str) -> NodeInfo:
        self._changed[name] = None
        return self._nodes.setdefault(name, NodeInfo(name))

    def set_node(self, node: ReadOnlyTree) -> None:
        """A node was added or updated."""
        self._info(node["metadata"]["name"]).set_node(node)

    def remove_node(self, name: str) -> None:
        """A node is gone; its pods are kept in case that it comes back."""
        info = self._nodes.get(name)
        if info is not None:
            self._changed[name] = None
            info.remove_node()
            if not info.pods:
                del self._nodes[name]

    def add_pod(self, pod: ReadOnlyTree, node_name: str) -> bool:
        """The informer shows a pod on a node. Whether it needs less of it than before."""
        uid = pod["metadata"]["uid"]
        self._assumed.pop(uid, None)
        known = self._nodes[node_name].pods.get(uid) if self._placed.get(uid) == node_name else None
        if known is not None and known.counts_like(pod):
            known.pod = pod
            return False
        info = pod_info(pod, self._options)
        self._put(info, node_name)
        return known is not None and any(info.requests.get(name, 0) < request for name, request in known.requests.items())

    def assume_pod(self, info: PodInfo, node_name: str) -> None:
        """Put a pod on the node that this scheduler has decided on, until the informer shows it
        there.
        """
        self._assumed[info.uid] = None
        self._put(info, node_name)

    def is_assumed_pod(self, uid: str) -> bool:
        """Whether a pod is assumed and the informer does not show it on its node yet."""
        return uid in self._assumed

    def _put(self, info: PodInfo, node_name: str) -> None:
        if self._placed.get(info.uid, node_name) != node_name:
            self.remove_pod(info.uid)
        self._placed[info.uid] = node_name
        self._info(node_name).add(info)

    def remove_pod(self, uid: str) -> bool:
        """A pod is gone, or is not bound after all. Whether it was on a node."""
        self._assumed.pop(uid, None)
        node_name = self._placed.pop(uid, None)
        if node_name is None:
            return False
        self._changed[node_name] = None
        self._nodes[node_name].remove(uid)
        return True
