"""StatefulSets: from one revision to the next, the last pod first."""

import pytest

from fakekube.client.resources import CONTROLLER_REVISIONS, STATEFUL_SETS
from tests.controllers.workloads import NAMESPACE, Workloads, image_of, labels_of, name_of
from tests.controllers.world import condition, manual_cluster


async def images(world):
    return {name_of(pod): image_of(pod)[-1] for pod in await world.active()}


async def revisions(world):
    found = (await world.client.list(CONTROLLER_REVISIONS, NAMESPACE)).items
    return sorted((one["revision"], one["data"]["spec"]["template"]["spec"]["containers"][0]["image"][-1]) for one in found)


def strategy(**rolling):
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


async def ready_set(world, **spec):
    found = await world.create(STATEFUL_SETS, **spec)
    await world.ready_all()
    return found


async def test_pods_are_replaced_from_the_last_to_the_first(world):
    """Given three ready pods / when the image changes / then each is replaced once those after it
    are ready, and in the end the update revision is the current one.
    """
    before = await ready_set(world, replicas=3)
    found = await world.set_image(STATEFUL_SETS, "nginx:2")
    assert await images(world) == {"a-0": "1", "a-1": "1", "a-2": "2"}
    assert found["status"]["currentRevision"] == before["status"]["currentRevision"] != found["status"]["updateRevision"]
    assert (found["status"]["currentReplicas"], found["status"]["updatedReplicas"]) == (2, 1)
    await world.ready(await world.named("a-2"))
    assert await images(world) == {"a-0": "1", "a-1": "2", "a-2": "2"}
    await world.ready_all()
    found = await world.stateful_set()
    assert set((await images(world)).values()) == {"2"}
    assert found["status"]["currentRevision"] == found["status"]["updateRevision"]
    assert await revisions(world) == [(1, "1"), (2, "2")]


async def test_pods_below_the_partition_keep_their_revision(world):
    """Given a partition of 2 / when the image changes / then only a-2 is replaced, and a-1, when
    lost, comes back as it was / when the partition goes down to 0 / then all are replaced.
    """
    await ready_set(world, replicas=3, updateStrategy=strategy(partition=2))
    await world.set_image(STATEFUL_SETS, "nginx:2")
    await world.ready_all()
    assert await images(world) == {"a-0": "1", "a-1": "1", "a-2": "2"}
    await world.drop(await world.named("a-1"))
    await world.ready_all()
    assert (await images(world))["a-1"] == "1"
    await world.patch(STATEFUL_SETS, updateStrategy={"rollingUpdate": {"partition": 0}})
    await world.ready_all()
    assert set((await images(world)).values()) == {"2"}


async def test_on_delete_replaces_what_is_deleted(world):
    """Given the strategy OnDelete / when the image changes / then pods stay, and a deleted one
    comes back with the new image.
    """
    await ready_set(world, replicas=2, updateStrategy={"type": "OnDelete"})
    await world.set_image(STATEFUL_SETS, "nginx:2")
    assert await images(world) == {"a-0": "1", "a-1": "1"}
    await world.drop(await world.named("a-0"))
    assert await images(world) == {"a-0": "2", "a-1": "1"}


async def test_a_rollback_renumbers_the_old_revision(world):
    """Given two revisions / when the first image is set again / then its revision gets number 3 and
    pods follow.
    """
    await ready_set(world, replicas=1)
    for image in ("nginx:2", "nginx:1"):
        await world.set_image(STATEFUL_SETS, image)
        await world.ready_all()
    assert await revisions(world) == [(2, "2"), (3, "1")]
    assert await images(world) == {"a-0": "1"}


async def test_old_revisions_beyond_the_limit_are_deleted(world):
    """Given a history of one / when four images have been rolled out / then the current revision
    and the last one are left.
    """
    await ready_set(world, replicas=1, revisionHistoryLimit=1)
    for number in (2, 3, 4):
        await world.set_image(STATEFUL_SETS, f"nginx:{number}")
        await world.ready_all()
    await world.settle()
    assert await revisions(world) == [(3, "3"), (4, "4")]


