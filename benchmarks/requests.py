"""Single requests to a server in the same process, with bodies that it never saw: a hundred shapes
of pods in turn.

``bytes to bytes`` hands over the bytes of a body and takes those of the answer; ``through the
client`` hands over a tree and takes one, as a controller does.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks import shapes
from benchmarks.percall import Call, per_call
from benchmarks.table import Figure
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.client import users
from fakekube.client.resources import EVENTS, JOBS, PODS
from fakekube.composition.cluster import Cluster

JSON, MERGE, STRATEGIC = (
    "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json")
POD_PATH = PODS.path("default")
FINALIZER = "batch.kubernetes.io/job-tracking"


def figures() -> Iterator[Figure]:
    """Microseconds of CPU time a call."""
    for rows in (_creates, _patches, _jobs, _small, _reads):
        yield from asyncio.run(rows())


class Server:
    """A cluster without nodes, and short ways to prepare requests to it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client

    def call(self, method: str, path: str, body: bytes, media: str = JSON) -> Call:
        """Bytes to bytes. The answer is looked at, so that no refusal passes for a fast write."""
        request = Request(method, path, {}, {"content-type": media}, body, user=users.admin())

        async def make() -> None:
            answer = await self.cluster.apiserver.handle(request)
            assert answer.status < 300, answer.body

        return Call(make, body)

    async def pod(self, number: int, **metadata: Any) -> Tree:
        """Create a pod that was never seen, with more in its metadata; as the server answers."""
        tree = shapes.pod(number)
        return await self.client.create(PODS, {**tree, "metadata": {**tree["metadata"], "namespace": "default", **metadata}})


def _cluster() -> Cluster:
    return Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual")


async def _creates() -> list[Figure]:
    async with _cluster() as cluster:
        server = Server(cluster)

        async def never_seen(number: int) -> Call:
            return server.call("POST", POD_PATH, shapes.body(number))

        async def again(number: int) -> Call:
            return server.call("POST", POD_PATH, shapes.again(number))

        return [
            await per_call("create of a Pod, never seen", never_seen, 150, 100),
            await per_call("create of a Pod, the spec of the last ones", again, 80),
        ]


def kubelet_status(number: int, pod: Tree) -> Tree:
    """The patch with which a kubelet says that a pod runs, as it sends it."""
    since = f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    statuses = [{
        "containerID": f"containerd://{number:032x}{position:032x}", "image": container["image"],
        "imageID": f"registry.example/app@sha256:{number:064x}", "lastState": {}, "name": container["name"], "ready": True,
        "restartCount": 0, "started": True, "state": {"running": {"startedAt": since}},
    } for position, container in enumerate(pod["spec"]["containers"])]
    return {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {
        "$setElementOrder/conditions": [{"type": name} for name in types],
        "conditions": [{"lastProbeTime": None, "lastTransitionTime": since, "status": "True", "type": name} for name in types],
        "containerStatuses": statuses, "hostIP": "192.0.2.1", "hostIPs": [{"ip": "192.0.2.1"}], "phase": "Running",
        "podIP": address, "podIPs": [{"ip": address}], "startTime": since}}


