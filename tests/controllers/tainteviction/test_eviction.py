"""Pods on nodes whose taints drive them away."""

import pytest

from fakekube.apimachinery import meta
from fakekube.client.resources import EVENTS, NODES, PODS
from fakekube.composition.cluster import Cluster

TAINT = {"key": "maintenance", "effect": "NoExecute"}


@pytest.fixture
async def cluster():
    async with Cluster(nodes=2, clock="manual") as cluster:
        yield cluster


async def bind(cluster, tolerations=(), name="p"):
    await cluster.client.create(PODS, {"metadata": {"name": name, "namespace": "default"}, "spec": {
        "nodeName": "node-0", "tolerations": list(tolerations), "containers": [{"name": "main", "image": "busybox"}]}})
    await cluster.advance(2)


async def taint(cluster, *taints):
    await cluster.client.patch(NODES, "node-0", body={"spec": {"taints": list(taints) or None}})
    await cluster.settle()


async def pod(cluster, name="p"):
    return await cluster.client.get(PODS, name, "default", missing_ok=True)


async def told(cluster):
    events = (await cluster.client.list(EVENTS, "default")).items
    return [e["message"] for e in events if e["reason"] == "TaintManagerEviction"]


def tolerate(seconds=None):
    return {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"} | (
        {"tolerationSeconds": seconds} if seconds is not None else {})


async def test_a_pod_that_does_not_tolerate_the_taint_goes_at_once(cluster):
    """Given a pod / when its node is tainted / then it is marked as disrupted and deleted, with an
    Event of upstream's.
    """
    await bind(cluster)
    await taint(cluster, TAINT)
    present = await pod(cluster)
    assert meta.is_deleting(present)
    condition = meta.find_condition(present, "DisruptionTarget")
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
    assert await told(cluster) == ["Marking for deletion Pod default/p"]
    await cluster.advance(31)
    assert await pod(cluster) is None


@pytest.mark.parametrize(("seconds", "last"), [(60, 59), (0, None), (-1, None), (None, 100_000)])
async def test_a_toleration_holds_for_its_time(cluster, seconds, last):
    """Given a toleration of so many seconds / when the node is tainted / then the pod is left alone
    for that long.
    """
    await bind(cluster, [tolerate(seconds)])
    await taint(cluster, TAINT)
    if last is not None:
        await cluster.advance(last)
        assert not meta.is_deleting(await pod(cluster))
        await cluster.advance(1)
    if seconds is not None:
        assert meta.is_deleting(await pod(cluster))


async def test_a_taint_that_goes_in_time_drives_nobody_away(cluster):
    """Given a pod that is to go in a minute / when the taint is taken away / then it stays, and
    that is told.
    """
    await bind(cluster, [tolerate(60)])
    await taint(cluster, TAINT)
    await cluster.advance(30)
    await taint(cluster)
    await cluster.advance(600)
    assert not meta.is_deleting(await pod(cluster))
    assert await told(cluster) == ["Cancelling deletion of Pod default/p"]


async def test_a_second_taint_does_not_begin_the_time_anew(cluster):
    """Given a pod that tolerates two taints for a minute each / when the second comes later / then
    the first minute counts.
    """
    other = {"key": "other", "effect": "NoExecute"}
    await bind(cluster, [tolerate(60), {**tolerate(60), "key": "other"}])
    await taint(cluster, TAINT)
    await cluster.advance(30)
    await taint(cluster, TAINT, other)
    await cluster.advance(29)
    assert not meta.is_deleting(await pod(cluster))
    await cluster.advance(1)
    assert meta.is_deleting(await pod(cluster))


async def test_a_pod_that_comes_to_a_tainted_node_goes_too(cluster):
    """Given a tainted node / when a pod is bound to it past the scheduler / then it does not stay.
    """
    await taint(cluster, TAINT)
    await bind(cluster)
    present = await pod(cluster)
    assert present is None or meta.is_deleting(present) or present["status"]["phase"] == "Failed"


async def test_other_taints_drive_nobody_away(cluster):
    """Given a taint that only keeps new pods away / then pods that are there stay."""
    await bind(cluster)
    await taint(cluster, {"key": "maintenance", "effect": "NoSchedule"})
    await cluster.advance(600)
    assert not meta.is_deleting(await pod(cluster))


async def test_a_lost_node_is_left_after_five_minutes(cluster):
    """Given a pod with the tolerations that admission gives / when its node is lost / then it is
    deleted five minutes after that, and is there, terminating, until its kubelet is back.
    """
    await bind(cluster)
    await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": "stopped"}}})
    await cluster.advance(340)
    assert not meta.is_deleting(await pod(cluster))
    await cluster.advance(20)
    assert meta.is_deleting(await pod(cluster))
    await cluster.advance(3600)
    assert meta.is_deleting(await pod(cluster))
    await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": None}})
    await cluster.advance(40)
    assert await pod(cluster) is None
