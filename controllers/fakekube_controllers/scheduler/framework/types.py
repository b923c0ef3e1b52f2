"""Nodes and pods as the scheduler counts them: whole milli-CPUs, bytes, and units of everything else.

Upstream: pkg/scheduler/framework/types.go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from fakekube.apimachinery import pod_resources, quantity
from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree

Resources = dict[str, int]

DEFAULT_REQUESTS = {
    "cpu": (100 * pod_resources.MILLI, quantity.DECIMAL), "memory": (200 * 2**20 * quantity.NANO, quantity.BINARY)}
"""Of containers that request nothing, for scores alone."""
FIRST = ("cpu", "memory", "ephemeral-storage")  # the order in which resources are looked at, and lack is told
COUNTED = ("containers", "initContainers", "overhead", "resources", "priority")  # all of a spec that a PodInfo is made of


@dataclass(slots=True)
class PodInfo:
    """A pod with what is computed of it once."""

    pod: ReadOnlyTree
    uid: str
    priority: int
    requests: Resources
    weighed: Resources  # cpu and memory as scores count them: a container that requests nothing counts a little
    ports: tuple[tuple[str, str, int], ...]  # host address, protocol, port

    def at(self, pod: ReadOnlyTree) -> "PodInfo":
        """The same for another state of the pod that counts like this one."""
        return PodInfo(pod, self.uid, self.priority, self.requests, self.weighed, self.ports)

    def counts_like(self, pod: ReadOnlyTree) -> bool:
        """Whether another state of the pod has the same requests, ports and priority, as far as that is quickly seen."""
        if self.pod is pod:
            return True
        before, now = self.pod["spec"], pod["spec"]
        return (all(before.get(name) == now.get(name) for name in COUNTED)
                and pod_resources.in_flight(self.pod.get("status")) == pod_resources.in_flight(pod.get("status")))


def pod_info(pod: ReadOnlyTree, options: Options = IN_FLIGHT) -> PodInfo:
    """A pod, its requests and its host ports counted."""
    spec = pod["spec"]
    ports = tuple([
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])  # noqa: S104 - the API's word for any
        for container in spec.get("containers") or () for port in container.get("ports") or () if port.get("hostPort")
    ])
    total = pod_resources.requests(pod, options)
    asked = pod_resources.whole(total)
    missing = DEFAULT_REQUESTS
    if (spec.get("resources") or {}).get("requests"):
        missing = {name: amount for name, amount in missing.items() if name not in total}
    weighed = asked
    if missing and not _says_all(spec):
        weighed = pod_resources.whole(pod_resources.requests(pod, options._replace(missing=missing)))
    return PodInfo(
        pod, str(pod["metadata"]["uid"]), int(spec.get("priority") or 0),
        {name: asked[name] for name in (*(name for name in FIRST if name in asked), *asked)},
        {"cpu": weighed.get("cpu", 0), "memory": weighed.get("memory", 0)}, ports)


def _says_all(spec: ReadOnlyTree) -> bool:
    """Whether every container requests cpu and memory."""
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        requests = (container.get("resources") or {}).get("requests") or {}
        if "cpu" not in requests or "memory" not in requests:
            return False
    return True


def spelled(pod: PodInfo, *fields: str) -> bytes:
    """These fields of a pod's spec, to be compared: empty when it has none of them."""
    spec = pod.pod["spec"]
    found = [spec[name] for name in fields if spec.get(name)]
    return orjson.dumps([spec.get(name) for name in fields]) if found else b""


@dataclass(slots=True)
class NodeInfo:
    """A node with the pods on it, and what they ask for together. ``generation`` grows with every change."""

    name: str
    node: ReadOnlyTree | None = None  # None: pods are bound to it, and it is not there (yet)
    pods: dict[str, PodInfo] = field(default_factory=dict)
    requested: Resources = field(default_factory=dict)
    weighed: Resources = field(default_factory=lambda: {"cpu": 0, "memory": 0})
    allocatable: Resources = field(default_factory=dict)
    generation: int = 0
    taints: Sequence[Mapping[str, str]] = ()
    priorities: dict[int, int] = field(default_factory=dict)  # how many of its pods have which
    load: tuple[int, ...] | None = field(default=None, repr=False, compare=False)  # of a snapshot's node, told once for all views

    def set_node(self, node: ReadOnlyTree) -> None:
        """Take what the node says of itself."""
        self.generation += 1
        self.node, self.taints = node, node["spec"].get("taints") or ()
        self.allocatable = allocatable_of(node)

    def drop_node(self) -> None:
        """The node is not there any more."""
        self.generation += 1
        self.node, self.allocatable, self.taints = None, {}, ()

    def add(self, info: PodInfo) -> None:
        """Count a pod in; one that is there already is counted anew."""
        if info.uid in self.pods:
            self.remove(info.uid)
        self.generation += 1
        self.pods[info.uid] = info
        self.priorities[info.priority] = self.priorities.get(info.priority, 0) + 1
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
        left = self.priorities.pop(info.priority) - 1
        if left:
            self.priorities[info.priority] = left
        for name, value in info.requests.items():
            self.requested[name] -= value
        for name, value in info.weighed.items():
            self.weighed[name] -= value

    def copy(self) -> "NodeInfo":
        """A copy to try things on."""
        return NodeInfo(
            self.name, self.node, dict(self.pods), dict(self.requested), dict(self.weighed), self.allocatable, self.generation,
            self.taints, dict(self.priorities))


def allocatable_of(node: ReadOnlyTree) -> Resources:
    """What pods may take of a node."""
    return pod_resources.whole(pod_resources.read((node.get("status") or {}).get("allocatable")))
