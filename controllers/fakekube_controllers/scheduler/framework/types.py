"""Nodes and pods with their resources: in milli-CPUs, bytes, and units of everything else.

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
"""Of containers without requests, for scores only."""
# first in the order in which resources are compared
RESOURCE_ORDER = ("cpu", "memory", "ephemeral-storage")
# of a spec, for a PodInfo
COUNTED_FIELDS = ("containers", "initContainers", "overhead", "resources", "priority")


@dataclass(slots=True)
class PodInfo:
    """A pod, and what is computed from it once."""

    pod: ReadOnlyTree
    uid: str
    priority: int
    requests: Resources
    non_zero_requests: Resources  # cpu and memory, with DEFAULT_REQUESTS for containers without
    ports: tuple[tuple[str, str, int], ...]  # host address, protocol, port

    def at(self, pod: ReadOnlyTree) -> "PodInfo":
        """The same for another state of the pod with the same requests, ports and priority."""
        return PodInfo(pod, self.uid, self.priority, self.requests, self.non_zero_requests, self.ports)

    def counts_like(self, pod: ReadOnlyTree) -> bool:
        """Whether another state of the pod has the same requests, ports and priority.

        May be False though they are equal.
        """
        if self.pod is pod:
            return True
        before, now = self.pod["spec"], pod["spec"]
        return (all(before.get(name) == now.get(name) for name in COUNTED_FIELDS)
                and pod_resources.in_flight(self.pod.get("status")) == pod_resources.in_flight(pod.get("status")))


def pod_info(pod: ReadOnlyTree, options: Options = IN_FLIGHT) -> PodInfo:
    """The PodInfo of a pod."""
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
    non_zero_requests = asked
    if missing and not _requests_cpu_and_memory(spec):
        non_zero_requests = pod_resources.whole(pod_resources.requests(pod, options._replace(missing=missing)))
    return PodInfo(
        pod, str(pod["metadata"]["uid"]), int(spec.get("priority") or 0),
        {name: asked[name] for name in (*(name for name in RESOURCE_ORDER if name in asked), *asked)},
        {"cpu": non_zero_requests.get("cpu", 0), "memory": non_zero_requests.get("memory", 0)}, ports)


def _requests_cpu_and_memory(spec: ReadOnlyTree) -> bool:
    """Whether all containers do."""
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        requests = (container.get("resources") or {}).get("requests") or {}
        if "cpu" not in requests or "memory" not in requests:
            return False
    return True


def encoded_fields(pod: PodInfo, *fields: str) -> bytes:
    """These fields of a pod's spec as JSON, to be compared; empty when it has none of them."""
    spec = pod.pod["spec"]
    found = [spec[name] for name in fields if spec.get(name)]
    return orjson.dumps([spec.get(name) for name in fields]) if found else b""


@dataclass(slots=True)
class NodeInfo:
    """A node with the pods on it and the sums of their requests.

    ``generation`` grows with every change.
    """

    name: str
    node: ReadOnlyTree | None = None  # None: pods are bound to a node that does not exist (yet)
    pods: dict[str, PodInfo] = field(default_factory=dict)
    requested: Resources = field(default_factory=dict)
    non_zero_requested: Resources = field(default_factory=lambda: {"cpu": 0, "memory": 0})
    allocatable: Resources = field(default_factory=dict)
    generation: int = 0
    taints: Sequence[Mapping[str, str]] = ()
    priorities: dict[int, int] = field(default_factory=dict)  # the number of pods by priority
    # by the ResourcePlugin, in a snapshot
    usage: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    def set_node(self, node: ReadOnlyTree) -> None:
        """Set or update the node itself."""
        self.generation += 1
        self.node, self.taints = node, node["spec"].get("taints") or ()
        self.allocatable = allocatable_of(node)

    def remove_node(self) -> None:
        """The node does not exist any more."""
        self.generation += 1
        self.node, self.allocatable, self.taints = None, {}, ()

    def add(self, info: PodInfo) -> None:
        """Add a pod; one that is there already is replaced."""
        if info.uid in self.pods:
            self.remove(info.uid)
        self.generation += 1
        self.pods[info.uid] = info
        self.priorities[info.priority] = self.priorities.get(info.priority, 0) + 1
        for name, value in info.requests.items():
            self.requested[name] = self.requested.get(name, 0) + value
        for name, value in info.non_zero_requests.items():
            self.non_zero_requested[name] += value

    def remove(self, uid: str) -> None:
        """Remove a pod; harmless when it is not there."""
        info = self.pods.pop(uid, None)
        if info is None:
            return
        self.generation += 1
        left = self.priorities.pop(info.priority) - 1
        if left:
            self.priorities[info.priority] = left
        for name, value in info.requests.items():
            self.requested[name] -= value
        for name, value in info.non_zero_requests.items():
            self.non_zero_requested[name] -= value

    def copy(self) -> "NodeInfo":
        """A copy that can be changed."""
        return NodeInfo(
            self.name, self.node, dict(self.pods), dict(self.requested), dict(self.non_zero_requested), self.allocatable,
            self.generation, self.taints, dict(self.priorities))


def allocatable_of(node: ReadOnlyTree) -> Resources:
    """status.allocatable of a node."""
    return pod_resources.whole(pod_resources.read((node.get("status") or {}).get("allocatable")))
