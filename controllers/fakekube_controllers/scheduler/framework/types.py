"""Nodes and pods as the scheduler counts them: whole milli-CPUs, bytes, and units of everything else.

Upstream: pkg/scheduler/framework/types.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from fakekube.apimachinery import quantity

Tree = Mapping[str, Any]
Resources = dict[str, int]

DEFAULT_CPU_MILLIS, DEFAULT_MEMORY_BYTES = 100, 200 * 1024 * 1024  # of containers that ask for nothing, for scores alone


FIRST = ("cpu", "memory", "ephemeral-storage")  # the order in which resources are looked at, and lack is told


def amount(resource: str, value: Any) -> int:
    """A quantity as an integer, rounded up: cpu in thousandths, the rest in units."""
    parsed = quantity.parse(value)
    return parsed.milli_value if resource == "cpu" else parsed.value


def amounts(values: Mapping[str, Any] | None) -> Resources:
    """A resource list as integers."""
    return {name: amount(name, value) for name, value in (values or {}).items()}


def pod_requests(pod: Tree) -> Resources:
    """What a pod asks for: its containers together, or an init container if that asks for more, and overhead."""
    spec = pod["spec"]
    total = _sum(_requests(c) for c in spec.get("containers") or ())
    sidecars: Resources = {}
    peak: Resources = {}
    for container in spec.get("initContainers") or ():
        asked = _requests(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum([sidecars, asked])
            peak = _max(peak, sidecars)
        else:
            peak = _max(peak, _sum([sidecars, asked]))
    total = _max(_sum([total, sidecars]), peak)
    if spec.get("resources"):
        total = total | amounts(spec["resources"].get("requests"))
    return _sum([total, amounts(spec.get("overhead"))])


def _requests(container: Tree) -> Resources:
    return amounts((container.get("resources") or {}).get("requests"))


def _sum(parts: Iterable[Resources]) -> Resources:
    result: Resources = {}
    for part in parts:
        for name, value in part.items():
            result[name] = result.get(name, 0) + value
    return result


def _max(one: Resources, other: Resources) -> Resources:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


@dataclass(slots=True)
class PodInfo:
    """A pod with what is computed of it once."""

    pod: Tree
    requests: Resources
    weighed: Resources  # cpu and memory as scores count them: what asks for nothing counts a little
    ports: tuple[tuple[str, str, int], ...]  # host address, protocol, port

    @property
    def uid(self) -> str:
        """metadata.uid."""
        return str(self.pod["metadata"]["uid"])

    @property
    def priority(self) -> int:
        """spec.priority."""
        return int(self.pod["spec"].get("priority") or 0)


def pod_info(pod: Tree) -> PodInfo:
    """A pod, its requests and its host ports counted."""
    ports = tuple(
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])  # noqa: S104 - the API's word for any
        for container in pod["spec"].get("containers") or () for port in container.get("ports") or () if port.get("hostPort")
    )
    asked = pod_requests(pod)
    requests = {name: asked[name] for name in (*(name for name in FIRST if name in asked), *asked)}
    weighed = {
        "cpu": requests.get("cpu") or DEFAULT_CPU_MILLIS, "memory": requests.get("memory") or DEFAULT_MEMORY_BYTES,
    }
    return PodInfo(pod, requests, weighed, ports)


def spelled(pod: PodInfo, *fields: str) -> bytes:
    """These fields of a pod's spec, to be compared: empty when it has none of them."""
    spec = pod.pod["spec"]
    found = [spec[name] for name in fields if spec.get(name)]
    return orjson.dumps([spec.get(name) for name in fields]) if found else b""


@dataclass(slots=True)
class NodeInfo:
    """A node with the pods on it, and what they ask for together. ``generation`` grows with every change."""

    name: str
    node: Tree | None = None  # None: pods are bound to it, and it is not there (yet)
    pods: dict[str, PodInfo] = field(default_factory=dict)
    requested: Resources = field(default_factory=dict)
    weighed: Resources = field(default_factory=lambda: {"cpu": 0, "memory": 0})
    allocatable: Resources = field(default_factory=dict)
    generation: int = 0
    taints: Sequence[Mapping[str, str]] = ()

    def set_node(self, node: Tree) -> None:
        """Take what the node says of itself."""
        self.generation += 1
        self.node, self.taints = node, node["spec"].get("taints") or ()
        self.allocatable = amounts((node.get("status") or {}).get("allocatable"))

    def add(self, info: PodInfo) -> None:
        """Count a pod in; one that is there already is counted anew."""
        if info.uid in self.pods:
            self.remove(info.uid)
        self.generation += 1
        self.pods[info.uid] = info
        for name, value in info.requests.items():
            self.requested[name] = self.requested.get(name, 0) + value
        for name, value in info.weighed.items():
            self.weighed[name] += value

    def remove(self, uid: str) -> None:
        """Count a pod out; harmless when it is not there."""
        info = self.pods.pop(uid, None)
        if info is None:
            return
        self.generation += 1
        for name, value in info.requests.items():
            self.requested[name] -= value
        for name, value in info.weighed.items():
            self.weighed[name] -= value

    def copy(self) -> "NodeInfo":
        """A copy to try things on."""
        return NodeInfo(
            self.name, self.node, dict(self.pods), dict(self.requested), dict(self.weighed), self.allocatable, self.generation,
            self.taints)
