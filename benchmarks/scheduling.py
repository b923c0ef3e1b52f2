"""Pods that get nodes: a scheduler alone on clusters of several sizes, with pods that it never met.

What a pod costs is the way from the create's event to its node, with the server's part of the
binding and the Event about it. Where a note tells a gate, that is the pods a second that upstream
wants of its own scheduler in such a case (test/integration/scheduler_perf), on its own machines.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.table import Figure, decode_seconds
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS, Resource
from fakekube.composition.cluster import Cluster

CONTROLLERS = "scheduler,namespace,serviceaccount"
SIZES = ((100, 1_500, 2_000, 4_000, ""), (1_000, 1_500, 1_750, 3_500, ""),
         (5_000, 10_000, 2_000, 5_000, "; upstream's gate: 680"))
"""Nodes, pods, target and aim of each row."""
MANY_NODES, FEW_NODES, TURNS, PODS_IN_A_TURN = 5_000, 50, 5, 300
OF_A_KIND, OF_A_KIND_BEFORE = 2_000, 200
PREEMPTIONS = 300  # of the 2,000 that upstream's case is about: each costs the same
SHAPES = (("16", "64Gi"), ("32", "128Gi"), ("64", "512Gi"), ("96", "192Gi"))
POOLS, ZONES = ("training", "serving", "batch", "general"), ("a", "b", "c")
FULL_EVERY = 3  # of so many nodes one is full


def figures() -> Iterator[Figure]:
    """Pods a second of CPU time, by the number of nodes and by the kind of pods."""
    for nodes, pods, target, aim, anchor in SIZES:
        rate, note, decode = asyncio.run(_measure(nodes, pods))
        yield Figure(f"{pods:,} pods scheduled, {nodes:,} nodes", rate, "/s", target, aim, note + anchor, decode)
    times, note = asyncio.run(_against_few())
    yield Figure(f"cost of a pod at {MANY_NODES:,} nodes against {FEW_NODES}", times, "times", 1.5, 1.1, note)
    for kind, (make, gate, aim) in KINDS.items():
        rate, note, decode = asyncio.run(_of_a_kind(make))
        text = f"{note}; upstream's gate: {gate}"
        yield Figure(f"pods with {kind}, {MANY_NODES:,} nodes", rate, "/s", gate, aim, text, decode)
    rate, note, decode = asyncio.run(_preemptions())
    yield Figure(f"{PREEMPTIONS:,} preemptions of 3 pods each, {MANY_NODES:,} nodes", rate, "/s", 570, 1_000, note, decode)


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


def _spread(number: int, when: str) -> Tree:
    constraint = {"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": when,
                  "labelSelector": {"matchLabels": {"color": "blue"}}}
    return _of_color(number, topologySpreadConstraints=[constraint])


def _with_affinity(number: int, kind: str, key: str) -> Tree:
    term = {"labelSelector": {"matchLabels": {"color": "blue"}}, "topologyKey": key, "namespaces": ["default", "other"]}
    return _of_color(number, affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def _of_color(number: int, **spec: Any) -> Tree:
    requests = {"cpu": f"{20 + number % 199}m", "memory": f"{16 + number % 211}Mi"}
    container = {"name": "main", "image": f"app:{number}", "resources": {"requests": requests}}
    labels = {"color": "blue", "run": f"run-{number}"}
    return {"metadata": {"name": f"pod-{number:06d}", "namespace": "default", "labels": labels},
            "spec": {"containers": [container], **spec}}


KINDS: Mapping[str, tuple[Callable[[int], Tree], float, float]] = {
    "required spreading": (lambda number: _spread(number, "DoNotSchedule"), 460, 1_000),
    "preferred spreading": (lambda number: _spread(number, "ScheduleAnyway"), 340, 1_000),
    "affinity to pods": (lambda number: _with_affinity(number, "podAffinity", "topology.kubernetes.io/zone"), 70, 1_000),
    "anti-affinity to pods": (lambda number: _with_affinity(number, "podAntiAffinity", "kubernetes.io/hostname"), 180, 1_000),
}
"""Pods of upstream's cases, each with requests, an image and a label of its own; gate and aim."""


@asynccontextmanager
async def cluster_of(nodes: int, make: Callable[[int], Tree] = node, controllers: str = CONTROLLERS, **options: Any,
                     ) -> AsyncIterator[Cluster]:
    """A cluster on a clock that stands still, whose nodes take pods."""
    async with Cluster(nodes=0, clock="manual", controllers=controllers, **options) as cluster:
        for number in range(nodes):
            made = await cluster.client.create(NODES, make(number))
            # The taint that every new node has goes, as its kubelet would see to.
            made["spec"]["taints"] = make(number)["spec"].get("taints", [])
            await cluster.client.update(NODES, made)
        await cluster.settle()
        yield cluster


