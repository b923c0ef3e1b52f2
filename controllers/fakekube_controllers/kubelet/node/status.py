"""The Node object that a kubelet registers, and the status that it posts.

Upstream: pkg/kubelet/kubelet_node_status.go (initialNode, tryUpdateNodeStatus),
pkg/kubelet/nodestatus.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import times
from fakekube.apimachinery.conditions import transition_time
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kubelet.node.addresses import address

CAPACITY = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
NOT_READY_TAINT = "node.kubernetes.io/not-ready"

PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
DECLARATION_GATE = "NodeDeclaredFeatures"
DECLARED_FEATURES = (
    "ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers",
    "InPlacePodVerticalScalingMemoryBackedVolumes", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions")
"""What a kubelet declares in its status where the gate of the same name is on, sorted."""
OTHERWISE: Mapping[tuple[str, str], tuple[str, str]] = {
    ("MemoryPressure", "True"): ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    ("DiskPressure", "True"): ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    ("PIDPressure", "True"): ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
    ("Ready", "False"): ("KubeletNotReady", "container runtime is down"),
}
"""What it posts when it is not well: reason and message."""


def initial_node(name: str, labels: Mapping[str, str] | None = None) -> Tree:
    """A node as its kubelet registers it."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {}),
    }}, "spec": {}}


def node_status(
    name: str, number: int, version: str, now: float, capacity: Mapping[str, str] | None = None,
    conditions: Mapping[str, str] | None = None, present: Mapping[str, Any] | None = None, features: Sequence[str] = (),
) -> Tree:
    """The status of a node. ``now`` is Unix seconds; ``conditions`` are what it posts instead of
    being well, by type; ``features`` are those that it declares.

    A condition that ``present``, the status until now, has already keeps the time of its last
    transition.
    """
    text = times.format_time(now)
    resources = dict(capacity or CAPACITY)
    said = dict(conditions or {})
    before = {c["type"]: c for c in (present or {}).get("conditions") or ()}

    def condition(kind: str, value: str, reason: str, message: str) -> Tree:
        wanted = said.pop(kind, value)
        if wanted != value:
            reason, message = OTHERWISE.get((kind, wanted), (f"{kind}{wanted}", f"{kind} is {wanted}"))
        since = transition_time(before.get(kind), wanted, text)
        return {
            "type": kind, "status": wanted, "lastHeartbeatTime": text, "lastTransitionTime": since,
            "reason": reason, "message": message,
        }

    posted = [
        *(condition(kind, "False", reason, message) for kind, reason, message in PRESSURES),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    posted += [condition(kind, "", "", "") for kind in list(said)]
    declared = {"declaredFeatures": list(features)} if features else {}
    return {
        **declared, "capacity": resources, "allocatable": dict(resources),
        "conditions": posted,
        "addresses": [{"type": "InternalIP", "address": address(number)}, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": f"fakekube-{name}", "systemUUID": f"fakekube-{name}", "bootID": f"fakekube-{name}",
            "kernelVersion": "fakekube", "osImage": "fakekube", "containerRuntimeVersion": "fakekube://0",
            "kubeletVersion": f"v{version}.0", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
        },
    }