async def test_several_may_be_unavailable_at_once(world):
    """Given maxUnavailable 2 / when the image changes / then the last two are replaced together,
    after them the others.
    """
    await ready_set(world, replicas=4, podManagementPolicy="Parallel", updateStrategy=strategy(maxUnavailable=2))
    await world.set_image(STATEFUL_SETS, "nginx:2")
    assert await images(world) == {"a-0": "1", "a-1": "1", "a-2": "2", "a-3": "2"}
    await world.ready_all()
    assert set((await images(world)).values()) == {"2"}


async def test_a_parallel_set_replaces_broken_pods_of_the_old_revision_first(world):
    """Given a parallel set in which a-0 and a-1 never became ready / when the image changes / then
    these two are replaced, and ready ones only within maxUnavailable.
    """
    await world.create(
        STATEFUL_SETS, replicas=4, podManagementPolicy="Parallel", updateStrategy=strategy(maxUnavailable=1))
    await world.ready(await world.named("a-2"), await world.named("a-3"))
    await world.set_image(STATEFUL_SETS, "nginx:2")
    assert await images(world) == {"a-0": "2", "a-1": "2", "a-2": "1", "a-3": "1"}


async def test_before_1_37_pods_are_replaced_one_by_one():
    """Given a cluster of 1.36 and maxUnavailable 2 / when the image changes / then only the last
    pod is replaced: the gate is off there, and the field is dropped.
    """
    async with manual_cluster("statefulset,serviceaccount", kubernetes_version="1.36") as cluster:
        world = Workloads(cluster)
        await ready_set(world, replicas=3, updateStrategy=strategy(maxUnavailable=2))
        found = await world.set_image(STATEFUL_SETS, "nginx:2")
        assert await images(world) == {"a-0": "1", "a-1": "1", "a-2": "2"}
        assert found["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}


async def test_recreate_deletes_all_before_it_makes_any():
    """Given the gate of the strategy Recreate and a terminating old pod / when the image changes
    / then no new pod comes before the old one is gone, and Progressing tells how it goes.
    """
    gates = {"StatefulSetRecreateStrategy": True}
    async with manual_cluster("statefulset,serviceaccount", feature_gates=gates) as cluster:
        world = Workloads(cluster)
        await ready_set(world, replicas=2, updateStrategy={"type": "Recreate"})
        [held, _] = await world.pods()
        await world.bind(held)
        found = await world.set_image(STATEFUL_SETS, "nginx:2")
        assert await images(world) == {}
        assert condition(found, "Progressing")["message"] == "Deleting old revision pods"
        await world.drop(held, grace_period_seconds=0)
        assert condition(await world.stateful_set(), "Progressing")["message"] == "Waiting for new-revision pods to be created"
        await world.ready_all()
        assert set((await images(world)).values()) == {"2"}
        done = condition(await world.stateful_set(), "Progressing")
        assert (done["status"], done["reason"]) == ("False", "RecreateCompleted")


async def test_a_clash_of_hashes_makes_another_name(world):
    """Given a stranger's revision with the name that a set's would have / when the set is made /
    then it counts a collision.
    """
    found = await ready_set(world, replicas=1)
    name = found["status"]["updateRevision"]
    await world.client.delete(STATEFUL_SETS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    await world.client.create(CONTROLLER_REVISIONS, {
        "metadata": {"name": name, "namespace": NAMESPACE}, "data": {"x": 1}, "revision": 1})
    found = await world.create(STATEFUL_SETS, replicas=1)
    assert found["status"]["collisionCount"] == 1
    assert found["status"]["updateRevision"] != name
    assert labels_of(await world.named("a-0"))["controller-revision-hash"] == found["status"]["updateRevision"]


@pytest.mark.parametrize("stops", range(8))
async def test_a_controller_that_is_stopped_anywhere_comes_to_the_same_end(world, stops):
    """Given a rollout / when the controller is stopped and started after some steps of it / then it
    ends as ever.
    """
    await ready_set(world, replicas=3)
    await world.set_image(STATEFUL_SETS, "nginx:2")
    for _ in range(stops):
        waiting = [pod for pod in await world.active() if pod["status"].get("phase") == "Pending"]
        await world.make_ready(*waiting)
        await world.restart("statefulset")
    await world.ready_all()
    assert await images(world) == dict.fromkeys(("a-0", "a-1", "a-2"), "2")
    assert await revisions(world) == [(1, "1"), (2, "2")]
