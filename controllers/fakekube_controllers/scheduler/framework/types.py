"""Nodes and pods with their resources: in milli-CPUs, bytes, and units of everything else.

Upstream: pkg/scheduler/framework/types.go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson

from fakekube.apimachinery import meta, pod_resources, quantity
from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree

Resources = dict[str, int]

DEFAULT_REQUESTS = {
    "cpu": (100 * pod_resources.MILLI, quantity.DECIMAL), "memory": (200 * 2**20 * quantity.NANO, quantity.BINARY)}
"""Of containers without requests, for scores only."""
# first in the order in which resources are compared
RESOURCE_ORDER = ("cpu", "memory", "ephemeral-storage")
# of a spec, for a PodInfo
COUNTED_FIELDS = ("containers", "initContainers", "overhead", "resources", "priority", "affinity", "volumes")
AFFINITIES = ("podAffinity", "podAntiAffinity")
TERMS = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")


class ImageState(NamedTuple):
    """An image that some nodes have: its size in bytes, and the number of these nodes."""

    size: int
    num_nodes: int


@dataclass(slots=True)
class PodInfo:
    """A pod, and what is computed from it once.

    ``has_affinity``: there is a term of affinity or anti-affinity to pods, required or preferred.
    ``claims``: the namespaces and names of the PersistentVolumeClaims that it names. ``memo``: what
    plugins compute from the pod once, by their names; it is lost when the pod changes.
    """

    pod: ReadOnlyTree
    uid: str
    priority: int
    requests: Resources
    non_zero_requests: Resources  # cpu and memory, with DEFAULT_REQUESTS for containers without
    ports: tuple[tuple[str, str, int], ...]  # host address, protocol, port
    has_affinity: bool = False
    has_required_anti_affinity: bool = False
    claims: tuple[tuple[str, str], ...] = ()
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def at(self, pod: ReadOnlyTree) -> "PodInfo":
        """The same for another state of the pod that counts like this one."""
        return PodInfo(
            pod, self.uid, self.priority, self.requests, self.non_zero_requests, self.ports, self.has_affinity,
            self.has_required_anti_affinity, self.claims)

    def counts_like(self, pod: ReadOnlyTree) -> bool:
        """Whether another state of the pod has the same requests, ports, priority, affinity, claims
        and labels.

        May be False though they are equal.
        """
        if self.pod is pod:
            return True
        before, now = self.pod["spec"], pod["spec"]
        return (all(before.get(name) == now.get(name) for name in COUNTED_FIELDS)
                and self.pod["metadata"].get("labels") == pod["metadata"].get("labels")
                and meta.is_deleting(self.pod) == meta.is_deleting(pod)
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
    affinity = spec.get("affinity")
    volumes = spec.get("volumes")
    return PodInfo(
        pod, str(pod["metadata"]["uid"]), int(spec.get("priority") or 0),
        {name: asked[name] for name in (*(name for name in RESOURCE_ORDER if name in asked), *asked)},
        {"cpu": non_zero_requests.get("cpu", 0), "memory": non_zero_requests.get("memory", 0)}, ports,
        bool(affinity) and any((affinity.get(kind) or {}).get(term) for kind in AFFINITIES for term in TERMS),
        bool(affinity) and bool((affinity.get("podAntiAffinity") or {}).get(TERMS[0])),
        tuple([
            (meta.namespace_of(pod), volume["persistentVolumeClaim"]["claimName"])
            for volume in volumes if "persistentVolumeClaim" in volume
        ]) if volumes else ())


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


@dataclass(slots=True, eq=False)
class NodeInfo:
    """A node with the pods on it and the sums of their requests.

    ``generation`` grows with every change. ``used_ports`` (host address, protocol, port) and
    ``claim_counts`` (namespace, name) say how many of its pods use each; ``images`` are the names
    of the images that it has. ``memo``: what is computed from the node once, by what it is; it is
    lost when the node, or which pods are there, changes, and a copy begins without. One that was
    handed out in a snapshot must not be changed: copy it.
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
    pods_with_affinity: dict[str, PodInfo] = field(default_factory=dict)
    pods_with_required_anti_affinity: dict[str, PodInfo] = field(default_factory=dict)
    used_ports: dict[tuple[str, str, int], int] = field(default_factory=dict)
    claim_counts: dict[tuple[str, str], int] = field(default_factory=dict)
    images: dict[str, int] = field(default_factory=dict)  # sizes in bytes
    _usage: tuple[int, ...] | None = field(default=None, repr=False)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def set_node(self, node: ReadOnlyTree) -> None:
        """Set or update the node itself."""
        self._changed()
        if self.node is None or (self.node.get("status") or {}).get("images") != (node.get("status") or {}).get("images"):
            self.images = {
                name: int(image.get("sizeBytes") or 0)
                for image in reversed((node.get("status") or {}).get("images") or ()) for name in image.get("names") or ()}
        self.node, self.taints = node, node["spec"].get("taints") or ()
        self.allocatable = allocatable_of(node)

    def remove_node(self) -> None:
        """The node does not exist any more."""
        self._changed()
        self.node, self.allocatable, self.taints, self.images = None, {}, (), {}

    def _changed(self) -> None:
        self.generation += 1
        self._usage = None
        if self.memo:
            self.memo = {}

    @property
    def usage(self) -> tuple[int, ...]:
        """What its pods take: see ``usage_of``."""
        usage = self._usage
        if usage is None:
            usage = self._usage = usage_of(self)
        return usage

    def add(self, info: PodInfo) -> None:
        """Add a pod; one that is there already is replaced."""
        if info.uid in self.pods:
            self.remove(info.uid)
        self._changed()
        self.pods[info.uid] = info
        self.priorities[info.priority] = self.priorities.get(info.priority, 0) + 1
        for name, value in info.requests.items():
            self.requested[name] = self.requested.get(name, 0) + value
        for name, value in info.non_zero_requests.items():
            self.non_zero_requested[name] += value
        if info.has_affinity:
            self.pods_with_affinity[info.uid] = info
            if info.has_required_anti_affinity:
                self.pods_with_required_anti_affinity[info.uid] = info
        if info.ports:
            _count(self.used_ports, info.ports, 1)
        if info.claims:
            _count(self.claim_counts, info.claims, 1)

    def remove(self, uid: str) -> None:
        """Remove a pod; harmless when it is not there."""
        info = self.pods.pop(uid, None)
        if info is None:
            return
        self._changed()
        left = self.priorities.pop(info.priority) - 1
        if left:
            self.priorities[info.priority] = left
        for name, value in info.requests.items():
            self.requested[name] -= value
        for name, value in info.non_zero_requests.items():
            self.non_zero_requested[name] -= value
        if info.has_affinity:
            self.pods_with_affinity.pop(uid, None)
            self.pods_with_required_anti_affinity.pop(uid, None)
        if info.ports:
            _count(self.used_ports, info.ports, -1)
        if info.claims:
            _count(self.claim_counts, info.claims, -1)

    def copy(self) -> "NodeInfo":
        """A copy that can be changed."""
        return NodeInfo(
            self.name, self.node, dict(self.pods), dict(self.requested), dict(self.non_zero_requested), self.allocatable,
            self.generation, self.taints, dict(self.priorities), dict(self.pods_with_affinity),
            dict(self.pods_with_required_anti_affinity), dict(self.used_ports), dict(self.claim_counts), self.images,
            self._usage)


