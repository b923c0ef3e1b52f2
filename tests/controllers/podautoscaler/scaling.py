"""A cluster with a Deployment ``web`` of one-container pods that request 100m, and what tests do to
its autoscaler ``web``.
"""

from fakekube.client.resources import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, World, condition

LABELS = {"app": "web"}
SYNC = 15


def cluster_of(**options):
    """Two nodes, and time that moves only when the test says so."""
    return Cluster(**{"nodes": 2, "clock": "manual", **options})


def utilization(share, resource="cpu"):
    return {"type": "Resource", "resource": {"name": resource, "target": {"type": "Utilization", "averageUtilization": share}}}


def average(value, resource="cpu"):
    return {"type": "Resource", "resource": {"name": resource, "target": {"type": "AverageValue", "averageValue": value}}}


def per_pod(name, value, **metric):
    return {"type": "Pods", "pods": {
        "metric": {"name": name, **metric}, "target": {"type": "AverageValue", "averageValue": value}}}


def of_object(name, kind="Service", **target):
    described = {"kind": kind, "name": "web", "apiVersion": "v1"}
    return {"type": "Object", "object": {"metric": {"name": name}, "describedObject": described, "target": target}}


def external(name, **target):
    return {"type": "External", "external": {"metric": {"name": name}, "target": target}}


class Scaling(World):
    """What tests do again and again."""

    async def deploy(self, replicas=2, *, cpu="50m", requests=None, annotations=None):
        """A Deployment whose pods are ready, and have been long enough to be counted."""
        said = {"fakekube.dev/cpu-usage": cpu, **(annotations or {})}
        await self.client.create(DEPLOYMENTS, {"metadata": {"name": "web", "namespace": NAMESPACE}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": LABELS}, "template": {
                "metadata": {"labels": LABELS, "annotations": said}, "spec": {"containers": [{
                    "name": "main", "image": "nginx",
                    "resources": {"requests": {"cpu": "100m", "memory": "32Mi"} if requests is None else requests}}]}}}})
        await self.advance(60)

    async def autoscale(self, *metrics, name="web", target=None, **spec):
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", **(target or {})}
        await self.client.create(HORIZONTAL_POD_AUTOSCALERS, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
            "scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 10, "metrics": list(metrics), **spec}})
        await self.settle()

    async def use(self, **amounts):
        """Have every pod use this much, and those to come."""
        said = {f"fakekube.dev/{key.replace('_', '-')}-usage": value for key, value in amounts.items()}
        await self.say(said)

    async def say(self, annotations):
        """Annotate all pods that are there, without a rollout."""
        for pod in await self.all_pods():
            await self.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, {"metadata": {"annotations": annotations}})
        await self.settle()

    async def all_pods(self):
        return (await self.client.list(PODS, NAMESPACE, label_selector="app=web")).items

    async def autoscaler(self, name="web"):
        return await self.client.get(HORIZONTAL_POD_AUTOSCALERS, name, NAMESPACE)

    async def replicas(self):
        return (await self.client.get(DEPLOYMENTS, "web", NAMESPACE))["spec"]["replicas"]

    async def conditions(self, name="web"):
        """Each condition's status and reason."""
        found = (await self.autoscaler(name))["status"]["conditions"]
        return {each["type"]: (each["status"], each["reason"]) for each in found}

    async def condition(self, kind, name="web"):
        return condition(await self.autoscaler(name), kind)
