"""Nodes that fall silent, are given up, and come back."""

import pytest

from fakekube.apimachinery import meta
from fakekube.client.resources import EVENTS, LEASES, NODES, PODS
from fakekube.composition.cluster import Cluster

KUBELET = "fakekube.dev/kubelet"
UNREACHABLE, NOT_READY = "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"


@pytest.fixture
async def cluster():
    async with Cluster(nodes=3, clock="manual", event_ttl="2d") as cluster:
        yield cluster


async def annotate(cluster, node, **annotations):
    named = {f"fakekube.dev/{key}": value for key, value in annotations.items()}
    await cluster.client.patch(NODES, node, body={"metadata": {"annotations": named}})
    await cluster.settle()


async def bind(cluster, name="p", node="node-0", **spec):
    await cluster.client.create(PODS, {"metadata": {"name": name, "namespace": "default"}, "spec": {
        "nodeName": node, "containers": [{"name": "main", "image": "busybox"}], **spec}})
    await cluster.advance(2)


async def ready(cluster, node="node-0"):
    condition = meta.find_condition(await cluster.client.get(NODES, node), "Ready")
    return condition["status"], condition["reason"]


async def taints(cluster, node="node-0"):
    found = (await cluster.client.get(NODES, node))["spec"].get("taints") or []
    return sorted((taint["key"], taint["effect"]) for taint in found)


async def told(cluster, name):
    events = (await cluster.client.list(EVENTS, "default")).items
    return [(e["reason"], e["message"]) for e in events if e["involvedObject"]["name"] == name]


async def test_a_node_is_registered_once(cluster):
    """Given new nodes / then the controller has told of each, in upstream's words."""
    assert await told(cluster, "node-1") == [("RegisteredNode", "Node node-1 event: Registered Node node-1 in Controller")]


async def test_a_node_that_falls_silent_is_given_up_after_its_grace_period(cluster):
    """Given a node whose kubelet stops / then it is ready for another forty seconds at least, and
    unknown after fifty-five, with the taints of a node that nobody reaches.
    """
    await bind(cluster)
    await annotate(cluster, "node-0", kubelet="stopped")
    await cluster.advance(39)
    assert await ready(cluster) == ("True", "KubeletReady")
    await cluster.advance(16)
    assert await ready(cluster) == ("Unknown", "NodeStatusUnknown")
    assert await taints(cluster) == [(UNREACHABLE, "NoExecute"), (UNREACHABLE, "NoSchedule")]
    pod = await cluster.client.get(PODS, "p", "default")
    assert meta.find_condition(pod, "Ready")["status"] == "False"
    assert ("NodeNotReady", "Node is not ready") in await told(cluster, "p")
    assert ("NodeNotReady", "Node node-0 status is now: NodeNotReady") in await told(cluster, "node-0")
    assert [await ready(cluster, other) for other in ("node-1", "node-2")] == [("True", "KubeletReady")] * 2