@asynccontextmanager
async def _half_full(nodes: int) -> AsyncIterator[Cluster]:
    async with cluster_of(nodes) as cluster:
        for number in range(0, nodes, FULL_EVERY):
            await cluster.client.create(PODS, filler(number))
        await cluster.settle()
        await schedule(cluster, pod, 900_000, 300)  # what is made on first use is there
        yield cluster


async def _measure(nodes: int, pods: int) -> tuple[float, str, float]:
    """Pods a second, a note, and the seconds of a decode meanwhile."""
    async with _half_full(nodes) as cluster:
        before = decode_seconds(50)
        rounds = [await schedule(cluster, pod, count * pods, pods // 3) for count in range(3)]
        decode = (before + decode_seconds(50)) / 2
        seconds = sorted(rounds)[1]
        return 1 / seconds, f"{seconds * 1e6:.0f} us a pod", decode


async def _against_few() -> tuple[float, str]:
    """How many times more a pod costs with many nodes than with few, in turns, and a note."""
    async with _half_full(FEW_NODES) as few, _half_full(MANY_NODES) as many:
        turns = [(await schedule(few, pod, first, PODS_IN_A_TURN), await schedule(many, pod, first, PODS_IN_A_TURN))
                 for first in range(0, TURNS * PODS_IN_A_TURN, PODS_IN_A_TURN)]
        one, other = (sorted(seconds)[TURNS // 2] for seconds in zip(*turns, strict=True))
        return other / one, f"{one * 1e6:.0f} and {other * 1e6:.0f} us a pod"


async def _of_a_kind(make: Callable[[int], Tree]) -> tuple[float, str, float]:
    """Pods a second of one kind on nodes that are empty, a note, and the seconds of a decode."""
    async with cluster_of(MANY_NODES) as cluster:
        await schedule(cluster, make, 900_000, OF_A_KIND_BEFORE)
        before = decode_seconds(50)
        seconds = await schedule(cluster, make, 0, OF_A_KIND)
        return 1 / seconds, f"{seconds * 1e6:.0f} us a pod", (before + decode_seconds(50)) / 2


def _small_node(number: int) -> Tree:
    resources = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return {"metadata": {"name": f"node-{number:05d}"}, "spec": {}, "status": {"capacity": resources, "allocatable": resources}}


def _occupant(number: int) -> Tree:
    container = {"name": "main", "image": "low", "resources": {"requests": {"cpu": "900m", "memory": "500Mi"}}}
    return {"metadata": {"name": f"low-{number:06d}", "namespace": "default"},
            "spec": {"containers": [container], "nodeName": f"node-{number // 4:05d}", "terminationGracePeriodSeconds": 0}}


def _preemptor(number: int) -> Tree:
    container = {"name": "main", "image": f"high:{number}", "resources": {
        "requests": {"cpu": f"{2900 + number % 99}m", "memory": f"{500 + number % 211}Mi"}}}
    return {"metadata": {"name": f"pod-{number:06d}", "namespace": "default"},
            "spec": {"containers": [container], "priorityClassName": "high", "terminationGracePeriodSeconds": 0}}


async def _preemptions() -> tuple[float, str, float]:
    """Pods a second that fit no node before others went, a note, and the seconds of a decode."""
    classes = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
    async with cluster_of(MANY_NODES, _small_node) as cluster:
        await cluster.client.create(classes, {"metadata": {"name": "high"}, "value": 1_000_000})
        for number in range(4 * MANY_NODES):
            await cluster.client.create(PODS, _occupant(number))
        await cluster.settle()
        await schedule(cluster, _preemptor, 900_000, OF_A_KIND_BEFORE // 10)
        before = decode_seconds(50)
        seconds = await schedule(cluster, _preemptor, 0, PREEMPTIONS)
        return 1 / seconds, f"{seconds * 1e6:.0f} us each", (before + decode_seconds(50)) / 2


async def schedule(cluster: Cluster, make: Callable[[int], Tree], first: int, count: int) -> float:
    """Create so many pods, which yields to nobody, and tell the CPU seconds a pod from then until
    all are bound.
    """
    made = [make(number) for number in range(first, first + count)]
    for each in made:
        await cluster.client.create(PODS, each)
    started = time.process_time()
    await cluster.settle()
    seconds = (time.process_time() - started) / count
    for each in made:
        name = each["metadata"]["name"]
        assert (await cluster.client.get(PODS, name, "default"))["spec"].get("nodeName"), f"{name} has no node"
    return seconds
