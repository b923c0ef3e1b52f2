"""Claiming: orphans that match are adopted, what matches no more is released, others' objects are
left alone.
"""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.conditions import remove, set_condition
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube.runtime.ownership import ClaimFailed, ControllerRefManager, recheck_deletion, set_controller
from tests.runtime.harness import WEBS, Harness


class Labelled:
    def matches(self, labels):
        return labels.get("app") == "web"


class World(Harness):
    async def pod(self, name, *, owner=None, **metadata):
        if owner is not None:
            metadata["ownerReferences"] = [meta.controller_reference(owner)]
        return await self.client.create(PODS, {"metadata": {"name": name, **metadata}})

    def refs(self, web, **options):
        return ControllerRefManager(self.client, PODS, web, Labelled(), **options)

    def owner_of(self, name):
        return meta.controller_of(self.server.objects["pods", "default", name])


@pytest.fixture
def world():
    return World()


@pytest.fixture
async def web(world):
    return await world.web("a")


async def test_matching_orphans_are_adopted_once_the_server_agrees(world, web):
    """Given two matching orphans, when claimed, then both are adopted and the server was asked
    about the owner once.
    """
    pods = [await world.pod(name, labels={"app": "web"}) for name in "pq"]
    refs = world.refs(web, can_adopt=recheck_deletion(world.client, WEBS, web))
    assert await refs.claim(pods) == pods
    assert world.owner_of("p") == meta.controller_reference(web) == world.owner_of("q")
    assert len([r for r in world.server.requests if r.method == "GET"]) == 1


async def test_what_matches_no_more_is_released(world, web):
    """Given an owned pod whose labels changed, when claimed, then the reference goes."""
    pod = await world.pod("p", owner=web)
    assert await world.refs(web).claim([pod]) == []
    assert world.owner_of("p") is None


@pytest.mark.parametrize("metadata", [
    {"labels": {"app": "other"}}, {"labels": {"app": "web"}, "deletionTimestamp": "2026-01-01T00:00:00Z"},
], ids=["labels differ", "is being deleted"])
async def test_other_orphans_are_left_alone(world, web, metadata):
    """Given an orphan that does not match or is going, when claimed, then nothing is written."""
    pod = await world.pod("p", **metadata)
    written = len(world.server.log)
    assert await world.refs(web).claim([pod]) == []
    assert len(world.server.log) == written


async def test_others_objects_are_left_alone(world, web):
    """Given a matching pod of another controller, when claimed, then it is not ours."""
    other = await world.web("b")
    pod = await world.pod("p", owner=other, labels={"app": "web"})
    assert await world.refs(web).claim([pod]) == []


async def test_an_owner_on_its_way_out_adopts_and_releases_nothing(world, web):
    """Given a controller that is being deleted, when it claims, then it keeps what it has and
    changes nothing.
    """
    web = {**web, "metadata": {**web["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    mine = await world.pod("p", owner=web, labels={"app": "web"})
    lost = await world.pod("q", owner=web)
    orphan = await world.pod("r", labels={"app": "web"})
    written = len(world.server.log)
    assert await world.refs(web).claim([mine, lost, orphan]) == [mine]
    assert len(world.server.log) == written


async def test_an_owner_that_was_replaced_adopts_nothing(world, web):
    """Given a controller that was deleted and made anew, when the old one claims, then it fails and
    says why.
    """
    await world.client.delete(WEBS, "a")
    await world.web("a")
    pod = await world.pod("p", labels={"app": "web"})
    with pytest.raises(ClaimFailed, match="original Web default/a is gone: got uid"):
        await world.refs(web, can_adopt=recheck_deletion(world.client, WEBS, web)).claim([pod])
    assert world.owner_of("p") is None


async def test_a_pod_that_is_gone_meanwhile_is_no_error(world, web):
    """Given cached pods that are gone, when claimed, then they are not ours, without an error."""
    orphan = await world.pod("p", labels={"app": "web"})
    lost = await world.pod("q", owner=web)
    for name in "pq":
        await world.client.delete(PODS, name)
    assert await world.refs(web).claim([orphan, lost]) == []


async def test_every_object_is_tried_before_the_failure(world, web):
    """Given a server that refuses one adoption, when claimed, then the others are adopted and the
    refusal is raised.
    """
    pods = [await world.pod(name, labels={"app": "web"}) for name in "pq"]

    def refuse(request):
        if request.path.endswith("/pods/p"):
            raise APIError(403, "Forbidden", "no")

    world.server.fault = refuse
    with pytest.raises(ClaimFailed, match=r"^no$"):
        await world.refs(web).claim(pods)
    assert world.owner_of("q") is not None


async def test_set_controller_keeps_other_owners_and_refuses_a_second_controller(world, web):
    """Given an object with an owner, when a controller is set, then both are there; a second one is
    refused.
    """
    other = await world.web("b")
    pod = {"metadata": {"name": "p", "ownerReferences": [meta.owner_reference(other)]}}
    set_controller(pod, web)
    set_controller(pod, web)
    assert meta.owners_of(pod) == [meta.owner_reference(other), meta.controller_reference(web)]
    assert meta.is_controlled_by(pod, web)
    with pytest.raises(ValueError, match="is controlled by Web a already"):
        set_controller(pod, other)


def test_a_condition_changes_its_time_with_its_status_only():
    """Given a condition, when its reason changes, then its time stays; when its status does, then
    it moves.
    """
    conditions = []
    assert set_condition(conditions, "Ready", "False", now="1", reason="A")
    assert not set_condition(conditions, "Ready", "False", now="2", reason="A")
    assert set_condition(conditions, "Ready", "False", now="3", reason="B")
    assert conditions[0]["lastTransitionTime"] == "1"
    assert set_condition(conditions, "Ready", "True", now="4", reason="B", observed_generation=2)
    assert conditions == [{
        "type": "Ready", "status": "True", "reason": "B", "message": "", "observedGeneration": 2,
        "lastTransitionTime": "4",
    }]
    assert meta.is_condition_true({"status": {"conditions": conditions}}, "Ready")
    assert remove(conditions, "Ready")
    assert not remove(conditions, "Ready")