async def test_a_long_jump_of_time_makes_nobody_late(cluster):
    """Given nodes that are well / when a day passes in steps of all sizes / then none was ever
    given up.
    """
    for seconds in (60, 49, 51, 3600, 80_000, 10):
        await cluster.advance(seconds)
        assert [await ready(cluster, f"node-{number}") for number in range(3)] == [("True", "KubeletReady")] * 3
    assert [len(await told(cluster, f"node-{number}")) for number in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("seed", range(1, 13))
async def test_a_renewal_that_is_late_makes_nobody_late(seed):
    """Given a node that is well, and a seed that makes requests and watches late / when time jumps
    / then it was never given up: in a real cluster it would have renewed its lease long before.
    """
    async with Cluster(clock="manual", schedule=f"1:{seed}", event_ttl="2d") as cluster:
        for seconds in (49, 51, 600, 3600, 10):
            await cluster.advance(seconds)
            assert await ready(cluster) == ("True", "KubeletReady")
        assert len(await told(cluster, "node-0")) == 1


async def test_a_node_that_is_back_is_as_before(cluster):
    """Given a node that was given up / when its kubelet is back / then it is ready, has no taints,
    and its pod is ready again.
    """
    await bind(cluster)
    await annotate(cluster, "node-0", kubelet="stopped")
    await cluster.advance(60)
    await annotate(cluster, "node-0", kubelet=None)
    await cluster.advance(1)
    assert await ready(cluster) == ("True", "KubeletReady")
    assert await taints(cluster) == []
    assert meta.is_condition_true(await cluster.client.get(PODS, "p", "default"), "Ready")


async def test_where_all_nodes_are_lost_nobody_is_driven_away():
    """Given a cluster of one node / when it falls silent / then it is unknown, and no taint drives
    its pods away.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await bind(cluster)
        await annotate(cluster, "node-0", kubelet="stopped")
        await cluster.advance(600)
        assert (await ready(cluster))[0] == "Unknown"
        assert await taints(cluster) == [(UNREACHABLE, "NoSchedule")]
        assert not meta.is_deleting(await cluster.client.get(PODS, "p", "default"))


async def test_nodes_of_a_zone_are_given_up_one_after_the_other():
    """Given five nodes of which two fall silent / then the second gets its NoExecute taint ten
    seconds after the first.
    """
    async with Cluster(nodes=5, clock="manual") as cluster:
        for name in ("node-0", "node-1"):
            await annotate(cluster, name, kubelet="stopped")
        driven = []
        for _ in range(70):
            await cluster.advance(1)
            count = [(UNREACHABLE, "NoExecute") in await taints(cluster, name) for name in ("node-0", "node-1")].count(True)
            driven.append(count)
        assert 9 <= driven.count(1) <= 10
        assert driven[-1] == 2


async def test_time_moves_until_a_silent_node_is_missed():
    """Given automatic time / when a kubelet stops / then one may wait for its node to be unknown,
    without saying how long.
    """
    async with Cluster(nodes=2) as cluster:
        await annotate(cluster, "node-0", kubelet="stopped")

        async def unknown():
            return (await ready(cluster))[0] == "Unknown"

        await cluster.run_until(unknown)


async def test_conditions_become_taints(cluster):
    """Given a node under pressure, and one whose kubelet is not ready / then each has the taints of
    it until it is well again.
    """
    await annotate(cluster, "node-0", conditions="MemoryPressure=True")
    await annotate(cluster, "node-1", conditions="Ready=False")
    await cluster.advance(1)
    assert await taints(cluster) == [("node.kubernetes.io/memory-pressure", "NoSchedule")]
    assert await ready(cluster, "node-1") == ("False", "KubeletNotReady")
    assert await taints(cluster, "node-1") == [(NOT_READY, "NoExecute"), (NOT_READY, "NoSchedule")]
    for name in ("node-0", "node-1"):
        await annotate(cluster, name, conditions=None)
    await cluster.advance(1)
    assert [await taints(cluster, name) for name in ("node-0", "node-1")] == [[], []]


async def test_a_cordon_is_a_taint(cluster):
    """Given a node / when it is made unschedulable and schedulable again / then the taint comes and
    goes.
    """
    await cluster.client.patch(NODES, "node-0", body={"spec": {"unschedulable": True}})
    await cluster.advance(1)
    assert await taints(cluster) == [("node.kubernetes.io/unschedulable", "NoSchedule")]
    await cluster.client.patch(NODES, "node-0", body={"spec": {"unschedulable": False}})
    await cluster.advance(1)
    assert await taints(cluster) == []


async def test_old_labels_follow_the_new_ones(cluster):
    """Given a node made with the label of its system / then the older label says the same."""
    await cluster.client.create(NODES, {"metadata": {"name": "big", "labels": {"kubernetes.io/os": "windows"}}})
    await cluster.advance(1)
    labels = (await cluster.client.get(NODES, "big"))["metadata"]["labels"]
    assert labels["beta.kubernetes.io/os"] == "windows"


async def test_a_node_without_a_kubelet_is_unknown_after_a_minute():
    """Given no kubelet at all / when a node is made by hand / then it is unknown after a minute,
    never having said anything.
    """
    async with Cluster(nodes=0, clock="manual", controllers="nodelifecycle") as cluster:
        await cluster.client.create(NODES, {"metadata": {"name": "n"}})
        await cluster.advance(59)
        assert "conditions" not in (await cluster.client.get(NODES, "n")).get("status", {})
        await cluster.advance(2)
        assert await ready(cluster, "n") == ("Unknown", "NodeStatusNeverUpdated")


async def test_a_deleted_node_is_told_of_and_forgotten(cluster):
    """Given a node / when it is deleted / then the controller says that it removed it."""
    await cluster.client.delete(NODES, "node-2")
    await cluster.advance(1)
    assert ("RemovingNode", "Node node-2 event: Removing Node node-2 from Controller") in await told(cluster, "node-2")


async def test_leases_of_silent_nodes_stand_still(cluster):
    """Given a node whose kubelet stops / then its lease is renewed no more, and those of others
    are.
    """
    await annotate(cluster, "node-0", kubelet="stopped")
    await cluster.advance(3600)
    leases = [await cluster.client.get(LEASES, name, "kube-node-lease") for name in ("node-0", "node-1")]
    assert leases[0]["spec"]["renewTime"] < "2026-01-01T00:01" < "2026-01-01T00:59" < leases[1]["spec"]["renewTime"]


@pytest.mark.parametrize(("release", "is_given_up"), [("1.37", False), ("1.36", True)])
async def test_leases_of_which_nothing_is_heard(release, is_given_up):
    """Given a node controller whose watch of leases stands still / when nodes renew them / then it
    looks before it gives a node up, and gives none up; before 1.37 it does so after a while.
    """
    async with Cluster(nodes=1, clock="manual", kubernetes_version=release) as cluster:
        with cluster.faults.add(watch="stall", resources="leases.coordination.k8s.io", lasting="10m"):
            await cluster.advance("70s")
            assert "NodeNotReady" not in dict(await told(cluster, "node-0"))
            await cluster.advance("3m")
        assert ("NodeNotReady" in dict(await told(cluster, "node-0"))) == is_given_up
        await cluster.advance("1m")
        assert (await ready(cluster))[0] == "True"


async def test_who_is_silent_is_given_up_while_leases_of_others_are_not_heard(cluster):
    """Given two nodes, one of them silent, and no news of leases / then the silent one is given up
    once the leases are heard of again, and not before.
    """
    await cluster.advance("1m")
    with cluster.faults.add(watch="stall", resources="leases.coordination.k8s.io", lasting="10m"):
        await cluster.node("node-0").stop_kubelet()
        await cluster.advance("2m")
        before = (await ready(cluster))[0], (await ready(cluster, "node-1"))[0]
    await cluster.advance("1m")
    assert (before, (await ready(cluster))[0], (await ready(cluster, "node-1"))[0]) == (("Unknown", "True"), "Unknown", "True")
