"""Strategies in a fleet: an operator of one cluster that writes to another."""

import pytest

from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.fleet import Fleet
from fakekube.exploration.crashes import crash_points, strategy_points
from fakekube.exploration.targets import TargetError, calm_of
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.rules import FaultError
from fakekube.util.choices import Choices
from tests.exploration.buggy.fleets import copies_once, copies_then_notes
from tests.exploration.test_strategies import ran

QUIET = {"nodes": 0, "controllers": ""}


def fleet_of(operator):
    return {"fleet": "here,there", "members": {"here": {"extra": [operator]}}, **QUIET}


async def copied(fleet):
    """How many copies there are in the end."""
    web = {"metadata": {"name": "web", "namespace": "default"}, "data": {"kubeconfig": fleet.kubeconfig("there")}}
    await fleet["here"].client.create(CONFIG_MAPS, web)
    await fleet.advance("1m")
    names = [found["metadata"]["name"] for found in (await fleet["there"].client.list(CONFIG_MAPS, "default")).items]
    return sum(name.startswith("web-") for name in names)


async def test_it_dies_after_its_writes_to_either_cluster():
    """Given an operator that writes to another cluster and then to its own, when it dies after each
    of its writes, then after the first it makes another copy; its twin does not.
    """
    found = await crash_points(copied, "here/copies-then-notes", **fleet_of(copies_then_notes))
    assert found.calm == 1
    assert [point.where for point in found.points] == [
        "here/copies-then-notes dies after its write 1 is committed (update configmaps web)",
        "here/copies-then-notes at there dies after its write 1 is committed (create configmaps)"]
    assert [point.end for point in found.points] == [1, 2]
    async with Fleet("here", "there", members={"here": {"extra": [copies_then_notes]}}, **QUIET,
                     schedule=found.differing[0].schedule) as fleet:
        assert await copied(fleet) == 2
    mended = await crash_points(copied, "here/copies-once", **fleet_of(copies_once))
    assert (len(mended.points), mended.differing) == (2, ())


@pytest.mark.parametrize("strategy", ["intermediate-states", "ambiguous-writes"])
async def test_seeds_take_turns_between_clusters(strategy):
    """Given a strategy, when few seeds try such an operator, then it is found; its twin is not."""
    found = await strategy_points(copied, "copies-then-notes", [strategy], range(1, 9), **fleet_of(copies_then_notes))
    assert "here/copies-then-notes at there" in str(found.differing[0])
    assert (await strategy_points(copied, "copies-once", [strategy], range(1, 20), **fleet_of(copies_once))).differing == ()


@pytest.mark.parametrize(("operator", "outcome"), [("copies_then_notes", "failed"), ("copies_once", "passed")])
@pytest.mark.parametrize("asked", [
    'strategies="intermediate-states", target="here/NAME", oracles="all"', 'crash_points="here/NAME"'])
def test_the_marker(pytester, asked, operator, outcome):
    """Given a test with a fleet and a target in one of its clusters, when it is run with a
    strategy, or with every crash point, then it fails where the operator has the bug, and the story
    says where it died.
    """
    result, told = ran(pytester, f"""
import pytest
from tests.exploration.buggy.fleets import {operator}
from tests.exploration.test_fleets import copied

@pytest.mark.fakekube(fleet="here,there", nodes=0, controllers="", extra=[{operator}],
                      {asked.replace("NAME", operator.replace("_", "-"))}, explore=8)
async def test_it(fake_fleet):
    assert await copied(fake_fleet) == 1
""")
    result.assert_outcomes(**{outcome: 1})
    assert ("here/copies-then-notes at there dies after its write 1" in told) == (outcome == "failed")


async def test_a_target_is_looked_for_in_every_member():
    """Given a name without a member, then it is that of each which has such; one of nobody is
    refused, with those that there are in that member.
    """
    members = {"here": {"extra": [copies_then_notes]}, "there": {"extra": [copies_once]}}
    async with Fleet("here", "there", members=members, schedule=Choices(0, ()), **QUIET) as fleet:
        await copied(fleet)
        assert [calm.target.name for calm in calm_of(fleet, "copies-once")] == ["there/copies-once"]
        assert [calm.target.name for calm in calm_of(fleet)] == [
            "here/copies-then-notes", "here/copies-then-notes at there", "there/copies-once"]
        with pytest.raises(TargetError, match=r"no operator 'copies-once' to try: no component \(copies-then-notes\)"):
            calm_of(fleet, "here/copies-once")


async def test_a_rule_of_one_member():
    """Given a rule of all members that names some of them, then requests to others do not meet it;
    one that names none of them is never met.
    """
    rule = {"verbs": "create", "clusters": "t*", "error": "InternalError"}
    async with Fleet("here", "there", faults=[rule], **QUIET) as fleet:
        made = {"metadata": {"name": "web", "namespace": "default"}}
        await fleet["here"].client.create(CONFIG_MAPS, made)
        with pytest.raises(Exception, match="Internal error"):
            await fleet["there"].client.create(CONFIG_MAPS, made)
    with pytest.raises(FaultNeverMet, match="none matched"):
        async with Fleet("here", "there", faults=[{**rule, "clusters": "elsewhere"}], **QUIET) as fleet:
            await fleet["here"].client.create(CONFIG_MAPS, made)


async def test_a_component_of_another_member_may_die():
    """Given a rule of one member, when it lets a component of another die, then that does; one that
    this member does not have is refused.
    """
    async with Fleet("here", "there", members={"here": {"extra": [copies_then_notes]}}, **QUIET) as fleet:
        with pytest.raises(FaultError, match="nobody"):
            fleet["there"].faults.add(verbs="create", crash="here/nobody")
        with fleet["there"].faults.add(
                verbs="create", crash="here/copies-then-notes", moment="after", nth=1, user_agents="copies-then-notes"):
            assert await copied(fleet) == 2
