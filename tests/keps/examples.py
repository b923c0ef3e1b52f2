"""The examples of the KEPs on a cluster, and what tests ask about them."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS, Resource
from fakekube.composition.cluster import Cluster

FOLDER = Path(__file__).parents[2] / "fixtures" / "keps"
VERSIONS = {"1.35": "v1alpha1", "1.36": "v1alpha2", "1.37": "v1beta1"}
GPU, ZONE, RACK = "nvidia.com/gpu", "topology.kubernetes.io/zone", "topology.kubernetes.io/rack"


def example(name: str) -> list[Tree]:
    """The objects of a file."""
    return [*yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text())]


def kinds(objects: Iterable[Tree], kind: str) -> list[Tree]:
    """Those of a kind."""
    return [found for found in objects if found["kind"] == kind]


def running(*_: Any) -> Tree:
    """Containers run for an hour."""
    return {"run-duration": "1h"}


def cluster_with(name: str, *, release: str = "1.37", gates: str = "workload-aware", **options: Any) -> Cluster:
    """A cluster without nodes, with workload-aware scheduling, that loads an example."""
    return Cluster(
        nodes=0, clock="manual", kubernetes_version=release, feature_gates=gates, outcome=running,
        load=[FOLDER / f"{name}.yaml"], **options)


class Examples:
    """A cluster on which an example was loaded."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client
        version = VERSIONS[cluster.options.kubernetes_version]
        self.workloads = Resource("scheduling.k8s.io", version, "workloads", "Workload")
        self.groups = Resource("scheduling.k8s.io", version, "podgroups", "PodGroup")

    async def nodes(self, *names: str) -> None:
        """The nodes of nodes.yaml, all or some, some time ago."""
        await self.cluster.load([node for node in example("nodes") if not names or node["metadata"]["name"] in names])
        await self.cluster.advance(30)

    async def node(self, name: str = "small", *, labels: Tree | None = None, **room: int) -> None:
        """One more node, with so much of everything named, some time ago."""
        has = {"cpu": "8", "memory": "64Gi", "pods": "110", **{key: str(value) for key, value in room.items()}}
        await self.cluster.load([{
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}},
            "status": {"capacity": has, "allocatable": has}}])
        await self.cluster.advance(30)

    async def pods(self) -> list[Tree]:
        """All of them, by name."""
        return sorted((await self.client.list(PODS)).items, key=meta.name_of)

    async def more(self, pod: Tree, count: int, namespace: str = "default") -> None:
        """So many pods more, like one of an example."""
        for number in range(count):
            metadata = {**pod["metadata"], "name": f"{meta.name_of(pod)}-{number}", "namespace": namespace}
            await self.client.create(PODS, {**pod, "metadata": metadata})
        await self.cluster.advance(30)

    async def places(self) -> Counter[str]:
        """How many pods each node has; those without one are at ``""``."""
        return Counter(pod["spec"].get("nodeName", "") for pod in await self.pods())

    async def zones(self) -> set[str]:
        """The zones in which pods run."""
        zone_of = {meta.name_of(node): node["metadata"]["labels"][ZONE] for node in example("nodes")}
        return {zone_of.get(name, "zone-a") for name in await self.places() if name}

    async def all_groups(self) -> list[Tree]:
        """The PodGroups, by name."""
        return sorted((await self.client.list(self.groups)).items, key=meta.name_of)

    async def told(self) -> dict[str, tuple[str, str] | None]:
        """By the name of each PodGroup the status and reason of its only condition."""
        found = {}
        for group in await self.all_groups():
            conditions = group["status"].get("conditions") or [None]
            [condition] = conditions
            found[meta.name_of(group)] = condition and (condition["status"], condition["reason"])
        return found
