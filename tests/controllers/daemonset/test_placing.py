"""DaemonSets: a pod on every node that it fits, and none elsewhere."""

import pytest

from fakekube.client.resources import DAEMON_SETS, NODES, PODS
from tests.controllers.workloads import NAMESPACE, labels_of, name_of

TAINT = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
EVICTING = {"key": "dedicated", "value": "x", "effect": "NoExecute"}


def target_of(pod):
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = required["nodeSelectorTerms"]
    return term["matchFields"][0]["values"][0]


async def targets(world):
    return sorted(target_of(pod) for pod in await world.active())


async def place(world):
    """Put every pod where it wants to be, as a scheduler would."""
    for pod in await world.active():
        if not pod["spec"].get("nodeName"):
            await world.bind(pod, node=target_of(pod))
    await world.settle()


def reported(obj):
    names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable", "updatedNumberScheduled",
             "numberUnavailable", "numberMisscheduled")
    return tuple(obj["status"].get(name, 0) for name in names)


async def test_every_node_gets_a_pod_made_for_it(world):
    """Given three nodes / when a DaemonSet is made / then each gets a pod that requires it by name,
    bears a daemon's taints and carries hash and generation; and a fourth node gets one when it
    comes.
    """
    found = await world.create(DAEMON_SETS)
    assert await targets(world) == ["n0", "n1", "n2"]
    assert reported(found) == (3, 3, 0, 0, 3, 3, 0)
    [pod, *_] = await world.pods()
    assert name_of(pod).startswith("a-")
    assert sorted(labels_of(pod)) == ["app", "controller-revision-hash", "pod-template-generation"]
    assert labels_of(pod)["pod-template-generation"] == "1"
    assert [(t["key"].removeprefix("node.kubernetes.io/"), t["effect"]) for t in pod["spec"]["tolerations"]] == [
        ("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"), ("unschedulable", "NoSchedule")]
    await world.add_node("n3")
    assert await targets(world) == ["n0", "n1", "n2", "n3"]
    await place(world)
    await world.ready_all()
    assert reported(await world.daemon_set()) == (4, 4, 4, 4, 4, 0, 0)
    assert ("Normal", "SuccessfulCreate", f"Created pod: {name_of(pod)}") in await world.events()


async def test_nodes_are_chosen_by_selector_and_affinity(world):
    """Given a node selector / when nodes gain and lose the label / then they gain and lose the pod.
    """
    await world.add_node("labelled", labels={"disk": "ssd"})
    await world.create(DAEMON_SETS, pod={"nodeSelector": {"disk": "ssd"}})
    assert await targets(world) == ["labelled"]
    await place(world)
    await world.client.patch(NODES, "n1", body={"metadata": {"labels": {"disk": "ssd"}}})
    await world.client.patch(NODES, "labelled", body={"metadata": {"labels": {"disk": None}}})
    await world.settle()
    assert await targets(world) == ["n1"]


