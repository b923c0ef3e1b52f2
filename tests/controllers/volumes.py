"""Claims, volumes and classes for tests, and what happens to them."""

from fakekube.client.resources import (
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from tests.controllers.world import NAMESPACE, World

PROVISIONER = "fakekube.dev/provisioner"


def volume(name, size="1Gi", modes=("ReadWriteOnce",), source=None, labels=None, **spec):
    """A volume of the host, kept when it is released."""
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": {
        "capacity": {"storage": size}, "accessModes": list(modes), **(source or {"hostPath": {"path": "/tmp/x"}}), **spec}}


def claim(name="c", size="1Gi", modes=("ReadWriteOnce",), **spec):
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "accessModes": list(modes), "resources": {"requests": {"storage": size}}, **spec}}


def storage_class(name="made", mode="Immediate", **fields):
    return {"metadata": {"name": name}, "provisioner": PROVISIONER, "volumeBindingMode": mode, **fields}


def pod(name="p", claims=("c",), **spec):
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "containers": [{"name": "main", "image": "nginx"}],
        "volumes": [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims], **spec}}


class Storage(World):
    """A cluster and its claims and volumes."""

    async def make(self, *objs):
        """Create claims, volumes, classes and pods, and wait until all is still."""
        for obj in objs:
            await self.client.create(_resource(obj), obj)
        await self.settle()
        await self.advance(1)

    async def claim(self, name="c"):
        return await self.client.get(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE, missing_ok=True)

    async def volume(self, name):
        return await self.client.get(PERSISTENT_VOLUMES, name, missing_ok=True)

    async def volumes(self):
        return (await self.client.list(PERSISTENT_VOLUMES)).items

    async def phases(self):
        """The phases of all claims and volumes, by name."""
        claims = (await self.client.list(PERSISTENT_VOLUME_CLAIMS)).items
        return {each["metadata"]["name"]: each["status"]["phase"] for each in (*claims, *await self.volumes())}

    async def delete_claim(self, name="c"):
        await self.client.delete(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE)
        await self.advance(1)

    async def pod(self, name="p"):
        return await self.client.get(PODS, name, NAMESPACE)

    async def messages(self, name, reason):
        """The messages of the Events about an object with that reason."""
        listed = (await self.client.list(EVENTS)).items
        return [each["message"] for each in listed
                if each["involvedObject"]["name"] == name and each["reason"] == reason]


def _resource(obj):
    if "provisioner" in obj:
        return STORAGE_CLASSES
    if "containers" in obj["spec"]:
        return PODS
    return PERSISTENT_VOLUMES if "capacity" in obj["spec"] else PERSISTENT_VOLUME_CLAIMS
