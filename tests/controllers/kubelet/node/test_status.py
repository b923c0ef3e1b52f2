"""The whole Node that a kubelet registers, and the whole status that it posts."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import EVENTS, LEASES, NODES
from fakekube.composition.cluster import Cluster
from fakekube.runtime.standalone import run_components
from fakekube.util.tasks import Tasks
from fakekube_controllers.kubelet.kubelet import Kubelet
from fakekube_controllers.kubelet.node import status
from fakekube_controllers.kubelet.node.addresses import Addresses, address, pod_address
from fakekube_controllers.kubelet.node.mode import KubeletMode, KubeletModes

START = "2026-01-01T00:00:00Z"
LABELS = {
    "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": "node-0", "kubernetes.io/os": "linux"}
CAPACITY = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
WELL = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
]
DECLARED = [
    "ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits"]
FEATURES = [
    "ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers",
    "InPlacePodVerticalScalingMemoryBackedVolumes", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions"]



def conditions(node: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [(c["type"], c["status"], c["reason"], c["message"]) for c in node["status"]["conditions"]]


async def test_a_node_is_registered_as_a_kubelet_does() -> None:
    """Given a cluster of one node / then its Node, its lease and who wrote them are these, and
    nothing was told.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.settle()
        [node] = (await cluster.client.list(NODES)).items
        assert (node["metadata"]["name"], node["metadata"]["labels"], node["spec"].get("taints")) == ("node-0", LABELS, None)
        found = dict(node["status"])
        assert [(c["lastHeartbeatTime"], c["lastTransitionTime"]) for c in found["conditions"]] == [(START, START)] * 4
        assert conditions(node) == WELL
        declared = found.pop("declaredFeatures")
        assert declared == DECLARED
        del found["conditions"]
        assert found == {
            "capacity": CAPACITY, "allocatable": CAPACITY,
            "addresses": [{"type": "InternalIP", "address": "192.168.0.1"}, {"type": "Hostname", "address": "node-0"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": "fakekube-node-0", "systemUUID": "fakekube-node-0", "bootID": "fakekube-node-0",
                "kernelVersion": "fakekube", "osImage": "fakekube", "containerRuntimeVersion": "fakekube://0",
                "kubeletVersion": "v1.37.0", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}}
        lease = await cluster.client.get(LEASES, "node-0", "kube-node-lease")
        assert lease["metadata"]["ownerReferences"] == [
            {"apiVersion": "v1", "kind": "Node", "name": "node-0", "uid": node["metadata"]["uid"]}]
        assert lease["spec"] == {"holderIdentity": "node-0", "leaseDurationSeconds": 40,
        "renewTime": "2026-01-01T00:00:00.000000Z"}
        assert [e["reason"] for e in (await cluster.client.list(EVENTS)).items if e["source"].get("component") == "kubelet"] == []


def test_features_are_declared_where_there_are_any() -> None:
    """Given features / then a status declares them, and says nothing without any."""
    assert status.node_status("n", 0, "1.37", 0.0, features=("A", "B"))["declaredFeatures"] == ["A", "B"]
    assert "declaredFeatures" not in status.node_status("n", 0, "1.37", 0.0)
    assert list(status.DECLARED_FEATURES) == FEATURES
    assert status.initial_node("n", {"zone": "z"})["metadata"]["labels"]["zone"] == "z"


@pytest.mark.parametrize(("said", "expected"), [
    ("MemoryPressure=True",
     ("MemoryPressure", "True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available")),
    ("DiskPressure", ("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure")),
    (" PIDPressure=yes ", ("PIDPressure", "True", "KubeletHasInsufficientPID", "kubelet has insufficient PID available")),
    ("Ready=False", ("Ready", "False", "KubeletNotReady", "container runtime is down")),
    ("Ready=Unknown", ("Ready", "Unknown", "ReadyUnknown", "Ready is Unknown")),
    ("MemoryPressure=Unknown", ("MemoryPressure", "Unknown", "MemoryPressureUnknown", "MemoryPressure is Unknown")),
    ("Frozen=True", ("Frozen", "True", "FrozenTrue", "Frozen is True")),
    ("=True,Broken=False", ("Broken", "False", "BrokenFalse", "Broken is False")),
])
async def test_an_annotation_changes_what_is_posted(said: str, expected: tuple[str, ...]) -> None:
    """Given the annotation of conditions / when it is set, then it is posted, in a kubelet's words,
    the rest as before; when it is taken away, then the node is well again.
    """
    async with Cluster(nodes=1, clock="manual", controllers="kubelet") as cluster:
        await cluster.advance(5)
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/conditions": said}}})
        await cluster.settle()
        node = await cluster.client.get(NODES, "node-0")
        known = [each for each in WELL if each[0] != expected[0]]
        at = next((number for number, each in enumerate(WELL) if each[0] == expected[0]), len(known))
        assert conditions(node) == [*known[:at], expected, *known[at:]]
        times = {c["type"]: c["lastTransitionTime"] for c in node["status"]["conditions"]}
        assert times.pop(expected[0]) == "2026-01-01T00:00:05Z"
        assert set(times.values()) == {START}
        told = [(e["type"], e["reason"], e["message"], e["source"]) for e in (await cluster.client.list(EVENTS)).items]
        event = ("Normal", "NodeNotReady", "Node node-0 status is now: NodeNotReady", {"component": "kubelet", "host": "node-0"})
        assert told == ([event] if expected[0] == "Ready" else [])
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/conditions": None}}})
        await cluster.settle()
        assert conditions(await cluster.client.get(NODES, "node-0"))[:4] == WELL


async def test_the_taint_goes_with_readiness_and_other_taints_stay() -> None:
    """Given a node that somebody makes with taints and allocatable of its own / when it becomes
    ready / then the taint of new nodes is gone, the others and what it has stay.
    """
    async with Cluster(nodes=0, clock="manual", controllers="kubelet") as cluster:
        taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]
        await cluster.client.create(NODES, {"metadata": {"name": "n"}, "spec": {"taints": taints}, "status": {
            "capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}})
        await cluster.settle()
        node = await cluster.client.get(NODES, "n")
        assert node["spec"]["taints"] == taints[1:]
        assert (node["status"]["capacity"], node["status"]["allocatable"]) == ({"cpu": "4"}, {"cpu": "3"})


async def test_a_node_of_which_nothing_is_written_gets_no_lease_either() -> None:
    """Given a node that is made with a stopped kubelet / when an hour passes / then it has neither
    conditions nor a lease.
    """
    async with Cluster(nodes=0, clock="manual", controllers="kubelet") as cluster:
        await cluster.client.create(NODES, {"metadata": {"name": "n", "annotations": {"fakekube.dev/kubelet": "stopped"}}})
        await cluster.advance(3600)
        assert "conditions" not in (await cluster.client.get(NODES, "n")).get("status", {})
        with pytest.raises(APIError, match='"n" not found'):
            await cluster.client.get(LEASES, "n", "kube-node-lease")


async def test_nodes_have_the_capacity_that_they_are_given() -> None:
    """Given a capacity for all nodes / then each that is registered has it, and a name of its own.
    """
    async with Cluster(nodes=0, clock="manual") as cluster:
        tasks, given = Tasks(), {"nodes": 2, "node_capacity": {"cpu": "2", "pods": "5"}}
        client, clock = Client(InProcess(cluster.apiserver)), cast("Any", cluster.apiserver.clock)
        tasks.spawn(run_components(client, [Kubelet()], version="1.37", options=given, clock=clock), "kubelet")
        await cluster.advance(5)
        await tasks.close()
        nodes = (await cluster.client.list(NODES)).items
        assert [(n["status"]["capacity"], n["status"]["allocatable"]) for n in nodes] == [({"cpu": "2", "pods": "5"},) * 2] * 2
        assert [n["metadata"]["labels"]["kubernetes.io/hostname"] for n in nodes] == ["node-0", "node-1"]


def test_addresses_follow_from_the_order() -> None:
    """Given nodes and pods / then addresses go up in order, wrap at the end of a range, are kept as
    long as what has them, and no number is given twice.
    """
    assert [address(number) for number in (0, 1, 249, 250, 501)] == [
        "192.168.0.1", "192.168.0.2", "192.168.0.250", "192.168.1.1", "192.168.2.2"]
    assert [pod_address(*pair) for pair in ((0, 0), (0, 249), (0, 250), (1, 3), (255, 0), (256, 0), (257, 1))] == [
        "10.244.0.2", "10.244.0.251", "10.244.0.2", "10.244.1.5", "10.244.255.2", "10.245.0.2", "10.245.1.3"]
    known = Addresses()
    assert [known.of_node(name) for name in ("a", "b", "a")] == ["192.168.0.1", "192.168.0.2", "192.168.0.1"]
    assert [known.of_pod("b", uid, False) for uid in ("p", "q", "p")] == ["10.244.1.2", "10.244.1.3", "10.244.1.2"]
    assert (known.of_pod("b", "h", True), known.of_pod("a", "r", False)) == ("192.168.0.2", "10.244.0.2")
    known.forget_pod("p")
    known.forget_node("a")
    assert (known.of_pod("b", "p", False), known.number_of("c"), known.number_of("a")) == ("10.244.1.4", 2, 3)
    other = Addresses()
    other.load(known.dump())
    assert (other.number_of("a"), other.number_of("d"), other.of_pod("b", "q", False), other.of_pod("b", "s", False)) == (
        3, 4, "10.244.1.3", "10.244.1.5")
    fresh = Addresses()
    fresh.load(Addresses().dump())
    assert fresh.number_of("x") == 0


def test_a_kubelet_is_as_its_nodes_annotation_says() -> None:
    """Given a Node's annotation / then its kubelet is stopped, shuts down or runs; only a change is
    news.
    """
    modes = KubeletModes()

    def read(value: str | None) -> bool:
        return modes.read({"metadata": {"name": "n", "annotations": {} if value is None else {"fakekube.dev/kubelet": value}}})

    seen = [(read(value), modes.of("n"), modes.is_stopped("n"), modes.is_shutting_down("n")) for value in (
        None, "running", "stopped", "stopped", "shutdown", "nonsense")]
    run, stop, shut = KubeletMode.RUNNING, KubeletMode.STOPPED, KubeletMode.SHUTDOWN
    assert seen == [
        (False, run, False, False), (False, run, False, False), (True, stop, True, False), (False, stop, True, False),
        (True, shut, False, True), (True, run, False, False)]
    assert [str(mode) for mode in KubeletMode] == ["running", "stopped", "shutdown"]
    read("stopped")
    modes.forget("n")
    modes.forget("n")
    assert not modes.is_stopped("n")
    read("shutdown")
    modes.clear()
    assert modes.of("n") is run
