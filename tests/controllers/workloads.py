"""A World for the controllers of ReplicaSets, Deployments, StatefulSets and DaemonSets."""

from fakekube.client.resources import DAEMON_SETS, DEPLOYMENTS, NODES, PODS, REPLICA_SETS, STATEFUL_SETS
from tests.controllers.world import NAMESPACE, World

CONTROLLERS = (
    "replicaset,replicationcontroller,deployment,statefulset,daemonset,garbagecollector,namespace,serviceaccount,resourcequota")
LABELS = {"app": "a"}


def template(image="nginx:1", labels=LABELS, **spec):
    return {"metadata": {"labels": dict(labels)}, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def manifest(name="a", *, image="nginx:1", pod=None, **spec):
    """A workload of any kind, with ``app: a`` on its pods."""
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "selector": {"matchLabels": LABELS}, "template": template(image, **(pod or {})), **spec}}


def name_of(obj):
    return obj["metadata"]["name"]


def labels_of(obj):
    return obj["metadata"].get("labels") or {}


def names(objs):
    return [name_of(obj) for obj in objs]


def image_of(obj):
    return (obj["spec"].get("template") or obj)["spec"]["containers"][0]["image"]


class Workloads(World):
    """A cluster and what tests do to workloads in it.

    Objects are in the namespace ``default`` and called ``a``.
    """

    async def create(self, resource, name="a", **spec):
        """Create a workload; what it is once all is still."""
        await self.client.create(resource, manifest(name, **spec))
        await self.settle()
        return await self.get(resource, name)

    async def get(self, resource, name="a"):
        return await self.client.get(resource, name, NAMESPACE)

    async def patch(self, resource, name="a", **spec):
        """Change the spec; what it is once all is still."""
        await self.client.patch(resource, name, NAMESPACE, {"spec": spec})
        await self.settle()
        return await self.get(resource, name)

    async def set_image(self, resource, image, name="a"):
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
        await self.client.patch(resource, name, NAMESPACE, patch, type="strategic")
        await self.settle()
        return await self.get(resource, name)

    async def deployment(self):
        return await self.get(DEPLOYMENTS)

    async def stateful_set(self):
        return await self.get(STATEFUL_SETS)

    async def daemon_set(self):
        return await self.get(DAEMON_SETS)

    async def sets(self):
        """The ReplicaSets by the image of their pods."""
        return {image_of(found): found for found in (await self.client.list(REPLICA_SETS, NAMESPACE)).items}

    async def named(self, name):
        return await self.client.get(PODS, name, NAMESPACE, missing_ok=True)

    async def ready_all(self):
        """Make every active pod ready, as long as there are new ones."""
        while waiting := [pod for pod in await self.active() if pod["status"].get("phase") == "Pending"]:
            await self.make_ready(*waiting)
            await self.settle()

    async def ready(self, *pods):
        await self.make_ready(*pods)
        await self.settle()

    async def drop(self, *pods, **options):
        """Delete pods."""
        await self.delete_pods(*pods, **options)
        await self.settle()

    async def add_node(self, name, *, labels=None, taints=None):
        """A node that is fit for pods: what admission taints new nodes with is taken off, as once
        they are ready.
        """
        await self.client.create(NODES, {"metadata": {"name": name, "labels": labels or {}}})
        await self.client.patch(NODES, name, body={"spec": {"taints": taints}})
        await self.settle()

    async def events(self, name="a"):
        return await super().events(name)

    async def reasons(self, name="a"):
        return await super().reasons(name)
