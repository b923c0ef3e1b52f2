"""Nodes that the kubelet registers and looks after."""

import pytest

from fakekube.apimachinery.releases import NEWEST
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import EVENTS, LEASES, NODES
from fakekube.composition.cluster import Cluster
from fakekube.runtime.standalone import run_components
from fakekube.util.tasks import Tasks
from fakekube_controllers.kubelet.kubelet import Kubelet


def is_ready(node):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])


async def test_nodes_are_there_and_ready(machine):
    """Given a cluster of one node / then it is ready, has no taint, and says what it has."""
    [node] = (await machine.client.list(NODES)).items
    assert node["metadata"]["name"] == "node-0"
    assert is_ready(node)
    assert "taints" not in node["spec"]
    assert node["status"]["allocatable"]["pods"] == "110"
    assert node["status"]["nodeInfo"]["kubeletVersion"].startswith(f"v{NEWEST.name}.")


async def test_a_node_that_somebody_makes_gets_a_kubelet_too(machine):
    """Given a node made by hand, with a capacity of its own / then it becomes ready, loses the
    taint, and keeps its capacity.
    """
    await machine.client.create(NODES, {"metadata": {"name": "big"}, "status": {"capacity": {"cpu": "64", "pods": "10"}}})
    await machine.advance(1)
    node = await machine.client.get(NODES, "big")
    assert is_ready(node)
    assert "taints" not in node["spec"]
    assert node["status"]["capacity"] == {"cpu": "64", "pods": "10"}


async def test_leases_are_renewed_as_long_as_the_cluster_runs(machine):
    """Given a node / when an hour passes / then its lease was renewed within the last forty
    seconds, whoever reads it.
    """
    await machine.advance(3600)
    lease = await machine.client.get(LEASES, "node-0", "kube-node-lease")
    assert lease["spec"]["holderIdentity"] == "node-0"
    assert lease["spec"]["leaseDurationSeconds"] == 40
    assert lease["spec"]["renewTime"] >= "2026-01-01T00:59:20.000000Z"


async def test_heartbeats_do_not_move_time():
    """Given automatic time and nodes that nobody uses / then time stands still."""
    async with Cluster(nodes=3) as cluster:
        before = cluster.clock.time()
        await cluster.settle()
        assert cluster.clock.time() == before


async def test_no_two_nodes_have_the_same_address(machine):
    """Given two nodes of which the first is deleted, when a third comes, then its address is one
    that nobody has.
    """
    async def address(name):
        return [a["address"] for a in (await machine.client.get(NODES, name))["status"]["addresses"] if a["type"] == "InternalIP"]

    await machine.client.create(NODES, {"metadata": {"name": "second"}})
    await machine.advance(1)
    await machine.client.delete(NODES, "node-0")
    await machine.client.create(NODES, {"metadata": {"name": "third"}})
    await machine.advance(1)
    assert await address("third") != await address("second")


async def schedulable_events(cluster):
    """Reason, message, source and count of the Events that tell of cordons."""
    found = (await cluster.client.list(EVENTS)).items
    return [
        (event["reason"], event["message"], event["source"], event["count"]) for event in found
        if "Schedulable" in event["reason"]]


async def cordon(cluster, name, on=True):
    await cluster.client.patch(NODES, name, body={"spec": {"unschedulable": on or None}})
    await cluster.settle()


async def test_cordons_are_told():
    """Given a node / when it is cordoned, labelled, uncordoned and cordoned again / then its
    kubelet tells of each change once, in upstream's words, and of nothing else.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.settle()
        assert await schedulable_events(cluster) == []
        await cordon(cluster, "node-0")
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"labels": {"a": "b"}}})
        await cordon(cluster, "node-0", on=False)
        source = {"component": "kubelet", "host": "node-0"}
        told = [
            ("NodeNotSchedulable", "Node node-0 status is now: NodeNotSchedulable", source, 1),
            ("NodeSchedulable", "Node node-0 status is now: NodeSchedulable", source, 1)]
        assert await schedulable_events(cluster) == told
        await cordon(cluster, "node-0")
        assert [event[3] for event in await schedulable_events(cluster)] == [2, 1]


async def test_a_kubelet_that_starts_does_not_tell_of_old_cordons():
    """Given a cordoned node / when its kubelet starts anew / then it tells of it no second time;
    but a node that registers cordoned is told.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cordon(cluster, "node-0")
        await cluster.restart_controller("kubelet")
        await cluster.settle()
        assert [event[3] for event in await schedulable_events(cluster)] == [1]
        await cluster.client.create(NODES, {"metadata": {"name": "late"}, "spec": {"unschedulable": True}})
        await cluster.settle()
        assert sorted(event[1] for event in await schedulable_events(cluster)) == [
            "Node late status is now: NodeNotSchedulable", "Node node-0 status is now: NodeNotSchedulable"]


async def test_a_stopped_kubelet_tells_of_a_cordon_when_it_runs_again():
    """Given a node whose kubelet is stopped / when it is cordoned / then nobody tells; once the
    kubelet runs again, it does.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": "stopped"}}})
        await cordon(cluster, "node-0")
        assert await schedulable_events(cluster) == []
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": None}}})
        await cluster.settle()
        assert [event[0] for event in await schedulable_events(cluster)] == ["NodeNotSchedulable"]


@pytest.mark.parametrize("fault", [
    {"verbs": "create", "error": "ServiceUnavailable"}, {"verbs": "create", "cut": "after"},
    {"verbs": "update", "error": "Conflict"}], ids=["refused", "ambiguous", "conflict"])
async def test_a_node_is_registered_in_the_end(fault):
    """Given an API server that fails when a kubelet registers its node / when time passes / then
    the node is there, and ready.
    """
    async with Cluster(nodes=1, clock="manual", faults=[{"resources": "nodes,nodes/status", "nth": 1, **fault}]) as cluster:
        await cluster.advance("10s")
        [node] = (await cluster.client.list(NODES)).items
        assert is_ready(node)


async def test_others_write_to_a_new_node_at_the_same_time():
    """Given a cluster in which somebody labels every node as soon as it is there, when nodes are
    registered, then they become ready.
    """
    async with Cluster(nodes=0, clock="manual") as cluster:
        class Labelling:
            """Writes to a node before each write of its status."""

            def __init__(self):
                self.left = 3

            async def handle(self, request):
                if request.method == "PUT" and request.path.endswith("/status") and self.left:
                    self.left -= 1
                    name = request.path.split("/")[-2]
                    await cluster.client.patch(NODES, name, body={"metadata": {"labels": {"count": str(self.left)}}})
                return await cluster.apiserver.handle(request)

        labelling, tasks = Labelling(), Tasks()
        client = Client(InProcess(labelling))
        running = run_components(client, [Kubelet()], version="1.37", options={"nodes": 1}, clock=cluster.apiserver.clock)
        tasks.spawn(running, "kubelet")
        await cluster.advance(5)
        await tasks.close()
        assert labelling.left == 0
        assert is_ready(await cluster.client.get(NODES, "node-0"))
