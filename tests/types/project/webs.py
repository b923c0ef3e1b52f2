"""A user's project: a controller that runs pods for config maps, and a kind of its own for later.
"""

from datetime import UTC, datetime, timedelta
from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.client.typed import TypedClient
from fakekube.runtime import Context, Request, Result, controller
from fakekube.types import ConfigMap, Container, Model, Object, ObjectMeta, OwnerReference, Pod, PodSpec, Time, empty


class WebSpec(Model):
    image: str = ""
    replicas: int = 1


class WebStatus(Model):
    ready: int = 0
    seen_at: Time | None = None


class Web(Object):
    resource: ClassVar[Resource] = Resource("example.com", "v1", "webs", "Web")

    spec: WebSpec = empty(WebSpec)
    status: WebStatus = empty(WebStatus)


class WebReconciler:
    def __init__(self, ctx: Context) -> None:
        self.client, self.pods = TypedClient(ctx.client), ctx.lister(Pod)

    async def reconcile(self, request: Request) -> Result:
        found = await self.client.get(ConfigMap, request.name, request.namespace, missing_ok=True)
        if found is None or found.metadata.deletion_timestamp or "image" not in found.data:
            return Result()
        web = web_of(found)
        mine = self.pods.controlled_by(web.metadata.uid)
        for number in range(len(mine), web.spec.replicas):
            await self.client.create(pod_of(found, web, number))
        ready = sum(condition.type == "Ready" for pod in mine for condition in pod.status.conditions)
        if found.data.get("ready") != str(ready):
            found.data["ready"] = str(ready)
            await self.client.update(found)
        return Result(requeue_after=timedelta(seconds=30))


def web_of(found: ConfigMap) -> Web:
    web = Web(metadata=found.metadata, spec=WebSpec(image=found.data["image"], replicas=int(found.data["replicas"])))
    web.status.seen_at = datetime(2026, 1, 1, tzinfo=UTC)
    return web


def pod_of(owner: ConfigMap, web: Web, number: int) -> Pod:
    reference = OwnerReference(
        api_version=owner.api_version, kind=owner.kind, name=owner.metadata.name, uid=owner.metadata.uid, controller=True)
    pod = Pod(
        metadata=ObjectMeta(name=f"{web.metadata.name}-{number}", namespace=web.metadata.namespace),
        spec=PodSpec(containers=[Container(name="web", image=web.spec.image)]),
    )
    pod.metadata.owner_references.append(reference)
    pod.metadata.labels["app"] = web.metadata.name
    return pod


webs = controller("webs").for_(ConfigMap).owns(Pod).complete(WebReconciler)