async def test_a_toleration_of_the_template_is_kept_and_its_affinity_narrowed(world):
    """Given a template with a toleration and an affinity for all but n0 / when it is made / then
    pods have the toleration too, and the required affinity names one node alone.
    """
    apart = [{"matchExpressions": [{"key": "name", "operator": "DoesNotExist"}], "matchFields": [
        {"key": "metadata.name", "operator": "NotIn", "values": ["n0"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": apart}}}
    tolerations = [{"key": "dedicated", "operator": "Exists"}]
    await world.create(DAEMON_SETS, pod={"affinity": affinity, "tolerations": tolerations, "hostNetwork": True})
    assert await targets(world) == ["n1", "n2"]
    [pod, _] = await world.pods()
    assert pod["spec"]["tolerations"][0] == tolerations[0]
    assert "node.kubernetes.io/network-unavailable" in [one["key"] for one in pod["spec"]["tolerations"]]


async def test_taints_keep_pods_away_and_put_them_off(world):
    """Given a pod on every node / when one node gets a taint against scheduling / then its pod
    stays, out of place / when the taint evicts / then the pod goes / when the taint goes / then a
    pod comes.
    """
    await world.create(DAEMON_SETS)
    await place(world)
    await world.client.patch(NODES, "n0", body={"spec": {"taints": [TAINT]}})
    await world.settle()
    assert await targets(world) == ["n0", "n1", "n2"]
    await world.drop(next(pod for pod in await world.active() if target_of(pod) == "n1"), grace_period_seconds=0)
    await place(world)
    assert reported(await world.daemon_set())[-1] == 1
    await world.client.patch(NODES, "n0", body={"spec": {"taints": [EVICTING]}})
    await world.settle()
    assert await targets(world) == ["n1", "n2"]
    assert reported(await world.daemon_set())[-2:] == (2, 1)  # it terminates still
    await world.drop(*(pod for pod in await world.pods() if "deletionTimestamp" in pod["metadata"]), grace_period_seconds=0)
    await world.client.patch(NODES, "n0", body={"spec": {"taints": None}})
    await world.settle()
    assert await targets(world) == ["n0", "n1", "n2"]


@pytest.mark.spec("API-134")
async def test_a_cordoned_node_keeps_its_daemons(world):
    """Given a cordoned node / when a DaemonSet is made / then the node gets a pod like the others.
    """
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    await world.client.patch(NODES, "n2", body={"spec": {"unschedulable": True, "taints": [taint]}})
    await world.create(DAEMON_SETS)
    assert await targets(world) == ["n0", "n1", "n2"]


async def test_a_lost_pod_is_replaced_and_a_second_one_deleted(world):
    """Given a pod on every node / when one is deleted / then another comes / when a second one is
    adopted / then it goes.
    """
    await world.create(DAEMON_SETS)
    await place(world)
    pods = await world.active()
    await world.drop(pods[0], grace_period_seconds=0)
    await place(world)
    assert await targets(world) == ["n0", "n1", "n2"]
    twin = pods[1]
    await world.client.create(PODS, {
        "metadata": {"name": "twin", "namespace": NAMESPACE, "labels": labels_of(twin)},
        "spec": {"containers": [{"name": "c", "image": "i"}], "affinity": twin["spec"]["affinity"]}})
    await world.settle()
    assert await world.named("twin") is None
    assert await targets(world) == ["n0", "n1", "n2"]


async def test_failed_pods_are_replaced_with_back_off(world):
    """Given a pod that fails again and again / when it fails first / then it is replaced at once,
    the next time after a second, then after two; and an Event tells of each.
    """
    await world.client.delete(NODES, "n1")
    await world.client.delete(NODES, "n2")
    await world.create(DAEMON_SETS)
    waits = []
    for _ in range(3):
        [pod] = await world.active()
        await world.fail(pod)
        began = world.cluster.clock.time()
        await world.cluster.run_until(lambda pod=pod: is_gone(world, pod), within=60)
        waits.append(world.cluster.clock.time() - began)
        await world.settle()
    assert waits == [0, 1, 2]
    assert "FailedDaemonPod" in await world.reasons()


async def is_gone(world, pod):
    return await world.named(name_of(pod)) is None


async def test_a_pod_for_a_node_that_is_gone_is_deleted(world):
    """Given pods that wait for their nodes / when a node is deleted and the set looked at / then
    its pod goes, as nobody else would delete it.
    """
    await world.create(DAEMON_SETS)
    await world.client.delete(NODES, "n0")
    await world.patch(DAEMON_SETS, minReadySeconds=1)
    assert await targets(world) == ["n1", "n2"]


async def test_pods_are_available_after_their_time(world):
    """Given minReadySeconds 20 / when the pods are ready / then they are available 20 s later."""
    await world.create(DAEMON_SETS, minReadySeconds=20)
    await world.ready_all()
    assert reported(await world.daemon_set())[2:4] == (3, 0)
    await world.advance(20)
    assert reported(await world.daemon_set())[2:4] == (3, 3)


async def test_a_deleted_daemon_set_takes_its_pods_along(world):
    """Given a DaemonSet / when it is deleted in the foreground / then its pods and then itself are
    gone.
    """
    await world.create(DAEMON_SETS)
    await world.client.delete(DAEMON_SETS, "a", NAMESPACE, propagation_policy="Foreground")
    await world.advance(5)
    assert await world.pods() == []
    assert await world.client.get(DAEMON_SETS, "a", NAMESPACE, missing_ok=True) is None


async def test_no_heartbeat_makes_work(world):
    """Given a DaemonSet at rest / when only the status of a node changes / then nothing is looked
    at.
    """
    await world.create(DAEMON_SETS)
    worked = []
    queue = world.cluster.component("daemonset").queue
    add = queue.add
    queue.add = lambda key: (worked.append(key), add(key))
    await world.client.patch(NODES, "n0", body={"status": {"phase": "Running"}}, subresource="status")
    await world.settle()
    assert worked == []
