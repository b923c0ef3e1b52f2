"""``fakekube demo garbage-collection``: what is deleted with its owner, when, and what is not."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS, Resource
from fakekube.runtime.demo import Row

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {fakekube.dev/term-duration: 4s}
    spec:
      containers: [{name: main, image: "web:1"}]
"""


def row_of(kind: str) -> Row:
    """A row: name, kind, whether it is being deleted, and who owns it."""
    def row(obj: Tree) -> tuple[str, ...]:
        owner = meta.controller_of(obj)
        status = "Terminating" if meta.is_deleting(obj) else (obj.get("status") or {}).get("phase", "exists")
        return meta.name_of(obj), kind, status, owner["name"] if owner is not None else "nobody"

    return row


class Demo(Story):
    """The three propagation policies, and an adoption."""

    header = ("NAME", "KIND", "STATUS", "OWNER")
    told: ClassVar[Mapping[str, str]] = {}

    def follows(self) -> Mapping[Resource, Row]:
        """The three generations."""
        return {DEPLOYMENTS: row_of("Deployment"), REPLICA_SETS: row_of("ReplicaSet"), PODS: row_of("Pod")}

    def _running(self) -> bool:
        return len(self.rows(kind="Pod", status="Running")) == 2 and len(self.table.rows) == 4

    async def _create(self) -> None:
        await self.create(MANIFEST)
        await self.until(self._running)

    async def _delete(self, policy: str) -> None:
        await self.cluster.client.delete(DEPLOYMENTS, "web", "default", propagation_policy=policy)

    async def tell(self) -> None:
        """Background, Foreground, Orphan."""
        await self.say(
            "A Deployment makes a ReplicaSet, which makes pods. Each names its owner in metadata.ownerReferences. The pods take "
            "four seconds to stop.")
        await self._create()
        await self.say("We delete the Deployment with propagationPolicy Background, as kubectl delete does by default.")
        await self._delete("Background")
        await self.until(lambda: not self.table.rows)
        await self.say(
            "The Deployment was gone at once. The garbage collector found that the ReplicaSet's owner was gone, then that of the "
            "pods, and deleted them. Now the same with Foreground.")
        await self._create()
        await self._delete("Foreground")
        await self.until(lambda: not self.table.rows)
        await self.say(
            "The other way round: the Deployment was Terminating, with the finalizer foregroundDeletion, until the ReplicaSet "
            "was gone, which waited for its pods. Now Orphan.")
        await self._create()
        await self._delete("Orphan")
        await self.until(lambda: not self.rows(kind="Deployment") and self.rows(kind="ReplicaSet", owner="nobody"))
        await self.say(
            "Only the Deployment is gone. The ReplicaSet has no owner any more and keeps its pods running. We create the "
            "Deployment again.")
        before = {row[0] for row in self.rows(kind="Pod")}
        await self.create(MANIFEST)
        await self.until(lambda: self.rows(kind="ReplicaSet", owner="web") and self._running())
        kept = before == {row[0] for row in self.rows(kind="Pod")}
        await self.say(
            "It found a ReplicaSet that its selector matches and that nobody owns, and adopted it. "
            + ("No pod was replaced." if kept else "Pods were replaced."))
