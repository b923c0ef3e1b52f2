"""What a group frees that fits nowhere."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.queued import EntityType
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.dynamic_resources import GroupState
from tests.controllers.scheduler.devices.cases import allocation, claim, request
from tests.controllers.scheduler.devices.test_claims_step_by_step import ERROR, UNRESOLVABLE, UNSCHEDULABLE, USES, World
from tests.controllers.scheduler.plugins.cases import pod, snapshot


class Group:
    """A group with a claim, and the state of its cycle."""

    def __init__(self, world: World, of: Any) -> None:
        owner = {"metadata": {"name": "g", "namespace": "n", "uid": "g"}, "spec": {"resourceClaims": USES["resourceClaims"]}}
        self.info: Any = SimpleNamespace(
            key=SimpleNamespace(type=EntityType.POD_GROUP), group=owner,
            unscheduled_pods=[SimpleNamespace(info=pod_info(of))])
        self.state, tried = CycleState(), GroupState()
        _, claims = world.pre_filter(of)
        tried.pods["n", "p"] = claims
        self.state["DynamicResources"] = tried
        self.claims, self.world = claims, world

    async def freed(self) -> Any:
        """Code and text of what was done."""
        found: Any = await self.world.plugin.pod_group_post_filter(self.state, self.info, snapshot(), None)  # type: ignore[arg-type]
        assert found[0] == {}
        return found[1].code, found[1].message


OURS = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g"}
RELEASED = (UNSCHEDULABLE, "deallocation and deletion of ResourceClaims completed")


@pytest.mark.parametrize(("placed", "codes", "expected"), [
    ([], (), (UNRESOLVABLE, "ResourceClaim unreserved for PodGroup")), (["q"], (), RELEASED), ([], (404,), RELEASED)])
async def test_a_groups_reservation_is_taken_back(placed: Any, codes: Any, expected: Any) -> None:
    """Given a group that has a claim, none of whose pods fits anywhere / when none is placed / then
    the reservation is taken back; it stays while one is.
    """
    groups = SimpleNamespace(placed=lambda _: placed, group=lambda _: {"metadata": {"name": "g", "uid": "g"}, "spec": {}})
    reserved = [OURS, {**OURS, "uid": "h", "name": "h"}]
    made = {**claim(request()), "status": {"allocation": allocation("a"), "reservedFor": reserved}}
    of = pod(**USES, schedulingGroup={"podGroupName": "g"})
    assert await Group(World(*codes, groups=groups, resourceclaims=[made]), of).freed() == expected


async def test_a_claim_of_a_group_that_cannot_be_freed() -> None:
    """Given a group whose claim is of no use where it is / when the server does not free it, for a
    pod or for the group / then that is the error.
    """
    mine = {"resource": "pods", "name": "p", "uid": "n/p"}
    for reserved, code in ((mine, 500), (OURS, 403)):
        groups = SimpleNamespace(placed=lambda _: [], group=lambda _: {"metadata": {"name": "g", "uid": "g"}, "spec": {}})
        made = {**claim(request()), "status": {"allocation": allocation("a"), "reservedFor": [reserved]}}
        group = Group(World(code, groups=groups, resourceclaims=[made]), pod(**USES, schedulingGroup={"podGroupName": "g"}))
        group.claims.unavailable[0] = None
        assert await group.freed() == (ERROR, f"no {code}")
