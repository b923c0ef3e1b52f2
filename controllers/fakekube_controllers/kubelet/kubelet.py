"""One component that is the kubelet of every node: it looks after nodes, and after pods from the
first one on.

``node`` looks after nodes, ``pod_parts.py`` has all that is for pods. Upstream:
pkg/kubelet/kubelet.go.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.agent import NodeAgent
from fakekube_controllers.kubelet.node.clients import NodeClients
from fakekube_controllers.kubelet.node.mode import KubeletModes

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.pod_parts import PodParts
    from fakekube_controllers.kubelet.pods.checkpoint import Checkpoint
    from fakekube_controllers.kubelet.pods.runs import PodRuns
    from fakekube_controllers.kubelet.server.server import Server


class Kubelet:
    """A component for the manager.

    Options of the context: ``nodes`` (how many to register), ``node_capacity``, ``outcome`` (a
    callback, see ``outcomes/outcome.py``), ``on_exec`` and ``on_connect`` (callbacks, see
    ``server/process.py``), and ``kubelet_defaults``.

    What containers do and who has which address outlives a stop: containers run on while their
    kubelet is down. Everything else is made anew by ``start``.
    """

    name = "kubelet"
    user_agent = "kubelet"
    user: UserInfo | None = None

    def __init__(self) -> None:
        self._addresses, self._modes = Addresses(), KubeletModes()
        self._parts: PodParts | None = None
        self._ctx: Context | None = None

    @property
    def parts(self) -> "PodParts":
        """What is for pods; made now if nobody needed it before."""
        if self._parts is None:
            self._parts = self._new_parts()
            if self._ctx is not None:
                self._parts.start(self._ctx, self._clients)
        return self._parts

    def _new_parts(self) -> "PodParts":
        from fakekube_controllers.kubelet.pod_parts import PodParts

        return PodParts(self._addresses, self._modes)

    @property
    def runs(self) -> "PodRuns":
        """What the containers of pods do."""
        return self.parts.runs

    @property
    def server(self) -> "Server":
        """What the API server asks of kubelets. The kubelet was started."""
        return self.parts.server

    def dump(self) -> "Checkpoint":
        """What is not in the API: what containers do, and who has which address.

        It may be asked for when no loop runs any more.
        """
        return (self._parts or self._new_parts()).dump()

    def load(self, state: "Checkpoint | Tree") -> None:
        """Go on from where another kubelet was; before ``start``."""
        self.parts.load(state)

    async def start(self, ctx: Context) -> None:
        """Register the nodes and begin to look after pods. Raises APIError."""
        self.clock = ctx.clock
        self._modes.clear()
        self._clients = NodeClients(ctx)
        if self._parts is not None:
            self._parts.start(ctx, self._clients)
        self._ctx = ctx
        ctx.add_handler(PODS, self._pod_added, self._pod_changed, self._pod_gone)
        self.agent = NodeAgent(
            ctx, self._clients, self._addresses, self._modes, mode_changed=self._mode_changed, is_staged=self._is_staged)
        await self.agent.register(int(ctx.options.get("nodes", 0)))

    async def stop(self) -> None:
        """Everything else belongs to the context; no lease is renewed from now on."""
        self._ctx = None
        if self._parts is not None:
            self._parts.close()
        self.agent.close()

    def add_stages(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Let KWOK's Stages write the status of pods and nodes. Raises ValueError for one that is
        invalid.
        """
        self.parts.staged.add(manifests)

    def evict(self, namespace: str, name: str, resource: str = "memory") -> None:
        """End a pod as a node does that runs short of a resource. KeyError when there is no such
        pod here.
        """
        self.parts.workers.evict(namespace, name, resource)

    def _mode_changed(self, node: str) -> None:
        if self._parts is not None:
            self._parts.workers.sync_node(node)

    def _is_staged(self, node: Mapping[str, Any]) -> bool:
        return self._parts is not None and self._parts.staged.has_node(node)

    # events of the cache

    def _pod_added(self, pod: Tree) -> None:
        if self._parts is not None or pod["spec"].get("nodeName"):
            self.parts.workers.pod_added(pod)

    def _pod_changed(self, old: Tree, new: Tree) -> None:
        if self._parts is not None or new["spec"].get("nodeName"):
            self.parts.workers.pod_changed(old, new)

    def _pod_gone(self, pod: Tree) -> None:
        if self._parts is not None:
            self._parts.workers.pod_gone(pod)
