"""``fakekube demo statefulset``: pods with names and volumes of their own, made, replaced, updated
and removed in order.
"""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story, pod_row
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS, Resource
from fakekube.runtime.demo import Row

CLAIM = "(claim)"
MANIFESTS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks}
provisioner: fakekube.dev/provisioner
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: default}
spec:
  clusterIP: None
  selector: {app: db}
  ports: [{port: 5432}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata:
      labels: {app: db}
      annotations: {fakekube.dev/ready-after: 3s}
    spec:
      containers: [{name: main, image: "db:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], storageClassName: disks, resources: {requests: {storage: 1Gi}}}
"""


def claim_row(claim: Tree) -> tuple[str, ...]:
    """Name, and whether it has a volume."""
    return meta.name_of(claim), (claim.get("status") or {}).get("phase", "Pending"), "", CLAIM


class Demo(Story):
    """In order up, in order down, and the same name after a loss."""

    header = ("NAME", "STATUS", "READY", "IMAGE")
    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "the StatefulSet controller", "SuccessfulDelete": "the StatefulSet controller",
    }

    def follows(self) -> Mapping[Resource, Row]:
        """Pods with their images, and their claims."""
        return {
            PODS: lambda pod: (*pod_row(pod)[:3], pod["spec"]["containers"][0]["image"]), PERSISTENT_VOLUME_CLAIMS: claim_row}

    def _stands(self, replicas: int, image: str) -> bool:
        pods = len(self.table.rows) - len(self.rows(image=CLAIM))
        return pods == len(self.rows(status="Running", ready="yes", image=image)) == replicas

    async def _patch(self, spec: dict[str, object]) -> None:
        await self.cluster.client.patch(STATEFUL_SETS, "db", "default", {"spec": spec}, type="strategic")

    async def tell(self) -> None:
        """Made, one lost, updated, made smaller."""
        await self.say(
            "A StatefulSet of three pods, each with a claim for a volume, and ready three seconds after its start. They are made "
            "one at a time.")
        await self.create(MANIFESTS)
        await self.until(lambda: self._stands(3, "db:1"))
        await self.say("db-1 was made when db-0 was ready, db-2 when db-1 was. We delete db-1.")
        uid = (await self.cluster.client.get(PODS, "db-1", "default"))["metadata"]["uid"]
        await self.cluster.client.delete(PODS, "db-1", "default")

        async def is_replaced() -> bool:
            found = await self.cluster.client.get(PODS, "db-1", "default", missing_ok=True)
            return found is not None and found["metadata"]["uid"] != uid and self._stands(3, "db:1")

        await self.until_answer(is_replaced)
        await self.say(
            "Another pod has the same name, so the same DNS name, db-1.db, and the same volume, by the claim data-db-1. It was "
            "made only after the old one was gone: there are never two db-1. Now version 2.")
        await self._patch({"template": {"spec": {"containers": [{"name": "main", "image": "db:2"}]}}})
        await self.until(lambda: self._stands(3, "db:2"))
        await self.say("The update went from db-2 down to db-0, and waited for each to be ready. We scale to one replica.")
        await self._patch({"replicas": 1})
        await self.until(lambda: self._stands(1, "db:2"))
        await self.say("db-2 went first, then db-1. Their claims stay, so that nothing is lost when they come back.")
