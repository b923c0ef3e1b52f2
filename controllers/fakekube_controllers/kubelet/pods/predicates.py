"""Whether a node takes a pod: what the kubelet checks again, whoever bound the pod.

Upstream: pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/nodeshutdown. Left out: preemption for
critical pods, volumes, topology and devices.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fakekube.apimachinery import meta, placement, pod_resources, quantity
from fakekube.apimachinery.types import ReadOnlyTree

Requests = dict[str, int]


class Rejection(NamedTuple):
    """Why a node does not take a pod."""

    reason: str
    message: str


SHUTTING_DOWN = Rejection("NodeShutdown", "Pod was rejected as the node is shutting down.")


def requests_of(pod: ReadOnlyTree) -> Requests:
    """What a pod asks for: thousandths of a CPU, and units of all else."""
    spec = pod["spec"]
    if not spec.get("resources") and not spec.get("overhead") and not any(
            c.get("resources") for c in (*spec["containers"], *(spec.get("initContainers") or ()))):
        return {}
    return pod_resources.whole(pod_resources.requests(pod))


class Allocations:
    """The requests of the pods on each node."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, Requests]] = {}
        self._used: dict[str, Requests] = {}

    def add(self, node: str, uid: str, requests: Requests) -> None:
        """A pod is on a node."""
        if uid not in self._pods.setdefault(node, {}):
            self._pods[node][uid] = requests
            self._change(node, requests, 1)

    def remove(self, node: str, uid: str) -> None:
        """A pod is there no more, or needs nothing any more."""
        requests = self._pods.get(node, {}).pop(uid, None)
        if requests:
            self._change(node, requests, -1)

    def _change(self, node: str, requests: Requests, sign: int) -> None:
        used = self._used.setdefault(node, {})
        for name, amount in requests.items():
            used[name] = used.get(name, 0) + sign * amount

    def insufficient(self, node: ReadOnlyTree, requests: Requests) -> Rejection | None:
        """The resource that a node has too little of for another pod; None when it has enough."""
        name, status = meta.name_of(node), node.get("status") or {}
        texts = status.get("allocatable") or status.get("capacity") or {}
        count, used = len(self._pods.get(name, ())), self._used.get(name, {})
        if "pods" in texts and count + 1 > (places := quantity.parse(texts["pods"]).value):
            return _out_of("pods", 1, count, places)
        # An extended resource that the node does not know is not the kubelet's to refuse.
        wanted = {name: amount for name, amount in requests.items() if amount and (name in texts or "/" not in name)}
        if wanted:
            has = pod_resources.whole(pod_resources.read(texts))
            for resource, amount in wanted.items():
                if amount > has.get(resource, 0) - used.get(resource, 0):
                    return _out_of(resource, amount, used.get(resource, 0), has.get(resource, 0))
        return None


def _out_of(name: str, requested: int, used: int, capacity: int) -> Rejection:
    return Rejection(f"OutOf{name}", (
        f"Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"))


def failed_predicate(pod: ReadOnlyTree, node: ReadOnlyTree, others: Callable[[str], Iterable[ReadOnlyTree]]) -> Rejection | None:
    """Why the node does not take the pod beside those that ``others(name)`` has there, apart from
    what it lacks; None when it does.
    """
    spec = pod["spec"]
    if not placement.selects(spec, meta.name_of(node), meta.labels_of(node)):
        return _predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    mine = _ports(pod)
    if mine and any(_clash(mine, _ports(other)) for other in others(meta.name_of(node))):
        return _predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    if placement.untolerated(node["spec"].get("taints") or (), spec.get("tolerations") or (), ("NoExecute",)) is not None:
        return _predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
    return None


def _predicate(name: str, why: str) -> Rejection:
    return Rejection(name, f"Predicate {name} failed: {why}")


def _ports(pod: ReadOnlyTree) -> list[tuple[str, str, int]]:
    return [
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])  # noqa: S104 - a pod's, not ours
        for container in pod["spec"]["containers"] for port in container.get("ports") or () if port.get("hostPort")]


def _clash(mine: list[tuple[str, str, int]], theirs: list[tuple[str, str, int]]) -> bool:
    return any(
        one[1:] == other[1:] and (one[0] == other[0] or "0.0.0.0" in (one[0], other[0]))  # noqa: S104
        for one in mine for other in theirs)
