"""Pods that get nodes: a scheduler alone on clusters of several sizes, half full, with pods that it
never met.

What a pod costs is the way from the create's event to its node, with the server's part of the
binding and the Event about it.
"""

import asyncio
import time
from collections.abc import Iterator

from benchmarks.table import Figure, decode_seconds
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.composition.cluster import Cluster

SIZES = ((100, 4_000), (1_000, 3_500), (5_000, 2_500))
PODS_TO_SCHEDULE = 1_500
SHAPES = (("16", "64Gi"), ("32", "128Gi"), ("64", "512Gi"), ("96", "192Gi"))
POOLS, ZONES = ("training", "serving", "batch", "general"), ("a", "b", "c")
FULL_EVERY = 3  # of so many nodes one is full


def figures() -> Iterator[Figure]:
    """Pods a second of CPU time, by the number of nodes."""
    for nodes, aim in SIZES:
        rate, note, decode = asyncio.run(_measure(nodes))
        yield Figure(f"pods scheduled, {nodes:,} nodes", rate, "/s", aim / 2, aim, note, decode)


def node(number: int) -> Tree:
    """A node of one of some shapes, in a pool and a zone; every eighth is tainted."""
    cpu, memory = SHAPES[number % len(SHAPES)]
    name = f"node-{number:05d}"
    labels = {
        "kubernetes.io/hostname": name, "pool": POOLS[number // 4 % len(POOLS)],
        "topology.kubernetes.io/zone": ZONES[number // 16 % len(ZONES)]}
    resources = {"cpu": cpu, "memory": memory, "pods": "110", "ephemeral-storage": "100Gi"}
    taints = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}] if number % 8 == 7 else []
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints},
            "status": {"capacity": resources, "allocatable": resources}}


def pod(number: int) -> Tree:
    """A pod that asks for what no other does, in one of a hundred shapes."""
    shape = number % 100
    containers = [
        {"name": f"c{position}", "image": f"app-{shape}:{number}", "resources": {"requests": {
            "cpu": f"{20 + number % 199}m", "memory": f"{16 + number % 211}Mi"}}}
        for position in range(1 + shape % 3)]
    spec: Tree = {"containers": containers, "restartPolicy": "Never"}
    if shape % 2:
        spec["nodeSelector"] = {"pool": POOLS[shape % len(POOLS)]}
    if shape % 5 == 0:
        spec["tolerations"] = [{"key": f"own-{number}", "operator": "Exists"}]
    if shape % 7 == 0:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
    if shape % 11 == 0:
        wanted = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", ZONES[number % len(ZONES)]]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}}
    return {"metadata": {"name": f"pod-{number:06d}", "namespace": "default", "labels": {"app": f"app-{shape}"}}, "spec": spec}


def filler(number: int) -> Tree:
    """A pod that takes all memory of its node."""
    memory = SHAPES[number % len(SHAPES)][1]
    container = {"name": "main", "image": "filler", "resources": {"requests": {"cpu": "1", "memory": memory}}}
    return {"metadata": {"name": f"filler-{number:06d}", "namespace": "default"},
            "spec": {"containers": [container], "nodeName": f"node-{number:05d}"}}


async def _measure(nodes: int) -> tuple[float, str, float]:
    """Pods a second, a note, and the seconds of a decode meanwhile."""
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,namespace,serviceaccount") as cluster:
        client = cluster.client
        for number in range(nodes):
            made = await client.create(NODES, node(number))
            # The taint that every new node has goes, as its kubelet would see to.
            made["spec"]["taints"] = node(number)["spec"]["taints"]
            await client.update(NODES, made)
        for number in range(0, nodes, FULL_EVERY):
            await client.create(PODS, filler(number))
        await cluster.settle()
        await _schedule(cluster, 900_000, 300)  # what is made on first use is there
        before = decode_seconds(50)
        rounds = [await _schedule(cluster, count * PODS_TO_SCHEDULE // 3, PODS_TO_SCHEDULE // 3) for count in range(3)]
        decode = (before + decode_seconds(50)) / 2
        seconds = sorted(rounds)[1]
        return 1 / seconds, f"{seconds * 1e6:.0f} us a pod", decode


async def _schedule(cluster: Cluster, first: int, count: int) -> float:
    """Create so many pods, which yields to nobody, and tell the CPU seconds a pod from then until
    all are bound.
    """
    for number in range(first, first + count):
        await cluster.client.create(PODS, pod(number))
    started = time.process_time()
    await cluster.settle()
    seconds = (time.process_time() - started) / count
    names = [f"pod-{number:06d}" for number in range(first, first + count)]
    for name in names:
        assert (await cluster.client.get(PODS, name, "default"))["spec"].get("nodeName"), f"{name} has no node"
    return seconds
