"""Snapshots of clusters with gangs: taken in the middle of an attempt, gone on with under other
gates, restored where nobody knew of what they need.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakekube.apimachinery.causes import ACTING
from fakekube.client.resources import PODS
from fakekube.composition import snapshot as snapshots
from fakekube.composition.cluster import Cluster
from fakekube.composition.snapshot import Snapshot
from tests.controllers.scheduler.draft.test_draft import Drafts
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.world import NAMESPACE


class Writes:
    """Takes a snapshot after each write of the scheduler, Events apart."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.snapshots = cluster, list[Snapshot]()
        self._handle = cluster.apiserver.handle
        cluster.apiserver.handle = self.handle  # type: ignore[method-assign]  # in place of the server's

    async def handle(self, request: Any) -> Any:
        """Answer a request."""
        response, acting = await self._handle(request), ACTING.get()
        if request.method != "GET" and acting is not None and acting.component == "scheduler" and "/events" not in request.path:
            self.snapshots.append(self.cluster.snapshot())
        return response


async def _nodes(cluster: Cluster) -> Mapping[str, str]:
    pods = (await cluster.client.list(PODS, NAMESPACE)).items
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in pods}


async def test_a_snapshot_of_the_middle_of_an_attempt_goes_on_to_the_same_end() -> None:
    """Given a gang that evicts others, and one without room, when the cluster goes on from a
    snapshot after each write of the scheduler, read from its file, then it comes to the same end.
    """
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.priority_class("high", 100)
        for name in ("m", "n"):
            await world.node(name)
        await world.pods("low-1", "low-2", "low-3", cpu=2)
        await world.group("none", 3)
        await world.pods("none-1", "none-2", "none-3", group="none", cpu=4)
        await world.group("g", 2, priorityClassName="high")
        writes = Writes(cluster)
        await world.pods("a", "b", group="g", cpu=3, priorityClassName="high")
        await world.advance(400)
        expected = await _nodes(cluster)
    assert sum(1 for node in expected.values() if node) == 2
    assert len(writes.snapshots) > 8
    async with cluster_of_gangs() as other:
        for taken in writes.snapshots:
            await other.restore(snapshots.decode(taken.encode()))
            await other.advance(400)
            assert await _nodes(other) == expected


async def test_gates_off_and_on_over_one_snapshot() -> None:
    """Given a gang that fits in part, when its cluster goes on without the gates, then its pods go
    one by one; when they are on again, then those that are bound count, and it waits for room for
    the rest, which it gets; and from the first snapshot it is a gang as ever.
    """
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.node("n", 4)
        await world.group("g", 3)
        await world.pods("a", "b", "c", group="g", cpu=2)
        await world.advance(30)
        assert await world.bound() == []
        first = cluster.snapshot()
        await cluster.restore(first._replace(options=replace(first.options, feature_gates={})))
        await world.advance(30)
        assert await world.bound() == ["a", "b"]
        await cluster.restore(cluster.snapshot()._replace(options=first.options))
        await world.advance(30)
        assert await world.bound() == ["a", "b"]
        await world.node("more", 2)
        await world.advance(30)
        assert await world.bound() == ["a", "b", "c"]
        await cluster.restore(first)
        await world.advance(30)
        assert await world.bound() == []
        await world.node("more", 2)
        await world.advance(30)
        assert await world.bound() == ["a", "b", "c"]


@pytest.mark.parametrize("version", ["1.37", "1.35"])
async def test_the_draft_s_gate_comes_and_goes_with_a_snapshot(version: str) -> None:
    """Given a snapshot of a cluster with DraftWorkload, in which half a gang waits, when it is
    restored there, when a cluster starts with it, and when one without the gate goes to it, then
    the gang is whole with its other half; when the last is reset, then it is as it was.
    """
    async with Cluster(
        nodes=0, clock="manual", controllers="scheduler,serviceaccount", kubernetes_version=version,
        feature_gates={"DraftWorkload": True},
    ) as cluster:
        drafts = Drafts(cluster)
        await drafts.node()
        await drafts.workload({"name": "g", "minCount": 2})
        await drafts.pod("a", workload="w", group="g")
        taken = cluster.snapshot().encode()
        for _ in range(2):
            await cluster.restore(snapshots.decode(taken))
            assert await drafts.bound() == set()
            await drafts.pod("b", workload="w", group="g")
            assert await drafts.bound() == {"a", "b"}
        async with cluster.fork() as forked:
            await Drafts(forked).pod("c", workload="w", group="g")
            assert await Drafts(forked).bound() == {"a", "b", "c"}
    async with Cluster(state=snapshots.decode(taken)) as started:
        await Drafts(started).pod("b", workload="w", group="g")
        assert await Drafts(started).bound() == {"a", "b"}
    async with cluster_of_gangs() as plain:
        await plain.restore(snapshots.decode(taken))
        await Drafts(plain).pod("b", workload="w", group="g")
        assert await Drafts(plain).bound() == {"a", "b"}
        await plain.reset()
        world = Gangs(plain)
        await world.node("n")
        await world.group("g", 2)
        await world.pods("a", group="g")
        assert await world.bound() == []
        await world.pods("b", group="g")
        assert await world.bound() == ["a", "b"]
