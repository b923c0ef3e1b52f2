"""What the scheduler knows of the cluster: nodes with the pods on them, those among them that it has only just decided.

A pod is assumed on its node from the decision until the informer shows it there, so that the next cycle counts it.
Upstream: pkg/scheduler/backend/cache (cache.go, snapshot.go).
"""


from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

FORGOTTEN = 1000  # so many nodes that are gone are remembered as changes


class Snapshot:
    """Nodes by name, in the order in which they came, as they were at the start of a cycle.

    It shares with the last cycle's what has not changed since. ``sequence`` grows with every update that changed something;
    ``changes`` tells when a node changed last, the latest last, of all that changed after ``known_since``.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.sequence = self.known_since = 0
        self.changes: dict[str, int] = {}


class Cache:
    """Nodes by name, in the order in which they came, as they are now."""

    def __init__(self, options: Options = IN_FLIGHT) -> None:
        self._options = options
        self._nodes: dict[str, NodeInfo] = {}  # those too that pods are on and that are not there
        self._changed: dict[str, None] = {}
        self._placed: dict[str, str] = {}  # node by pod
        self._assumed: dict[str, None] = {}

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Bring a snapshot to what is known now; what that takes goes by what has changed since the last time."""
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
        if len(snapshot.changes) > 2 * len(snapshot.nodes) + FORGOTTEN:  # of nodes that are gone, mostly
            snapshot.changes, snapshot.known_since = {}, snapshot.sequence

    def _info(self, name: str) -> NodeInfo:
        self._changed[name] = None
        return self._nodes.setdefault(name, NodeInfo(name))

    def set_node(self, node: ReadOnlyTree) -> None:
        """A node came or changed."""
        self._info(node["metadata"]["name"]).set_node(node)

    def drop_node(self, name: str) -> None:
        """A node went; its pods are remembered in case that it comes back."""
        info = self._nodes.get(name)
        if info is not None:
            self._changed[name] = None
            info.drop_node()
            if not info.pods:
                del self._nodes[name]

    def place(self, pod: ReadOnlyTree, node_name: str) -> bool:
        """A pod is on a node, as the informer says. Whether it leaves more than it did before."""
        uid = pod["metadata"]["uid"]
        self._assumed.pop(uid, None)
        known = self._nodes[node_name].pods.get(uid) if self._placed.get(uid) == node_name else None
        if known is not None and known.counts_like(pod):
            known.pod = pod
            return False
        info = pod_info(pod, self._options)
        self._put(info, node_name)
        return known is not None and any(info.requests.get(name, 0) < asked for name, asked in known.requests.items())

    def assume(self, info: PodInfo, node_name: str) -> None:
        """A pod will be on a node, as this scheduler has decided."""
        self._assumed[info.uid] = None
        self._put(info, node_name)

    def is_assumed(self, uid: str) -> bool:
        """Whether the decision is not seen yet."""
        return uid in self._assumed

    def _put(self, info: PodInfo, node_name: str) -> None:
        if self._placed.get(info.uid, node_name) != node_name:
            self.forget(info.uid)
        self._placed[info.uid] = node_name
        self._info(node_name).add(info)

    def forget(self, uid: str) -> bool:
        """A pod is on no node (any more). Whether it was on one."""
        self._assumed.pop(uid, None)
        node_name = self._placed.pop(uid, None)
        if node_name is None:
            return False
        self._changed[node_name] = None
        self._nodes[node_name].remove(uid)
        return True
