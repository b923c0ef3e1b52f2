"""``fakekube demo rollout``: a new version comes in step by step, a bad one gets stuck, and the way
back.
"""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.cli.demos.stage import Story, pod_row
from fakekube.client.resources import DEPLOYMENTS, PODS, Resource
from fakekube.runtime.demo import Row

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  progressDeadlineSeconds: 60
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {fakekube.dev/ready-after: 5s}
    spec:
      containers: [{name: main, image: "web:1"}]
"""


class Demo(Story):
    """Version 2 replaces version 1 pod by pod; version 3 never becomes ready, and version 2 goes on
    serving.
    """

    header = ("POD", "STATUS", "READY", "IMAGE")
    told: ClassVar[Mapping[str, str]] = {"ScalingReplicaSet": "the Deployment", "DeploymentRollback": "the Deployment"}

    def follows(self) -> Mapping[Resource, Row]:
        """Pods with their images."""
        return {PODS: lambda pod: (*pod_row(pod)[:3], pod["spec"]["containers"][0]["image"])}

    def _serving(self, image: str) -> int:
        return len(self.rows(ready="yes", image=image, status="Running"))

    async def _change(self, image: str, ready_after: str) -> None:
        await self.cluster.client.patch(DEPLOYMENTS, "web", "default", {"spec": {"template": {
            "metadata": {"annotations": {"fakekube.dev/ready-after": ready_after}},
            "spec": {"containers": [{"name": "main", "image": image}]}}}}, type="strategic")

    async def _stuck(self) -> bool:
        deployment = await self.cluster.client.get(DEPLOYMENTS, "web", "default")
        progress = meta.find_condition(deployment, "Progressing") or {}
        return bool(progress.get("reason") == "ProgressDeadlineExceeded")

    async def tell(self) -> None:
        """Three versions."""
        await self.say("A Deployment of three pods; each is ready five seconds after its start.")
        await self.create(MANIFEST)
        await self.until(lambda: self._serving("web:1") == 3)
        await self.say("Version 1 serves. We set the image to version 2: one pod more than three at a time, never one less.")
        await self._change("web:2", "5s")
        await self.until(lambda: self._serving("web:2") == 3 and len(self.table.rows) == 3)
        await self.say("Three pods of version 2 are ready; at no moment were fewer. Now version 3, which never gets ready.")
        await self._change("web:3", "never")
        await self.until_answer(self._stuck)
        left = self._serving("web:2")
        await self.say(f"After a minute without progress: ProgressDeadlineExceeded. {left} pods of version 2 serve on.")
        await self._change("web:2", "5s")
        await self.until(lambda: self._serving("web:2") == 3 and len(self.table.rows) == 3)
        await self.say("We go back, as kubectl rollout undo does: the old ReplicaSet is still there, and takes over again.")
