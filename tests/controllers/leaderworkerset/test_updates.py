"""A new template reaches the groups one after the other."""

import pytest

from fakekube_controllers.leaderworkerset import rollout
from fakekube_controllers.leaderworkerset.rollout import State
from tests.controllers.leaderworkerset.conftest import manifest
from tests.controllers.world import NAMESPACE


async def test_groups_are_updated_from_the_last_to_the_first(world):
    """Given two ready groups / when the template changes / then the last is updated, the first once
    the last is ready, and one revision is left.
    """
    await world.create(replicas=2)
    await world.start()
    await world.new_image("busybox:2")
    await world.advance(5)
    images = await world.images()
    assert (images["l-0"], images["l-1"], images["l-1-1"]) == ("busybox", "busybox:2", "busybox:2")
    assert (await world.conditions())["UpdateInProgress"] == "True"
    assert len(await world.revisions()) == 2
    await world.start("l-1", "l-1-1")
    await world.advance(5)
    assert set((await world.images()).values()) == {"busybox:2"}
    await world.start()
    assert await world.conditions() == {"Progressing": "False", "Available": "True", "UpdateInProgress": "False"}
    assert len(await world.revisions()) == 1
    assert ("Normal", "GroupsUpdating", "Updating replica 1") in await world.told()


async def test_the_partition_is_left_alone(world):
    """Given a partition / when the template changes / then groups below it keep the old one."""
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"partition": 1, "maxUnavailable": 2}}
    await world.create(replicas=2, rolloutStrategy=strategy)
    await world.start()
    await world.new_image("busybox:2")
    await world.start()
    await world.start()
    images = await world.images()
    assert (images["l-0"], images["l-1"]) == ("busybox", "busybox:2")
    assert (await world.status())["updatedReplicas"] == 1


async def test_groups_beyond_those_wanted_come_and_go(world):
    """Given a surge of one and none unavailable / when the template changes / then a third group is
    there until the others are updated.
    """
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": 1, "maxUnavailable": 0}}
    await world.create(replicas=2, rolloutStrategy=strategy)
    await world.start()
    await world.new_image("busybox:2")
    assert "l-2" in await world.named()
    for _ in range(6):
        await world.start()
    assert [*await world.images()] == ["l-0", "l-0-1", "l-1", "l-1-1"]
    assert set((await world.images()).values()) == {"busybox:2"}
    assert ("Normal", "GroupsProgressing", "deleting surge replica l-2") in await world.told()


async def test_a_template_of_before_makes_no_update(world):
    """Given a set / when something else than its templates changes / then no group is touched."""
    await world.create(replicas=1)
    uid = (await world.named())["l-0"]["metadata"]["uid"]
    await world.change({"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 2}}}})
    assert (await world.named())["l-0"]["metadata"]["uid"] == uid
    assert len(await world.revisions()) == 1


READY, UPDATED, DOWN = State(ready=True, updated=False), State(ready=True, updated=True), State(ready=False, updated=False)


@pytest.mark.parametrize(("states", "unavailable", "surge", "partition", "wanted"), [
    ([READY] * 4, 1, 0, 4, 3),
    ([READY] * 4, 2, 0, 4, 2),
    ([READY, READY, READY, UPDATED], 1, 0, 3, 2),
    ([DOWN, READY, READY, READY], 1, 0, 4, 4),
    ([DOWN, DOWN, DOWN, DOWN], 1, 0, 4, 3),
    ([READY, READY, DOWN, DOWN], 1, 0, 4, 3),
    ([UPDATED] * 4, 1, 0, 1, 0),
    ([READY, READY, READY, UPDATED], 1, 0, 1, 1),
])
def test_how_far_an_update_goes(states, unavailable, surge, partition, wanted):
    """Given the states of groups / when the next step is planned / then as many are updated as may
    be unavailable, those that are down among them, and never one less than before.
    """
    moving = {"maxUnavailable": unavailable, "maxSurge": surge}
    lws = manifest(replicas=4, rolloutStrategy={"rollingUpdateConfiguration": moving})
    leaders = {
        "metadata": {"name": "l", "namespace": NAMESPACE, "annotations": {"leaderworkerset.sigs.k8s.io/replicas": "4"}},
        "spec": {"replicas": 4, "updateStrategy": {"rollingUpdate": {"partition": partition}}}}
    assert rollout.Rollout(lws, leaders).under_way(states).partition == wanted
