"""A cluster with devices, and what tests do to it."""

from fakekube.client.resources import EVENTS, NODES, PODS, RESOURCE_CLAIMS, Resource
from tests.controllers.scheduler.devices.cases import DRIVER, claim, request, slice_of
from tests.controllers.world import NAMESPACE, condition

CLASSES = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
SLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False)
TEMPLATES = Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate")
TAINT_RULES = Resource("resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule", namespaced=False)
FINALIZER = "resource.kubernetes.io/delete-protection"
TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "t"}
MAKING = {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 0}


class Devices:
    """A cluster with the class "gpu", whose time stands, and what tests do to it."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def node(self, name, labels=None, **more):
        resources = {"cpu": "4", "memory": "8Gi", "pods": "10", **more}
        made = await self.client.create(NODES, {
            "metadata": {"name": name, "labels": labels or {}}, "status": {"capacity": resources, "allocatable": resources}})
        made["spec"]["taints"] = []
        await self.client.update(NODES, made)
        await self.cluster.settle()

    async def add(self, resource, made):
        """Create what the allocator's tests are made of."""
        metadata = {key: value for key, value in made["metadata"].items() if key not in ("uid", "resourceVersion")}
        if resource.namespaced:
            metadata["namespace"] = NAMESPACE
        found = await self.client.create(resource, {**made, "metadata": metadata})
        await self.cluster.settle()
        return found

    async def device_class(self, name="gpu", **spec):
        return await self.add(CLASSES, {"metadata": {"name": name}, "spec": spec})

    async def slice(self, *args, **more):
        return await self.add(SLICES, slice_of(*args, **more))

    async def claim(self, name, *requests, **more):
        return await self.add(RESOURCE_CLAIMS, claim(*(requests or (request(),)), name=name, **more))

    async def template(self, *requests):
        spec = claim(*(requests or (request(),)))["spec"]
        await self.add(TEMPLATES, {"metadata": {"name": "t"}, "spec": {"spec": spec}})

    async def pod(self, name, *claims, **spec):
        """A pod; a claim is an entry of the spec, or the name of a claim."""
        entries = [{"name": each, "resourceClaimName": each} if isinstance(each, str) else each for each in claims]
        made = {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {**MAKING, **spec}}
        if entries:
            made["spec"]["resourceClaims"] = entries
        await self.client.create(PODS, made)
        await self.cluster.settle()

    async def where(self, *names):
        """The nodes of pods; empty for one that has none."""
        return [(await self.client.get(PODS, name, NAMESPACE))["spec"].get("nodeName") or "" for name in names]

    async def told(self, name):
        """Why a pod has no node."""
        found = condition(await self.client.get(PODS, name, NAMESPACE), "PodScheduled")
        return found and found["status"] == "False" and found.get("message")

    async def status(self, name):
        """The status of a claim, without the uids of those that it is reserved for."""
        status = (await self.client.get(RESOURCE_CLAIMS, name, NAMESPACE)).get("status") or {}
        for each in status.get("reservedFor") or ():
            del each["uid"]
        return status

    async def given(self, name):
        """The devices of a claim; None while it is not allocated."""
        allocation = (await self.status(name)).get("allocation")
        return allocation and [each["device"] for each in allocation["devices"]["results"]]

    async def tell(self, name, of_type):
        """The driver says something of the device of a claim."""
        found = await self.client.get(RESOURCE_CLAIMS, name, NAMESPACE)
        said = {"type": of_type, "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        status = {"driver": DRIVER, "pool": "p", "device": "a", "conditions": [said]}
        await self.client.update_status(RESOURCE_CLAIMS, {**found, "status": {**found["status"], "devices": [status]}})
        await self.cluster.settle()

    async def claims(self):
        return [each["metadata"]["name"] for each in (await self.client.list(RESOURCE_CLAIMS, NAMESPACE)).items]

    async def delete(self, *names):
        for name in names:
            await self.client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)
        await self.cluster.settle()

    async def messages(self, reason):
        found = [each for each in (await self.client.list(EVENTS, NAMESPACE)).items if each["reason"] == reason]
        return [each.get("message") or each.get("note") for each in found]
