"""``fakekube demo node-failure``: a node falls silent, is given up, and comes back."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story, pod_row
from fakekube.client.resources import NODES, PODS, Resource
from fakekube.runtime.demo import Row

KUBELET = "fakekube.dev/kubelet"
LOST = "node-1"
MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations:
        - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
      containers: [{name: main, image: "web:1"}]
"""


def node_row(node: Tree) -> tuple[str, ...]:
    """Name, and what is known of it."""
    status = (meta.find_condition(node, "Ready") or {}).get("status", "Unknown")
    return meta.name_of(node), {"True": "Ready", "False": "NotReady"}.get(status, "Unknown"), "", "(node)"


class Demo(Story):
    """From the last heartbeat to the eviction of what ran there, and back."""

    header = ("NAME", "STATUS", "READY", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "NodeNotReady": "the node controller", "TaintManagerEviction": "a taint drives a pod away",
        "Scheduled": "the scheduler picks a node", "NodeReady": "the node controller",
    }

    def follows(self) -> Mapping[Resource, Row]:
        """Nodes and pods."""
        return {NODES: node_row, PODS: pod_row}

    async def _kubelet(self, mode: str | None) -> None:
        await self.cluster.client.patch(NODES, LOST, body={"metadata": {"annotations": {KUBELET: mode}}})

    def _is(self, name: str, status: str) -> bool:
        return any(row[0] == name and row[1] == status for row in self.table.rows.values())

    def _replaced(self) -> bool:
        running = [row for row in self.rows(status="Running", ready="yes") if row[3] != LOST]
        return len(running) == 4

    async def tell(self) -> None:
        """A failure, and its end."""
        await self.say("Two nodes, and a Deployment of four pods. They tolerate an unreachable node for 30 seconds, not for 300.")
        await self.create(MANIFEST)
        await self.until(lambda: len(self.rows(status="Running", ready="yes")) == 4)
        await self.say(f"All four run. Now the kubelet of {LOST} is stopped: nothing is heard of it any more. Nobody knows yet.")
        await self._kubelet("stopped")
        await self.until(lambda: self._is(LOST, "Unknown"))
        await self.say(
            "No heartbeat for more than forty seconds: the node controller calls the node Unknown and taints it as unreachable.")
        await self.until(lambda: self.rows(status="Terminating"))
        await self.say(
            "Thirty seconds later its pods are deleted. They stay Terminating: nobody is there to stop them. Others take over.")
        await self.until(self._replaced)
        await self.say(f"Four pods are ready again, all on the node that is left. We start the kubelet of {LOST}.")
        await self._kubelet(None)
        await self.until(lambda: self._is(LOST, "Ready") and not self.rows(status="Terminating"))
        await self.say("It reports, learns what was deleted, stops it, and is Ready for new pods.")
