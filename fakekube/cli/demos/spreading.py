"""``fakekube demo spreading``: pods that are spread over zones, as evenly as they have to be."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.cli.demos.groups import pod_row
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import DEPLOYMENTS, PODS, Resource
from fakekube.runtime.demo import Row

ZONE = "topology.kubernetes.io/zone"
NODES = "---".join(f"""
apiVersion: v1
kind: Node
metadata: {{name: {zone}-{number}, labels: {{{ZONE}: {zone}}}}}
status: {{capacity: {{cpu: "8", memory: 32Gi, pods: "110"}}, allocatable: {{cpu: "8", memory: 32Gi, pods: "110"}}}}
""" for zone, number in (("north", 0), ("north", 1), ("south", 0)))
WEB = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 4
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      topologySpreadConstraints:
      - topologyKey: {ZONE}
        maxSkew: 1
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{app: web}}}}
      containers: [{{name: main, image: "web:1", resources: {{requests: {{cpu: 100m}}}}}}]
"""


class Demo(Story):
    """Evenly, then as far as the skew allows, then not at all."""

    nodes = 0
    header = ("NAME", "STATUS", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "Scheduled": "the scheduler picks a node", "FailedScheduling": "the scheduler finds none",
    }

    def follows(self) -> Mapping[Resource, Row]:
        """The pods."""
        return {PODS: pod_row}

    def _by_zone(self) -> str:
        zones = Counter(row[2].split("-")[0] for row in self.rows(status="Running"))
        return " and ".join(f"{zones[zone]} in {zone}" for zone in sorted(zones))

    async def _scale(self, replicas: int) -> None:
        await self.cluster.client.patch(DEPLOYMENTS, "web", "default", body={"spec": {"replicas": replicas}})

    async def tell(self) -> None:
        """Four pods, then six, with a zone that is closed and opened again."""
        await self.say(
            "Two zones: north with two nodes, south with one. A Deployment of four pods, whose topologySpreadConstraints allow a "
            "difference of one pod between the zones (maxSkew: 1).")
        await self.create(NODES)
        await self.create(WEB)
        await self.until(lambda: len(self.rows(status="Running")) == 4)
        await self.say(
            f"There are {self._by_zone()}, although south has half the nodes. Now its node is cordoned, and two pods more are "
            "wanted.")
        await self.cluster.node("south-0").cordon()
        await self._scale(6)
        await self.until(lambda: len(self.rows(status="Running")) == 5)
        await self.until(lambda: self.rows(status="Pending", node=""))
        [waiting] = self.rows(status="Pending")
        pod = await self.cluster.client.get(PODS, waiting[0], "default")
        reason = (meta.find_condition(pod, "PodScheduled") or {}).get("message", "")
        await self.say(
            f"There are {self._by_zone()}: one more than in south is allowed, two more are not. The sixth waits, although north "
            f"has room. {reason} With whenUnsatisfiable: ScheduleAnyway it would have run there.")
        await self.cluster.node("south-0").uncordon()
        await self.until(lambda: len(self.rows(status="Running")) == 6)
        await self.say(
            f"south is open again: {self._by_zone()}. The constraint is looked at when a pod is placed; nobody moves pods later.")
