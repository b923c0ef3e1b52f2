"""A cluster with what fills EndpointSlices and Endpoints, one node, on manual time."""

import pytest

from fakekube.client.resources import ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES
from tests.controllers.world import NAMESPACE, World, manual_cluster, pod_template

CONTROLLERS = "endpoint,endpointslice,endpointslicemirroring,namespace,serviceaccount,garbagecollector"


class ServiceWorld(World):
    """The Service is called ``s`` and selects ``app: x``."""

    async def create_service(self, *ports, name="s", labels=None, annotations=None, **spec):
        spec = {"selector": {"app": "x"}, "ports": list(ports) or [{"port": 80}], **spec}
        await self.client.create(SERVICES, {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}, "annotations": annotations or {}},
            "spec": {key: value for key, value in spec.items() if value is not None}})
        await self.settle()

    async def create_pod(self, name, ip="", *, ready=True, node="n", labels=None, container=None, **spec):
        template = pod_template()["spec"]
        template["containers"][0].update(container or {})
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {"app": "x"}},
            "spec": {**template, "nodeName": node, **spec}})
        if ip:
            await self.set_ip(name, ip, ready=ready)

    async def set_ip(self, name, *ips, ready=True):
        pod = await self.client.get(PODS, name, NAMESPACE)
        await self.run(pod, ready=ready)
        await self.set_status(pod, podIP=ips[0], podIPs=[{"ip": ip} for ip in ips])
        await self.settle()

    async def slices(self, service="s"):
        listed = await self.client.list(ENDPOINT_SLICES, NAMESPACE, label_selector=f"kubernetes.io/service-name={service}")
        return listed.items

    async def slice(self):
        (only,) = await self.slices()
        return only

    async def ready(self):
        """Addresses that are ready, by the slices."""
        return sorted(
            address for each in await self.slices() for endpoint in each.get("endpoints") or ()
            if endpoint["conditions"]["ready"] for address in endpoint["addresses"])

    async def endpoints(self, name="s"):
        return await self.client.get(ENDPOINTS, name, NAMESPACE, missing_ok=True)


@pytest.fixture
async def world():
    async with manual_cluster(CONTROLLERS) as cluster:
        world = ServiceWorld(cluster)
        await world.client.create(NODES, {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z"}}})
        await world.settle()
        yield world
