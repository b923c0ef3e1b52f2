"""DaemonSets: from one template to the next, node by node."""

import pytest

from fakekube.client.resources import CONTROLLER_REVISIONS, DAEMON_SETS
from tests.controllers.daemonset.test_placing import place, target_of
from tests.controllers.workloads import NAMESPACE, image_of, labels_of


def strategy(**rolling):
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


async def ready_daemons(world, **spec):
    await world.create(DAEMON_SETS, **spec)
    await place(world)
    await world.ready_all()


async def step(world):
    """Let kubelets delete what is on its way out; what came is put in place, and not ready yet."""
    leaving = [pod for pod in await world.pods() if "deletionTimestamp" in pod["metadata"]]
    await world.drop(*leaving, grace_period_seconds=0)
    await place(world)


async def images(world):
    """By node, what runs there."""
    found = {}
    for pod in await world.active():
        found.setdefault(target_of(pod), []).append(image_of(pod)[-1])
    return {node: "".join(sorted(found[node])) for node in sorted(found)}


async def revisions(world):
    found = (await world.client.list(CONTROLLER_REVISIONS, NAMESPACE)).items
    return sorted((one["revision"], one["data"]["spec"]["template"]["spec"]["containers"][0]["image"][-1]) for one in found)


async def test_one_node_after_the_other_gets_the_new_pod(world):
    """Given ready daemons and maxUnavailable 1 / when the image changes / then the next node is
    taken once the last one's pod is available, and the status counts up.
    """
    await ready_daemons(world)
    await world.set_image(DAEMON_SETS, "nginx:2")
    seen = []
    for _ in range(3):
        await step(world)
        seen.append("".join((await images(world)).values()).count("2"))
        await world.ready_all()
    await step(world)
    found = await world.daemon_set()
    assert seen == [1, 2, 3]
    assert found["status"]["updatedNumberScheduled"] == found["status"]["numberAvailable"] == 3
    assert await revisions(world) == [(1, "1"), (2, "2")]


async def test_more_than_one_may_be_unavailable(world):
    """Given maxUnavailable 70 % of three nodes / when the image changes / then all three are taken:
    the share is rounded up.
    """
    await ready_daemons(world, updateStrategy=strategy(maxUnavailable="70%"))
    await world.set_image(DAEMON_SETS, "nginx:2")
    await step(world)
    assert await images(world) == {"n0": "2", "n1": "2", "n2": "2"}


async def test_broken_pods_are_replaced_beyond_the_limit(world):
    """Given daemons of which two are not ready / when the image changes / then these two are
    replaced at once, the ready one only later.
    """
    await world.create(DAEMON_SETS)
    await place(world)
    good = next(pod for pod in await world.active() if target_of(pod) == "n2")
    await world.ready(good)
    await world.set_image(DAEMON_SETS, "nginx:2")
    await step(world)
    assert await images(world) == {"n0": "2", "n1": "2", "n2": "1"}


async def test_a_surge_adds_the_new_pod_before_the_old_one_goes(world):
    """Given maxSurge 1 / when the image changes / then one node has both pods until the new one is
    available.
    """
    await ready_daemons(world, updateStrategy=strategy(maxSurge=1, maxUnavailable=0))
    await world.set_image(DAEMON_SETS, "nginx:2")
    await place(world)
    assert sorted((await images(world)).values()) == ["1", "1", "12"]
    for _ in range(4):
        await world.ready_all()
        await step(world)
    await world.ready_all()
    assert await images(world) == {"n0": "2", "n1": "2", "n2": "2"}
    assert (await world.daemon_set())["status"]["numberAvailable"] == 3


async def test_on_delete_replaces_what_is_deleted(world):
    """Given OnDelete / when the image changes / then pods stay until somebody deletes them."""
    await ready_daemons(world, updateStrategy={"type": "OnDelete"})
    found = await world.set_image(DAEMON_SETS, "nginx:2")
    assert set((await images(world)).values()) == {"1"}
    assert found["status"].get("updatedNumberScheduled", 0) == 0
    await world.drop((await world.active())[0])
    await step(world)
    assert sorted((await images(world)).values()) == ["1", "1", "2"]


async def test_a_rollback_renumbers_the_old_revision(world):
    """Given two revisions / when the first image is set again / then its revision gets number 3,
    and pods carry its hash.
    """
    await ready_daemons(world, updateStrategy=strategy(maxUnavailable=3))
    for image in ("nginx:2", "nginx:1"):
        await world.set_image(DAEMON_SETS, image)
        await step(world)
        await world.ready_all()
    assert await revisions(world) == [(2, "2"), (3, "1")]
    hashes = {one["revision"]: labels_of(one)["controller-revision-hash"]
              for one in (await world.client.list(CONTROLLER_REVISIONS, NAMESPACE)).items}
    assert {labels_of(pod)["controller-revision-hash"] for pod in await world.active()} == {hashes[3]}


async def test_old_revisions_beyond_the_limit_are_deleted(world):
    """Given a history of one / when four images have been rolled out / then the current revision
    and the last one are left.
    """
    await ready_daemons(world, revisionHistoryLimit=1, updateStrategy=strategy(maxUnavailable=3))
    for number in (2, 3, 4):
        await world.set_image(DAEMON_SETS, f"nginx:{number}")
        await step(world)
        await world.ready_all()
    await world.settle()
    assert await revisions(world) == [(3, "3"), (4, "4")]


async def test_a_clash_of_hashes_makes_another_name(world):
    """Given a stranger's revision with the name that a DaemonSet's would have / when it is made /
    then a collision is counted.
    """
    await world.create(DAEMON_SETS)
    [revision] = (await world.client.list(CONTROLLER_REVISIONS, NAMESPACE)).items
    name = revision["metadata"]["name"]
    await world.client.delete(DAEMON_SETS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    await world.client.create(CONTROLLER_REVISIONS, {
        "metadata": {"name": name, "namespace": NAMESPACE}, "data": {"x": 1}, "revision": 1})
    await world.create(DAEMON_SETS)
    await world.advance(1)
    assert (await world.daemon_set())["status"]["collisionCount"] == 1
    assert len(await world.active()) == 3


@pytest.mark.parametrize("stops", range(5))
async def test_a_controller_that_is_stopped_anywhere_comes_to_the_same_end(world, stops):
    """Given a rollout / when the controller is stopped and started after some steps / then it ends
    as ever.
    """
    await ready_daemons(world)
    await world.set_image(DAEMON_SETS, "nginx:2")
    for number in range(8):
        await step(world)
        if number < stops:
            await world.restart("daemonset")
        await world.ready_all()
    assert await images(world) == {"n0": "2", "n1": "2", "n2": "2"}
    assert await revisions(world) == [(1, "1"), (2, "2")]
