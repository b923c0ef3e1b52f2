"""A cluster with LeaderWorkerSet and without nodes, where the test plays scheduler and kubelet."""

from typing import Any

import pytest

from fakekube.client.resources import CONTROLLER_REVISIONS, EVENTS, PODS, SERVICES, STATEFUL_SETS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.leaderworkerset import addon
from fakekube_controllers.leaderworkerset.names import DOMAIN, LEADER_WORKER_SETS
from tests.controllers.world import NAMESPACE, World

CONTROLLERS = "statefulset,garbagecollector,namespace,serviceaccount,podgroup-protection"


def pods_of(image: str = "busybox", labels: Any = None, **spec: Any) -> Any:
    """A template of pods."""
    return {"metadata": {"labels": labels or {}}, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def manifest(
    name: str = "l", *, annotations: Any = None, size: int = 2, worker: Any = None, leader: Any = None, policy: Any = None,
    subgroups: Any = None, **spec: Any,
) -> Any:
    optional = {"leaderTemplate": leader, "restartPolicy": policy, "subGroupPolicy": subgroups}
    template = {"size": size, "workerTemplate": worker or pods_of()}
    template |= {field: value for field, value in optional.items() if value is not None}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations or {}},
        "spec": {"leaderWorkerTemplate": template, **spec}}


class Groups(World):
    """A cluster and what tests of LeaderWorkerSets do to it."""

    async def create(self, name="l", **spec):
        created = await self.client.create(LEADER_WORKER_SETS, manifest(name, **spec))
        await self.advance(2)
        return created

    async def change(self, patch, name="l", kind="merge"):
        changed = await self.client.patch(LEADER_WORKER_SETS, name, NAMESPACE, patch, type=kind)
        await self.advance(2)
        return changed

    async def new_image(self, image):
        path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
        return await self.change([{"op": "replace", "path": path, "value": image}], kind="json")

    async def status(self, name="l"):
        return (await self.client.get(LEADER_WORKER_SETS, name, NAMESPACE)).get("status", {})

    async def conditions(self, name="l"):
        return {each["type"]: each["status"] for each in (await self.status(name)).get("conditions", ())}

    async def named(self, resource=PODS):
        """Objects by name, in its order."""
        return {each["metadata"]["name"]: each for each in (await self.client.list(resource, NAMESPACE)).items}

    async def images(self):
        return {name: pod["spec"]["containers"][0]["image"] for name, pod in (await self.named()).items()}

    async def sets(self):
        return await self.named(STATEFUL_SETS)

    async def revisions(self):
        """The names of the set's own revisions: StatefulSets have theirs."""
        found = (await self.named(CONTROLLER_REVISIONS)).values()
        return [each["metadata"]["name"] for each in found if each["metadata"]["ownerReferences"][0]["kind"] == "LeaderWorkerSet"]

    async def services(self):
        return [name for name in await self.named(SERVICES) if name != "kubernetes"]

    async def start(self, *names):
        """Let pods run and be ready; all of them, unless some are named."""
        for name, pod in (await self.named()).items():
            if name in names or not names:
                await self.make_ready(pod)
        await self.advance(3)

    async def restart_container(self, name):
        await self.run((await self.named())[name], restarts=1)
        await self.advance(5)

    async def told(self, name="l"):
        """(type, reason, message) of the Events about a LeaderWorkerSet, in their order."""
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        mine = [each for each in listed if each["involvedObject"]["kind"] == "LeaderWorkerSet"]
        mine = [each for each in mine if each["involvedObject"]["name"] == name]
        mine.sort(key=lambda event: event["metadata"]["name"].rpartition(".")[2])
        return [(event["type"], event["reason"], event["message"]) for event in mine]


def label(name: str) -> str:
    return f"{DOMAIN}/{name}"


def cluster_with(**features):
    """A cluster with LeaderWorkerSet and these gates of its own, on manual time."""
    gates = {"feature_gates": "workload-aware"} if features else {}
    return Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[addon(**features)], **gates)


@pytest.fixture
async def world():
    async with cluster_with() as cluster:
        yield Groups(cluster)
