"""What one does to a node in a test."""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import NODES, PODS
from fakekube.composition.cluster import Cluster


@pytest.fixture
async def cluster():
    async with Cluster(nodes=2, clock="manual") as cluster:
        yield cluster


async def ready(cluster):
    return meta.find_condition(await cluster.client.get(NODES, "node-0"), "Ready")["status"]


async def test_a_kubelet_is_stopped_and_started(cluster):
    """Given a node / when its kubelet is stopped for a minute, and started / then it is unknown,
    and ready again.
    """
    node = cluster.node("node-0")
    await node.stop_kubelet()
    await cluster.advance(60)
    assert await ready(cluster) == "Unknown"
    await node.start_kubelet()
    await cluster.advance(1)
    assert await ready(cluster) == "True"


async def test_conditions_are_set_and_taken_back(cluster):
    """Given a node / when it is told to be under pressure, and to be well / then it posts one after
    the other.
    """
    node = cluster.node("node-0")
    await node.set_conditions(DiskPressure=True, Ready=False)
    await cluster.advance(1)
    conditions = {c["type"]: c["status"] for c in (await node.get())["status"]["conditions"]}
    assert (conditions["DiskPressure"], conditions["Ready"]) == ("True", "False")
    await node.set_conditions()
    await cluster.advance(1)
    assert await ready(cluster) == "True"


async def test_taints_are_added_changed_and_taken_away(cluster):
    """Given a node / when it is tainted twice with a key and effect / then the second value holds /
    when it is untainted / then nothing is left.
    """
    node = cluster.node("node-0")
    await node.taint("a", "NoSchedule", "1")
    await node.taint("a", "NoSchedule", "2")
    await node.taint("a", "PreferNoSchedule")
    assert (await node.get())["spec"]["taints"] == [
        {"key": "a", "value": "2", "effect": "NoSchedule"}, {"key": "a", "effect": "PreferNoSchedule"}]
    await node.untaint("a", "NoSchedule")
    assert len((await node.get())["spec"]["taints"]) == 1
    await node.untaint("a")
    assert "taints" not in (await node.get())["spec"]


async def test_a_drain_moves_pods_and_leaves_those_of_daemon_sets(cluster):
    """Given a pod and one of a DaemonSet's on a node / when it is drained / then it is cordoned,
    and the first alone goes.
    """
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}
    for name, owners in (("plain", []), ("daemon", [owner])):
        await cluster.client.create(PODS, {
            "metadata": {"name": name, "namespace": "kube-system", "ownerReferences": owners, "finalizers": ["example.com/hold"]},
            "spec": {"nodeName": "node-0", "containers": [{"name": "main", "image": "busybox"}]}})
    await cluster.settle()
    assert await cluster.node("node-0").drain() == ["kube-system/plain"]
    assert (await cluster.node("node-0").get())["spec"]["unschedulable"]
    assert meta.is_deleting(await cluster.client.get(PODS, "plain", "kube-system"))
    await cluster.node("node-0").uncordon()
    assert "unschedulable" not in (await cluster.node("node-0").get())["spec"]


async def test_a_node_is_shut_down_or_taken_away(cluster):
    """Given nodes / when one is shut down and another deleted / then the first is not ready and the
    second is gone.
    """
    await cluster.node("node-0").shut_down()
    await cluster.node("node-1").delete()
    await cluster.advance(1)
    assert await ready(cluster) == "False"
    with pytest.raises(APIError, match="not found"):
        await cluster.node("node-1").get()
