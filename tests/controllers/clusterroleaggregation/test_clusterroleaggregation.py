"""ClusterRoles that are made of others."""

import pytest

from fakekube.client.resources import CLUSTER_ROLES
from tests.controllers.world import World, manual_cluster

THINGS = {"apiGroups": ["a.dev"], "resources": ["things"], "verbs": ["get"]}
OTHERS = {"apiGroups": ["a.dev"], "resources": ["others"], "verbs": ["list"]}


@pytest.fixture
async def world():
    async with manual_cluster("clusterroleaggregation") as cluster:
        yield World(cluster)


async def create(world, name, rules=None, **fields):
    await world.client.create(CLUSTER_ROLES, {
        "metadata": {"name": name, "labels": {"part": "yes"} if rules else {}}, "rules": rules, **fields})
    await world.settle()


async def whole(world):
    return await world.client.get(CLUSTER_ROLES, "whole")


async def test_rules_are_gathered_and_lost_again(world):
    """Given a role with an aggregation rule / when roles that it selects come, repeat each other
    and go / then it has each of their rules once, in the order of their names, and none in the end.
    """
    await create(world, "whole", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]})
    await create(world, "b", [THINGS, OTHERS])
    await create(world, "a", [THINGS])
    await create(world, "z", [{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}])
    assert (await whole(world))["rules"] == [THINGS, OTHERS, {"nonResourceURLs": ["/healthz"], "verbs": ["get"]}]
    assert {entry["manager"] for entry in (await whole(world))["metadata"]["managedFields"] if entry["operation"] == "Apply"} == {
        "clusterrole-aggregation-controller"}
    for name in ("a", "b", "z"):
        await world.client.delete(CLUSTER_ROLES, name)
    await world.settle()
    assert not (await whole(world)).get("rules")


async def test_what_others_write_is_put_right(world):
    """Given an aggregated role / when somebody writes other rules into it / then it has those of
    its parts again.
    """
    await create(world, "a", [THINGS])
    await create(world, "whole", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]})
    await world.client.patch(CLUSTER_ROLES, "whole", body={"rules": [OTHERS]})
    await world.settle()
    assert (await whole(world))["rules"] == [THINGS]


async def test_what_came_with_the_cluster_stays(world):
    """Given a fresh cluster / then its own aggregated roles are what they are to be, and were not
    written again.
    """
    for name in ("admin", "edit", "view"):
        role = await world.client.get(CLUSTER_ROLES, name)
        assert role["aggregationRule"]
        assert [entry["manager"] for entry in role["metadata"].get("managedFields", []) if entry["operation"] == "Apply"] in (
            [], ["clusterrole-aggregation-controller"])
