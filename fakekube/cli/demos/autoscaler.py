"""``fakekube demo autoscaler``: load comes and goes, and a HorizontalPodAutoscaler follows it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, PODS, Resource
from fakekube.runtime.demo import Row

METRIC = "requests_per_second"
MANIFESTS = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: main, image: "web:1"}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: default}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: 1
  maxReplicas: 6
  metrics:
    - type: Pods
      pods: {{metric: {{name: {METRIC}}}, target: {{type: AverageValue, averageValue: "100"}}}}
  behavior:
    scaleDown: {{stabilizationWindowSeconds: 60}}
"""


def pod_row(pod: Tree) -> tuple[str, ...]:
    """Name, kind and phase."""
    status = "Terminating" if meta.is_deleting(pod) else (pod.get("status") or {}).get("phase", "Pending")
    return meta.name_of(pod), "Pod", status


def autoscaler_row(autoscaler: Tree) -> tuple[str, ...]:
    """What it measured last, against its target, and what it wants."""
    status = autoscaler.get("status") or {}
    measured = [metric["pods"]["current"]["averageValue"] for metric in status.get("currentMetrics") or [] if "pods" in metric]
    shown = f"{quantity.parse(measured[0]).milli_value / 1000:.0f} of 100 a pod" if measured else "not measured yet"
    replicas = status.get("desiredReplicas", 0)
    return meta.name_of(autoscaler), "Autoscaler", f"{shown}: {replicas} replica{'' if replicas == 1 else 's'}"


class Demo(Story):
    """Up at once, to the limit and no further, and down after a while."""

    header = ("NAME", "KIND", "STATUS")
    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulRescale": "the autoscaler", "ScalingReplicaSet": "the Deployment",
    }

    def __init__(self) -> None:
        super().__init__()
        self._load = 50

    def metric(self, query: Any) -> str | None:
        """The load, shared equally by the pods that run."""
        if query.type != "Pods" or query.name != METRIC:
            return None
        return f"{self._load * 1000 // max(1, self._running())}m"

    def follows(self) -> Mapping[Resource, Row]:
        """The autoscaler, and the pods."""
        return {HORIZONTAL_POD_AUTOSCALERS: autoscaler_row, PODS: pod_row}

    def _running(self) -> int:
        return len(self.rows(kind="Pod", status="Running"))

    async def _stands_at(self, replicas: int) -> None:
        """Wait for so many pods, and until the autoscaler has measured them."""
        share = f"{self._load / replicas:.0f} of 100 a pod: {replicas} replica"
        await self.until(lambda: len(self.rows(kind="Pod")) == self._running() == replicas and any(
            row[2].startswith(share) for row in self.rows(kind="Autoscaler")))

    async def tell(self) -> None:
        """Three loads."""
        await self.say(
            "A Deployment of one pod, and a HorizontalPodAutoscaler: 1 to 6 replicas, so that a pod has 100 requests a second "
            "on average. There are 50.")
        await self.create(MANIFESTS)
        await self._stands_at(1)
        await self.say("The autoscaler looks every 15 seconds. The load rises to 350: it needs 350 / 100, rounded up, so 4 pods.")
        self._load = 350
        await self._stands_at(4)
        await self.say("Four pods share the load. It rises to 900, for which nine would be needed.")
        self._load = 900
        await self._stands_at(6)
        autoscaler = await self.cluster.client.get(HORIZONTAL_POD_AUTOSCALERS, "web", "default")
        limited = meta.find_condition(autoscaler, "ScalingLimited") or {}
        await self.say(
            f"There are six: maxReplicas. The condition ScalingLimited says it: {limited.get('reason')}. Each pod has 150 now. "
            "The load falls to 50 again.")
        self._load = 50
        await self.pass_seconds(30)
        deployment = await self.cluster.client.get(DEPLOYMENTS, "web", "default")
        await self.say(
            f"30 seconds later there are still {deployment['spec']['replicas']}: fewer are asked for only when fewer were enough "
            "for all of the stabilization window, 60 seconds here and 5 minutes by default.")
        await self._stands_at(1)
        await self.say("The window is over, and one pod is left.")
