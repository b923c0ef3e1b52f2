"""What the API server asks a kubelet for: logs, usage, commands in containers, ports, and which
pods there are.

Upstream: pkg/kubelet/server/server.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.runs import PodRuns
from fakekube_controllers.kubelet.pods.workers import NODE_INDEX
from fakekube_controllers.kubelet.server.logs import ContainerLogs
from fakekube_controllers.kubelet.server.stats import Stats

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.server.exec import Exec
    from fakekube_controllers.kubelet.server.ports import Ports


class Server:
    """The servers of all kubelets. ``queue`` is where pods are put that the kubelet has to look at
    again.
    """

    def __init__(
        self, ctx: Context, runs: PodRuns, modes: KubeletModes, queue: WorkQueue[ObjectKey], defaults: Defaults,
    ) -> None:
        self._ctx, self._runs, self._modes, self._queue = ctx, runs, modes, queue
        self._pods, self._nodes = ctx.lister(PODS), ctx.lister(NODES)
        self.logs = ContainerLogs(ctx.clock, self._pods, runs)
        self.stats = Stats(
            ctx.clock, self._pods, runs, modes, defaults, responds=self.responds, pods_on=self.pods_on)
        self._exec: Exec | None = None
        self._ports: Ports | None = None

    # Most clusters are never asked for these, and start sooner without them.

    @property
    def exec(self) -> "Exec":
        """Commands in containers."""
        if self._exec is None:
            from fakekube_controllers.kubelet.server.exec import Exec

            ctx = self._ctx
            self._exec = Exec(ctx.clock, self._runs, self.logs, ctx.options.get("on_exec"), self._queue.add)
        return self._exec

    @property
    def ports(self) -> "Ports":
        """Connections to ports of pods."""
        if self._ports is None:
            from fakekube_controllers.kubelet.server.ports import Ports

            ctx = self._ctx
            self._ports = Ports(ctx.clock, ctx.activity, self._runs, self.logs, ctx.options.get("on_connect"))
        return self._ports

    def responds(self, node: str) -> bool:
        """Whether there is such a node, and its kubelet is not stopped."""
        return self._nodes.get("", node) is not None and not self._modes.is_stopped(node)

    def pods_on(self, node: str) -> list[Tree]:
        """The pods that are bound to a node, as the cluster has them."""
        return list(self._pods.by_index(NODE_INDEX, node))

    def pod_synced(self, uid: str) -> None:
        """Something may have happened to a pod."""
        self.logs.pod_synced(uid)

    def pod_gone(self, uid: str) -> None:
        """A pod was deleted."""
        self.logs.pod_gone(uid)
        if self._exec is not None:
            self._exec.pod_gone(uid)

    def close(self) -> None:
        """End everything."""
        self.logs.close()
        if self._ports is not None:
            self._ports.close()
