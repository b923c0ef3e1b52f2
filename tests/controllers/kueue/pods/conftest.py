"""A cluster with the integrations of Kueue alone: the test plays its scheduler and the kubelet."""

import pytest

from fakekube.client.resources import EVENTS_V1, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration
from tests.controllers.kueue.jobs.conftest import QUEUE, Jobs, integrations
from tests.controllers.world import CONTROLLERS, NAMESPACE


def manifest(name, *, labels=None, annotations=None, cpu="100m", namespace=NAMESPACE, **spec):
    """A pod in the queue ``q``."""
    container = {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": cpu}}}
    metadata = {
        "name": name, "namespace": namespace, "labels": QUEUE if labels is None else labels, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container], **spec}}


def member(name, *, count=3, group="g", labels=None, annotations=None, **spec):
    """A pod of the group ``g``, of three."""
    return manifest(
        name, labels={**QUEUE, names.POD_GROUP_NAME_LABEL: group, **(labels or {})},
        annotations={names.POD_GROUP_TOTAL_COUNT_ANNOTATION: str(count), **(annotations or {})}, **spec)


class Pods(Jobs):
    """A cluster and what tests of pods do to it."""

    async def add(self, *manifests):
        """Create pods, and let the controllers do what they do at once; the last one then."""
        created = None
        for each in manifests:
            created = await self.client.create(PODS, each)
        await self.advance(1)
        return await self.pod(created["metadata"]["name"])

    async def pod(self, name="p"):
        """A pod; None where it is gone."""
        return await self.client.get(PODS, name, NAMESPACE, missing_ok=True)

    async def says(self, name, phase, *, ready=None):
        """What the kubelet says of a pod."""
        conditions = [] if ready is None else [{"type": "Ready", "status": "True" if ready else "False"}]
        body = {"status": {"phase": phase, "conditions": conditions}}
        await self.client.patch(PODS, name, NAMESPACE, body, type="strategic", subresource="status")
        await self.advance(1)

    async def remove(self, name):
        """Delete a pod as the kubelet ends it: at once."""
        await self.client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)
        await self.advance(1)

    async def gated(self):
        """The names of the pods that wait."""
        listed = (await self.client.list(PODS, NAMESPACE)).items
        gates = {each["metadata"]["name"]: [gate["name"] for gate in each["spec"].get("schedulingGates", ())] for each in listed}
        return sorted(name for name, found in gates.items() if names.ADMISSION_GATE in found)

    async def held(self):
        """The names of the pods with Kueue's finalizer."""
        listed = (await self.client.list(PODS, NAMESPACE)).items
        return sorted(
            each["metadata"]["name"] for each in listed if names.POD_FINALIZER in each["metadata"].get("finalizers", ()))

    async def all_names(self):
        return sorted(each["metadata"]["name"] for each in (await self.client.list(PODS, NAMESPACE)).items)

    async def told(self, name, reason):
        """The notes of the Events of an object with a reason."""
        await self.advance(1)
        listed = (await self.client.list(EVENTS_V1, NAMESPACE)).items
        return [each["note"] for each in listed if (each["regarding"]["name"], each["reason"]) == (name, reason)]


@pytest.fixture
def configuration():
    """What Kueue is told; a test may override it."""
    return Configuration()


@pytest.fixture
async def pods(configuration):
    extra = [integrations(configuration)]
    controllers = f"{CONTROLLERS},deployment,replicaset,statefulset"
    async with Cluster(nodes=0, clock="manual", controllers=controllers, extra=extra) as cluster:
        world = Pods(cluster, configuration)
        await world.flavor(nodeLabels={"zone": "a"}, tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}])
        yield world