K = TypeVar("K")


def _count(counts: dict[K, int], names: Sequence[K], step: int) -> None:
    for name in names:
        left = counts.get(name, 0) + step
        if left:
            counts[name] = left
        else:
            del counts[name]


def allocatable_of(node: ReadOnlyTree) -> Resources:
    """status.allocatable of a node."""
    return pod_resources.whole(pod_resources.read((node.get("status") or {}).get("allocatable")))


# The places of a usage. The least of several usages, number by number, must bound the score of each
# from above, so a share stands there as well with the other sign, where more may be better.
SHARE, COUNTER_SHARE, BALANCE, COUNTER_BALANCE, NON_ZERO_CPU, NON_ZERO_MEMORY, PODS, REQUESTED = range(8)
SHARE_UNIT = 1 << 48  # the whole of a node, in shares of it

Usage = tuple[int, ...]
"""What a node's pods take: see ``usage_of``."""


def usage_of(node: NodeInfo) -> tuple[int, ...]:
    """What the pods of a node take, in numbers.

    The requested shares of cpu and memory together (SHARE) and below zero (COUNTER_SHARE), that of
    cpu less that of memory (BALANCE) and the other way round (COUNTER_BALANCE), each in units of
    which SHARE_UNIT are the whole and each share no more than the whole; cpu and memory with
    DEFAULT_REQUESTS, the number of pods, then (from REQUESTED on) what is requested of each
    allocatable resource, in the order of ``allocatable``.
    """
    requested, allocatable, non_zero = node.requested, node.allocatable, node.non_zero_requested
    has = allocatable.get("cpu", 0)
    cpu = min(requested.get("cpu", 0), has) * SHARE_UNIT // has if has else 0
    has = allocatable.get("memory", 0)
    memory = min(requested.get("memory", 0), has) * SHARE_UNIT // has if has else 0
    return (cpu + memory, -cpu - memory, cpu - memory, memory - cpu, non_zero["cpu"], non_zero["memory"], len(node.pods),
            *[requested.get(name, 0) for name in allocatable])


LEANING, LEANING_MUCH = SHARE_UNIT >> 8, SHARE_UNIT >> 4


def zone_of(usage: tuple[int, ...]) -> int:
    """A number for what kind of usage it is: nothing (0), even (1), more cpu than memory (2, 3), or
    less (4, 5).

    What a pod does to the balance of a node depends on little else.
    """
    if not usage[PODS]:
        return 0
    balance = usage[BALANCE]
    if balance > LEANING:
        return 3 if balance > LEANING_MUCH else 2
    if balance < -LEANING:
        return 5 if balance < -LEANING_MUCH else 4
    return 1
