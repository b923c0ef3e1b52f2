"""``fakekube demo drain``: a node is emptied for maintenance, and a PodDisruptionBudget has it done
pod by pod.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story, pod_row
from fakekube.client.resources import NODES, PODS, Resource
from fakekube.runtime.demo import Row

RETRY_SECONDS = 5
"""After so long ``kubectl drain`` tries a refused eviction again."""

MANIFESTS = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {fakekube.dev/ready-after: 7s}
    spec:
      containers: [{name: main, image: "web:1"}]
"""


def node_row(node: Tree) -> tuple[str, ...]:
    """Name, and its status as kubectl has it."""
    status = "Ready" if meta.is_condition_true(node, "Ready") else "NotReady"
    cordoned = (node.get("spec") or {}).get("unschedulable")
    return meta.name_of(node), f"{status},SchedulingDisabled" if cordoned else status, "", "(node)"


class Demo(Story):
    """Cordoned, emptied without an outage, and open again."""

    header = ("NAME", "STATUS", "READY", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "Scheduled": "the scheduler picks a node",
    }

    def follows(self) -> Mapping[Resource, Row]:
        """Nodes and pods."""
        return {NODES: node_row, PODS: pod_row}

    def _ready(self) -> list[tuple[str, ...]]:
        return self.rows(status="Running", ready="yes")

    async def _evict(self, pod: str) -> None:
        """Evict as kubectl does: again and again while the budget forbids it."""
        while True:
            try:
                await self.cluster.client.evict(pod, "default")
            except APIError as error:
                if error.code != 429:
                    raise
                self.table.note(f"429 for {pod}: {error.message} Again in {RETRY_SECONDS} s.")
                await self.pass_seconds(RETRY_SECONDS)
            else:
                self.table.note(f"evicted: {pod}")
                return

    async def tell(self) -> None:
        """What kubectl cordon, drain and uncordon do."""
        await self.say(
            "Two nodes, a Deployment of four pods, and a PodDisruptionBudget: one of the four may be unavailable at a time.")
        await self.create(MANIFESTS)
        await self.until(lambda: len(self._ready()) == 4)
        emptied, count = Counter(row[3] for row in self._ready()).most_common(1)[0]
        node = self.cluster.node(emptied)
        await self.say(
            f"All four are ready. {emptied}, with {count} of them, needs maintenance. First it is cordoned: no new pods.")
        await node.cordon()
        await self.until(lambda: self.rows(name=emptied, status="Ready,SchedulingDisabled"))
        await self.say(
            "The pods that run there stay. Now they are evicted, one after the other: the server answers 429 Too Many Requests "
            "while the budget forbids it, and kubectl tries again every five seconds.")
        for row in self.rows(node=emptied, ready="yes"):
            await self._evict(row[0])
        await self.until(lambda: not self.rows(node=emptied) and len(self._ready()) == 4)
        await self.say(
            f"{emptied} is empty, four pods are ready elsewhere, and never were fewer than three. The work can be done.")
        await node.uncordon()
        await self.until(lambda: self.rows(name=emptied, status="Ready"))
        await self.say(f"{emptied} takes pods again. Those that run elsewhere stay there: the scheduler moves no pod that runs.")
