"""What pods leave behind: memory of those that live and of those that lived, Events that expired,
the longest collection, and what the objects of a gang take (for ``groups``).

Each workload has a process of its own, so that its memory is its own: ``python -m benchmarks.memory
NAME`` prints one as JSON.
"""

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import orjson

from benchmarks import shapes
from benchmarks.inprocess import call, pod_bucket
from benchmarks.lives import of_jobs
from benchmarks.load import resident_bytes
from benchmarks.table import Figure
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import JOBS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.util.collector import give_back

LIVED, EXPIRED, NODES, PAIRS = 10_000, 200_000, 100, 5_000
EVENTS = "/api/v1/namespaces/default/events"

Measured = dict[str, float]


def figures() -> Iterator[Figure]:
    """Kilobytes of the process a pod, megabytes of Events, and CPU milliseconds of the longest
    collection.
    """
    lived, living, expired = (run(name) for name in ("lived", "living", "expired"))
    yield Figure("memory a pod that lived, history included", lived["kilobytes"], "KB", 35, note=_containers(lived))
    yield Figure("memory a pod that is running", living["kilobytes"], "KB", 14, note=_containers(living))
    yield Figure(f"longest collection in the life of a Job of {LIVED:,} pods", lived["longest_ms"], "ms", 100)
    yield Figure(f"memory of {EXPIRED:,} Events", expired["present_mb"], "MB")
    yield Figure("the same after they expired", expired["expired_mb"], "MB", note=f"{expired['trimmed_mb']:,.0f} given back")


def _containers(measured: Measured) -> str:
    return f"{measured['containers']:.0f} tracked containers each, history of {measured['events']:,.0f} changes"


def run(name: str) -> Measured:
    """One workload in a process of its own, in figures."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.memory", name], capture_output=True, text=True, check=True)
    measured: Measured = json.loads(done.stdout)
    return measured


class Pauses:
    """How long the collector takes, in CPU time, since only one thread runs."""

    def __init__(self) -> None:
        self.longest_seconds = self._started = 0.0

    def __call__(self, phase: str, _: Mapping[str, Any]) -> None:
        """For ``gc.callbacks``."""
        if phase == "start":
            self._started = time.process_time()
        else:
            self.longest_seconds = max(self.longest_seconds, time.process_time() - self._started)


async def _grown(cluster: Cluster, workload: Callable[[Cluster], Awaitable[None]], pods: int) -> Measured:
    """What a workload added to the process, a pod."""
    gc.collect()
    before, containers, pauses = resident_bytes(), len(gc.get_objects()), Pauses()
    gc.callbacks.append(pauses)
    await workload(cluster)
    gc.callbacks.remove(pauses)
    gc.collect()
    storage = cluster.apiserver.storage
    return {
        "kilobytes": (resident_bytes() - before) / pods / 1e3, "containers": (len(gc.get_objects()) - containers) / pods,
        "longest_ms": pauses.longest_seconds * 1e3, "events": sum(len(bucket.track) for bucket in storage.buckets)}


async def lived() -> Measured:
    """Pods of a Job that is Complete."""
    async with Cluster(nodes=NODES, clock="manual") as cluster:
        return await _grown(cluster, of_jobs(1, LIVED), LIVED)


async def living() -> Measured:
    """Pods of a Job that run, with all that was written until then."""
    async def start(cluster: Cluster) -> None:
        job = shapes.job(0, LIVED)
        job["spec"]["template"]["metadata"] = {"annotations": {"fakekube.dev/run-duration": "1h"}}
        await cluster.client.create(JOBS, job)
        pods = pod_bucket(cluster)

        async def running() -> bool:
            return len(pods.by_field("status.phase", "Running")) == LIVED

        await cluster.run_until(running)

    async with Cluster(nodes=NODES, clock="manual") as cluster:
        return await _grown(cluster, start, LIVED)


async def expired() -> Measured:
    """Events straight into the storage, which all expire at once."""
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        before = resident_bytes()
        answer = await call(cluster, "POST", EVENTS, orjson.dumps({
            "metadata": {"name": "first"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u"},
            "reason": "Started", "message": "Started container main", "type": "Normal", "count": 1}))
        assert answer.status == 201, answer.body
        bucket = cluster.apiserver.storage.bucket(GroupResource("", "events"))
        record = bucket.get("default", "first")
        assert record is not None
        tree = record.tree()
        for number in range(EXPIRED):
            meta = {**tree["metadata"], "name": f"p.{number:016x}", "uid": f"{number:036d}"}
            bucket.create({**tree, "metadata": meta})
        present = resident_bytes() - before
        await cluster.advance("1h1s")
        assert not len(bucket)
        gone = resident_bytes() - before
        give_back()
        return {"present_mb": present / 1e6, "expired_mb": gone / 1e6, "trimmed_mb": (gone + before - resident_bytes()) / 1e6}


async def pairs() -> Measured:
    """A Workload and its PodGroup as the Job controller makes them, with those who follow them."""
    group = "scheduling.k8s.io"
    kinds = [Resource(group, "v1beta1", "workloads", "Workload"), Resource(group, "v1beta1", "podgroups", "PodGroup")]

    async def make(cluster: Cluster) -> None:
        for number in range(PAIRS):
            name, template = f"training-{number}-5f6d8", f"training-{number}-pgt-0"
            policy = {"schedulingPolicy": {"gang": {"minCount": 2 + number % 100}}}
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"training-{number}", "uid": f"{number:036d}",
                     "controller": True}
            await cluster.client.create(kinds[0], {
                "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}, "spec": {
                    "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": f"training-{number}"},
                    "podGroupTemplates": [{"name": template, **policy}]}})
            await cluster.client.create(kinds[1], {
                "metadata": {"name": f"{name}-{template}", "namespace": "default", "ownerReferences": [owner]},
                "spec": {"workloadRef": {"workloadName": name, "templateName": template}, **policy}})
        await cluster.settle()

    controllers = "scheduler,job,namespace,serviceaccount,podgroup-protection-controller"
    async with Cluster(nodes=0, controllers=controllers, clock="manual", feature_gates="workload-aware") as cluster:
        await cluster.settle()
        grown = await _grown(cluster, make, PAIRS)
        buckets = [cluster.apiserver.storage.bucket(GroupResource(group, kind.plural)) for kind in kinds]
        return grown | {"stored": sum(len(record.data) for bucket in buckets for record in bucket.all()) / PAIRS}


WORKLOADS: Mapping[str, Callable[[], Awaitable[Measured]]] = {
    "lived": lived, "living": living, "expired": expired, "pairs": pairs}


async def _measure(name: str) -> Measured:
    return await WORKLOADS[name]()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(sys.argv[1]))))
