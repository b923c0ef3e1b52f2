"""What the scheduler knows of the cluster: nodes with the pods on them, those among them that it has only just decided.

A pod is assumed on its node from the decision until the informer shows it there, so that the next cycle counts it.
Upstream: pkg/scheduler/backend/cache.
"""

from collections.abc import Mapping
from typing import Any

from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

Tree = Mapping[str, Any]


class Cache:
    """Nodes by name, in the order in which they came. It is the snapshot of a cycle, since cycles do not interleave."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}  # those that are there
        self._nodes: dict[str, NodeInfo] = {}  # those too that pods are on and that are not there
        self._placed: dict[str, str] = {}  # node by pod
        self._assumed: dict[str, None] = {}

    def _info(self, name: str) -> NodeInfo:
        return self._nodes.setdefault(name, NodeInfo(name))

    def set_node(self, node: Tree) -> None:
        """A node came or changed."""
        info = self._info(node["metadata"]["name"])
        info.set_node(node)
        self.nodes[info.name] = info

    def drop_node(self, name: str) -> None:
        """A node went; its pods are remembered in case that it comes back."""
        info = self.nodes.pop(name, None)
        if info is not None:
            info.node, info.allocatable, info.taints = None, {}, ()
            info.generation += 1
            if not info.pods:
                del self._nodes[name]

    def place(self, pod: Tree, node_name: str) -> None:
        """A pod is on a node, as the informer says."""
        uid = pod["metadata"]["uid"]
        self._assumed.pop(uid, None)
        info = self._nodes[node_name].pods.get(uid) if self._placed.get(uid) == node_name else None
        if info is not None and info.pod["spec"] == pod["spec"]:
            info.pod = pod
        else:
            self._put(pod_info(pod), node_name)

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

    def forget(self, uid: str) -> None:
        """A pod is on no node (any more); harmless when it never was."""
        self._assumed.pop(uid, None)
        node_name = self._placed.pop(uid, None)
        if node_name is not None:
            self._nodes[node_name].remove(uid)
