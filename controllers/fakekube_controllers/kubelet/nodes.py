"""The nodes of a fake cluster: what they have, that they are ready, and the leases that say that they still are.

Upstream: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus, component-helpers/apimachinery/lease.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import times
from fakekube.apimachinery.types import Tree

CAPACITY = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
LEASE_NAMESPACE = "kube-node-lease"
LEASE_DURATION_SECONDS = 40
RENEW_SECONDS = 10.0
NOT_READY_TAINT = "node.kubernetes.io/not-ready"


PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
OTHERWISE: Mapping[tuple[str, str], tuple[str, str]] = {
    ("MemoryPressure", "True"): ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    ("DiskPressure", "True"): ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    ("PIDPressure", "True"): ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
    ("Ready", "False"): ("KubeletNotReady", "container runtime is down"),
}
"""What it posts when it is not well: reason and message."""


class Addresses:
    """Where nodes and pods are. ``numbers`` are the places of the nodes among those that there ever were; new ones are added.

    ``of_pods`` are the addresses of pods that are there, by uid, and ``pod_numbers`` the place of each node's latest pod.
    """

    def __init__(self, numbers: dict[str, int], of_pods: dict[str, str], pod_numbers: dict[str, int]) -> None:
        self.numbers, self._of_pods, self._pod_numbers = numbers, of_pods, pod_numbers

    def dump(self) -> Tree:
        """All of it, for another kubelet."""
        return {"nodes": dict(self.numbers), "addresses": dict(self._of_pods), "pods": dict(self._pod_numbers)}

    def number_of(self, node: str) -> int:
        """The place of a node among those that there ever were; addresses come from it."""
        return self.numbers.setdefault(node, len(self.numbers))

    def of_node(self, node: str) -> str:
        """A node's address."""
        return address(self.number_of(node))

    def of_pod(self, node: str, uid: str, on_host: bool) -> str:
        """A pod's address: its node's, or one of its own for as long as it is there."""
        if on_host:
            return self.of_node(node)
        found = self._of_pods.get(uid)
        if found is None:
            number = self._pod_numbers[node] = self._pod_numbers.get(node, -1) + 1
            found = self._of_pods[uid] = pod_address(self.number_of(node), number)
        return found

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._of_pods.pop(uid, None)


def address(number: int) -> str:
    """The address of the cluster's Nth node."""
    return f"192.168.{number // 250}.{number % 250 + 1}"


def pod_address(node_number: int, pod_number: int) -> str:
    """The address of a node's Nth pod."""
    return f"10.{244 + node_number // 256}.{node_number % 256}.{pod_number % 250 + 2}"


def node(name: str, labels: Mapping[str, str] | None = None) -> Tree:
    """A node as its kubelet registers it."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {}),
    }}, "spec": {}}


def status(
    name: str, number: int, version: str, now: float, capacity: Mapping[str, str] | None = None,
    conditions: Mapping[str, str] | None = None, present: Mapping[str, Any] | None = None,
) -> Tree:
    """The status of a node. ``now`` is Unix seconds; ``conditions`` are what it posts instead of being well, by type.

    A condition that ``present``, the status until now, has already keeps the time of its last transition.
    """
    text = times.format_time(now)
    resources = dict(capacity or CAPACITY)
    said = dict(conditions or {})
    before = {c["type"]: c for c in (present or {}).get("conditions") or ()}

    def condition(kind: str, value: str, reason: str, message: str) -> Tree:
        wanted = said.pop(kind, value)
        if wanted != value:
            reason, message = OTHERWISE.get((kind, wanted), (f"{kind}{wanted}", f"{kind} is {wanted}"))
        old = before.get(kind, {})
        since = old.get("lastTransitionTime") if old.get("status") == wanted else None
        return {
            "type": kind, "status": wanted, "lastHeartbeatTime": text, "lastTransitionTime": since or text,
            "reason": reason, "message": message,
        }

    posted = [
        *(condition(kind, "False", reason, message) for kind, reason, message in PRESSURES),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    posted += [condition(kind, "", "", "") for kind in list(said)]
    return {
        "capacity": resources, "allocatable": dict(resources),
        "conditions": posted,
        "addresses": [{"type": "InternalIP", "address": address(number)}, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": f"fakekube-{name}", "systemUUID": f"fakekube-{name}", "bootID": f"fakekube-{name}",
            "kernelVersion": "fakekube", "osImage": "fakekube", "containerRuntimeVersion": "fakekube://0",
            "kubeletVersion": f"v{version}.0", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
        },
    }


def lease(name: str, uid: str, now: float) -> Tree:
    """The lease by which a node says that it lives."""
    return {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}]},
        "spec": {
            "holderIdentity": name, "leaseDurationSeconds": LEASE_DURATION_SECONDS, "renewTime": times.format_micro_time(now)},
    }
