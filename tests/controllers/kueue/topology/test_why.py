"""Why a Workload waits that has quota and no places: what the answer asks for is given, and is
enough.
"""

from typing import Any

import pytest

from fakekube.client.resources import NODES
from fakekube.runtime.why import Answer, Changes
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from tests.controllers.kueue.topology.conftest import PREFERRED, REQUIRED, SIZE, SLICE, UNCONSTRAINED, Topologies
from tests.controllers.world import NAMESPACE

RACK, BLOCK = "rack", "block"


def milli(text: str) -> int:
    return int(text.removesuffix("m")) if text.endswith("m") else int(text) * 1000


async def why(world: Topologies, job: str) -> Answer:
    return await world.cluster.why(f"job/{job}", namespace=NAMESPACE)


async def told(world: Topologies, job: str) -> dict[str, str]:
    """What is said of the flavor, by what it is about."""
    workload = (await world.workload(job))["metadata"]["name"]
    [place] = (await world.cluster.why(f"workload/{workload}", namespace=NAMESPACE)).places
    return {reason.plugin: reason.message for reason in place.reasons}


async def give(world: Topologies, changes: Changes) -> None:
    """Make nodes as much larger as is asked."""
    for change in changes:
        assert change.action == "AddRoom"
        domain: Any = change.details["domain"]
        nodes = [node for node in (await world.client.list(NODES)).items
                 if all(node["metadata"]["labels"].get(label) == value for label, value in domain.items())]
        resources: Any = change.details["resources"]
        allocatable = dict(nodes[0]["status"]["allocatable"])
        allocatable["cpu"] = f"{milli(allocatable['cpu']) + milli(resources['cpu'])}m"
        await world.change_node(nodes[0]["metadata"]["name"], {"status": {"allocatable": allocatable}}, "status")
    await world.advance(10)


async def test_what_a_rack_lacks(world: Topologies) -> None:
    """Given racks of four CPUs and two, when a Job of six pods must be in one, then its answer says
    how much room every level has and asks for two more on a node of the larger; and that does.
    """
    await world.nodes(a="r1", b="r1", c="r2")
    await world.start(RACK, HOSTNAME)
    await world.submit("j", 6, annotations={REQUIRED: RACK})
    said = await told(world, "j")
    assert said["Topology rack"] == "room for 4 in r1, 2 in r2; 6 pods must be in one"
    assert said[f"Topology {HOSTNAME}"] == "room for 2 in a, 2 in b, 2 in c"
    answer = await why(world, "j")
    assert (answer.state, [change.text for change in answer.changes]) == (
        "Pending", ["room for 2 more pods (cpu 2, pods 2) on node a, in domain r1 of level rack"])
    await give(world, answer.changes)
    assert await world.places("j") == {"a": 4, "b": 2}


async def test_whose_end_makes_room(world: Topologies) -> None:
    """Given a rack that a Job has, when another must be in one, then the end of the first would do.
    """
    await world.nodes(a="r1", b="r2 1")
    await world.start(RACK, HOSTNAME)
    await world.submit("first", 2, annotations={REQUIRED: RACK})
    first = (await world.workload("first"))["metadata"]["name"]
    await world.submit("second", 2, annotations={REQUIRED: RACK})
    answer = await why(world, "second")
    assert [change.details["pods"] for change in answer.changes] == [1]
    assert [[change.target for change in each] for each in answer.alternatives] == [[f"workload/{NAMESPACE}/{first}"]]
    await give(world, answer.changes)
    assert await world.places("second") == {"b": 2}


@pytest.mark.parametrize(("levels", "count", "annotations"), [
    ((RACK, HOSTNAME), 5, {REQUIRED: HOSTNAME}),
    ((RACK, HOSTNAME), 9, {PREFERRED: RACK}),
    ((RACK, HOSTNAME), 11, {UNCONSTRAINED: "true"}),
    ((RACK, HOSTNAME), 10, {}),
    ((BLOCK, RACK), 6, {REQUIRED: RACK}),
    ((BLOCK, RACK, HOSTNAME), 8, {REQUIRED: BLOCK, SLICE: RACK, SIZE: "4"}),
    ((RACK, HOSTNAME), 8, {REQUIRED: RACK, SLICE: HOSTNAME, SIZE: "2"}),
])
async def test_what_is_asked_for_is_enough(
    world: Topologies, levels: tuple[str, ...], count: int, annotations: dict[str, str],
) -> None:
    """Given nodes in racks and blocks, on which another Job runs, when a Job waits for room, of
    whatever shape, then what its answer asks for is enough, and so is what is left out of none.
    """
    await world.nodes(a="b1/r1", b="b1/r1 3", c="b1/r2", d="b2/r3 1")
    await world.start(*levels)
    await world.submit("other", 1, annotations={REQUIRED: levels[-1]})
    await world.submit("j", count, annotations=annotations)
    answer = await why(world, "j")
    assert not await world.places("j")
    assert answer.changes
    await give(world, answer.changes)
    assert sum((await world.places("j")).values()) == count


async def test_quota_and_room_are_both_asked_for(world: Topologies) -> None:
    """Given a queue of two CPUs and a node of three, when a Job of four waits, then both are asked
    for.
    """
    await world.nodes(a="r1 3")
    await world.start(RACK, HOSTNAME, quota="2")
    await world.submit("j", 4, annotations={REQUIRED: RACK})
    answer = await why(world, "j")
    assert [(change.action, change.details.get("amount"), change.details.get("pods")) for change in answer.changes] == [
        ("AddQuota", "2", None), ("AddRoom", None, 1)]


async def test_no_room_helps_where_no_node_is_taken(world: Topologies) -> None:
    """Given a level that the topology does not have, or no nodes, when a Job waits, then no room is
    asked for.
    """
    await world.start(RACK, HOSTNAME)
    await world.submit("nowhere", 1, annotations={REQUIRED: "zone"})
    assert (await why(world, "nowhere")).changes == ()
    await world.submit("j", 1, annotations={REQUIRED: RACK})
    assert (await why(world, "j")).changes == ()
    assert (await told(world, "j"))["Topology rack"] == "room for none: there are no domains; 1 pods must be in one"
