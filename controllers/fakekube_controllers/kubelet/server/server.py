"""What the API server asks a kubelet for: logs, usage, commands in containers, ports, and which
pods there are.

Upstream: pkg/kubelet/server/server.go.
"""

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.runs import PodRuns
from fakekube_controllers.kubelet.pods.workers import NODE_INDEX
from fakekube_controllers.kubelet.server.exec import Exec
from fakekube_controllers.kubelet.server.logs import ContainerLogs
from fakekube_controllers.kubelet.server.ports import Ports
from fakekube_controllers.kubelet.server.stats import Stats


class Server:
    """The servers of all kubelets. ``queue`` is where pods are put that the kubelet has to look at
    again.
    """

    def __init__(
        self, ctx: Context, runs: PodRuns, modes: KubeletModes, queue: WorkQueue[ObjectKey], defaults: Defaults,
    ) -> None:
        self._pods, self._nodes, self._modes = ctx.lister(PODS), ctx.lister(NODES), modes
        self.logs = ContainerLogs(ctx.clock, self._pods, runs)
        self.stats = Stats(
            ctx.clock, self._pods, runs, modes, defaults, responds=self.responds, pods_on=self.pods_on)
        self.exec = Exec(ctx.clock, runs, self.logs, ctx.options.get("on_exec"), queue.add)
        self.ports = Ports(ctx.clock, ctx.activity, runs, self.logs, ctx.options.get("on_connect"))

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
        self.exec.pod_gone(uid)

    def close(self) -> None:
        """End everything."""
        self.logs.close()
        self.ports.close()