async def _patches() -> list[Figure]:
    async with _cluster() as cluster:
        server = Server(cluster)

        async def strategic(number: int) -> Call:
            pod = await server.pod(number)
            body = orjson.dumps(kubelet_status(number, pod))
            return server.call("PATCH", f"{POD_PATH}/pod-{number}/status", body, STRATEGIC)

        async def merge(number: int) -> Call:
            pod = await server.pod(number, name=f"merge-{number}")
            status = kubelet_status(number, pod)["status"]
            del status["$setElementOrder/conditions"]
            return server.call("PATCH", f"{POD_PATH}/merge-{number}/status", orjson.dumps({"status": status}), MERGE)

        async def finalizer(number: int) -> Call:
            name = f"finalizer-{number}"
            pod = await server.pod(number, name=name, finalizers=[FINALIZER])
            body = {"metadata": {"uid": pod["metadata"]["uid"], "$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
            return server.call("PATCH", f"{POD_PATH}/{name}", orjson.dumps(body), STRATEGIC)

        return [
            await per_call("status patch of a pod, a kubelet's strategic merge", strategic, 90, 60),
            await per_call("status patch of a pod, merge", merge, 90, 60),
            await per_call("finalizer patch of a pod", finalizer, 80),
        ]


async def _jobs() -> list[Figure]:
    async with _cluster() as cluster:
        server = Server(cluster)

        async def status(number: int) -> Call:
            template = {"spec": {**shapes.pod(number)["spec"], "restartPolicy": "Never"}}
            for container in template["spec"].get("initContainers", ()):
                container.pop("restartPolicy", None)
            job = await server.client.create(JOBS, {
                "metadata": {"name": f"job-{number}", "namespace": "default"}, "spec": {"completions": 8, "template": template}})
            job["status"] = {
                "active": 1 + number % 8, "ready": number % 8, "startTime": f"2026-01-01T00:00:{number % 60:02}Z",
                "terminating": 0, "uncountedTerminatedPods": {"succeeded": [f"{number:08x}-0000-4000-8000-000000000000"]}}
            return server.call("PUT", f"{JOBS.path('default', f'job-{number}')}/status", orjson.dumps(job))

        return [await per_call("PUT of a Job's status", status, 90)]


def event(number: int, pod: Tree) -> Tree:
    """An Event as a kubelet reports it."""
    metadata = pod["metadata"]
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"pod-{number}.{number:016x}", "namespace": "default"},
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "namespace": "default", "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"], "fieldPath": "spec.containers{c0}"},
        "reason": "Pulled", "message": f'Container image "registry.example/app:{number}" already present on machine',
        "type": "Normal", "count": 1, "source": {"component": "kubelet", "host": f"node-{number % 20}"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
        "reportingComponent": "kubelet", "reportingInstance": f"node-{number % 20}"}


async def _small() -> list[Figure]:
    async with _cluster() as cluster:
        server, client, pod = Server(cluster), cluster.client, await Server(cluster).pod(10_000_000)

        async def binding(number: int) -> Call:
            await server.pod(number)
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"pod-{number}", "namespace": "default"},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % 20}"}}
            return server.call("POST", f"{POD_PATH}/pod-{number}/binding", orjson.dumps(body))

        async def bind(number: int) -> Call:
            name = f"bind-{number}"
            created = await server.pod(number, name=name)
            uid, node = created["metadata"]["uid"], f"node-{number % 20}"
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": "default", "uid": uid},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
            return Call(lambda: client.bind(name, "default", node, uid=uid), orjson.dumps(body))

        async def post_event(number: int) -> Call:
            return server.call("POST", EVENTS.path("default"), orjson.dumps(event(number, pod)))

        async def create_event(number: int) -> Call:
            tree = event(2**32 + number, pod)
            return Call(lambda: client.create(EVENTS, tree), orjson.dumps(tree))

        return [
            await per_call("binding, bytes to bytes", binding, 40), await per_call("binding, through the client", bind, 40),
            await per_call("Event, bytes to bytes", post_event, 45),
            await per_call("Event, through the client", create_event, 45),
        ]


async def _reads() -> list[Figure]:
    """Pods that were created long ago. The body of a read is its answer."""
    async with _cluster() as cluster:
        server, client = Server(cluster), cluster.client
        bodies = [orjson.dumps(await server.pod(number)) for number in range(10 * shapes.SHAPES)]

        async def get(number: int) -> Call:
            number %= len(bodies)
            return server.call("GET", f"{POD_PATH}/pod-{number}", b"")._replace(body=bodies[number])

        async def get_tree(number: int) -> Call:
            number %= len(bodies)
            return Call(lambda: client.get(PODS, f"pod-{number}", "default"), bodies[number])

        return [
            await per_call("GET of a pod, bytes to bytes", get, batches=10),
            await per_call("GET of a pod, through the client", get_tree, 12, batches=10),
        ]
