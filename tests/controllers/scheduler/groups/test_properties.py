"""What holds whatever comes: gangs are whole, nodes not overdrawn, and nobody waits in vain.

An example is a list of steps; Hypothesis prints the one that fails, smallest first.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.client.resources import NODES, PODS
from fakekube_controllers.scheduler.search import NodeSearch
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.world import NAMESPACE

CPUS = st.integers(1, 3)
STEPS = st.lists(st.one_of(
    st.tuples(st.just("node"), st.integers(1, 6)),
    st.tuples(st.just("gang"), st.integers(1, 4), st.integers(0, 2), CPUS, st.integers(0, 2)),
    st.tuples(st.just("pod"), CPUS, st.integers(0, 2)),
    st.tuples(st.just("member"), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.integers(0, 19)),
    st.tuples(st.just("drop node"), st.integers(0, 4)),
    st.tuples(st.just("lower"), st.integers(0, 9)),
    st.tuples(st.just("restart")),
    st.tuples(st.just("wait"), st.integers(1, 400)),
), min_size=2, max_size=14)
# full nodes, and who matters more than those that are there
CROWDED = st.builds(
    lambda low, high, rest: [("node", 4), ("node", 6), *low, *high, *rest],
    st.lists(st.one_of(
        st.tuples(st.just("gang"), st.integers(1, 4), st.integers(0, 1), CPUS, st.integers(0, 1)),
        st.tuples(st.just("pod"), CPUS, st.integers(0, 1))), min_size=4, max_size=8),
    st.lists(st.one_of(
        st.tuples(st.just("gang"), st.integers(1, 3), st.integers(0, 1), CPUS, st.integers(1, 2)),
        st.tuples(st.just("pod"), CPUS, st.integers(1, 2))), min_size=1, max_size=3),
    STEPS)


@dataclass
class Gang:
    """A gang as the test made it. ``disturbed``: it has lost pods that had a node."""

    name: str
    minimum: int
    cpu: int
    priority: int
    pods: list[str] = field(default_factory=list)
    disturbed: bool = False


class Play:
    """Plays steps on a cluster, and looks at it after each."""

    def __init__(self, world: Gangs) -> None:
        self.world, self.gangs, self.nodes = world, list[Gang](), list[str]()
        self.count = 0
        self.bound_before: dict[str, str] = {}
        self.priorities: dict[str, int] = {}  # of the pods that were bound at the last look
        self.removed: dict[str, None] = {}  # by the test, not by the scheduler
        self.seen: list[dict[str, str]] = []  # where pods were, at each look

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}-{self.count}"

    async def step(self, step: Any) -> None:
        """Play one step."""
        kind, *values = step if isinstance(step, tuple) else (step,)
        await getattr(self, "_" + kind.replace(" ", "_"))(*values)
        await self.world.cluster.settle()

    async def _node(self, cpu: int) -> None:
        self.nodes.append(self._name("node"))
        await self.world.node(self.nodes[-1], cpu)

    async def _gang(self, minimum: int, more: int, cpu: int, priority: int) -> None:
        gang = Gang(self._name("gang"), minimum, cpu, priority)
        self.gangs.append(gang)
        await self.world.group(gang.name, minimum, priorityClassName=f"p{priority}")
        for _ in range(minimum + more):
            await self._join(gang)

    async def _join(self, gang: Gang) -> None:
        gang.pods.append(self._name("member"))
        await self.world.pods(gang.pods[-1], group=gang.name, cpu=gang.cpu, priorityClassName=f"p{gang.priority}")

    async def _member(self, which: int) -> None:
        if self.gangs:
            await self._join(self.gangs[which % len(self.gangs)])

    async def _pod(self, cpu: int, priority: int) -> None:
        await self.world.pods(self._name("pod"), cpu=cpu, priorityClassName=f"p{priority}")

    async def _delete(self, which: int) -> None:
        names = sorted(pod["metadata"]["name"] for pod in await self._pods())
        if names:
            await self._remove(names[which % len(names)])

    async def _remove(self, *names: str) -> None:
        self.removed.update(dict.fromkeys(names))
        await self.world.delete(*names)

    async def _drop_node(self, which: int) -> None:
        if self.nodes:
            name = self.nodes.pop(which % len(self.nodes))
            await self.world.client.delete(NODES, name, None)
            await self.world.cluster.settle()
            await self._remove(*[
                pod["metadata"]["name"] for pod in await self._pods() if pod["spec"].get("nodeName") == name])

    async def _lower(self, which: int) -> None:
        if self.gangs:
            gang = self.gangs[which % len(self.gangs)]
            gang.minimum = max(1, gang.minimum - 1)
            await self.world.set_minimum(gang.name, gang.minimum)

    async def _restart(self) -> None:
        await self.world.cluster.restart_controller("scheduler")

    async def _wait(self, seconds: int) -> None:
        await self.world.advance(seconds)

    async def _pods(self) -> list[Any]:
        return list((await self.world.client.list(PODS, NAMESPACE)).items)

    async def look(self) -> None:
        """Nodes hold what is on them, and no gang has some pods but less than its minimum."""
        pods = await self._pods()
        bound = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        used = Counter[str]()
        for pod in pods:
            if pod["spec"].get("nodeName"):
                used[pod["spec"]["nodeName"]] += _cpu(pod)
        for node in (await self.world.client.list(NODES)).items:
            name = node["metadata"]["name"]
            assert used[name] <= int(node["status"]["allocatable"]["cpu"]), f"{name} is overdrawn"
        there_are = {pod["metadata"]["name"] for pod in pods}
        for gang in self.gangs:
            # one that is gone may have had its node, and lost it, since the last look
            gang.disturbed |= any(
                name not in there_are or (name in self.bound_before and name not in bound) for name in gang.pods)
            there = sum(name in bound for name in gang.pods)
            assert there in (0, *range(gang.minimum, 99)) or gang.disturbed, f"{gang.name} has {there} pods of {gang.minimum}"
        self._priorities_hold(pods, bound)
        self.bound_before = bound
        self.priorities = {pod["metadata"]["name"]: _priority(pod) for pod in pods if pod["metadata"]["name"] in bound}
        self.seen.append(bound)

    def _priorities_hold(self, pods: list[Any], bound: dict[str, str]) -> None:
        """Who was evicted gave way to somebody who matters more, and had no node before."""
        names = {pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}
        evicted = [name for name in self.bound_before if name not in names and name not in self.removed]
        self.removed.update(dict.fromkeys(evicted))
        came = [_priority(pod) for pod in pods if pod["metadata"]["name"] not in self.bound_before]
        for name in evicted:
            assert any(priority > self.priorities[name] for priority in came), f"{name} was evicted for nobody who matters more"

    async def nobody_waits_in_vain(self) -> None:
        """No gang that is whole, and no pod, waits while there is room for it."""
        await self.world.advance(700)
        await self.look()
        pods = await self._pods()
        free = {node["metadata"]["name"]: int(node["status"]["allocatable"]["cpu"])
                for node in (await self.world.client.list(NODES)).items}
        names = {pod["metadata"]["name"]: pod for pod in pods}
        for pod in pods:
            if pod["spec"].get("nodeName"):
                free[pod["spec"]["nodeName"]] -= _cpu(pod)
        waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
        if any((pod.get("status") or {}).get("nominatedNodeName") for pod in waiting):
            return  # room is kept for these
        for gang in self.gangs:
            members = [names[name] for name in gang.pods if name in names]
            bound = sum(bool(pod["spec"].get("nodeName")) for pod in members)
            room = sum(left // gang.cpu for left in free.values())
            missing = len(members) - bound
            if missing and len(members) >= gang.minimum:
                assert bound + min(room, missing) < gang.minimum or not room, f"{gang.name} waits, and there is room"
        for pod in waiting:
            if "schedulingGroup" not in pod["spec"]:
                assert all(left < _cpu(pod) for left in free.values()), f"{pod['metadata']['name']} waits, and there is room"


def _cpu(pod: Any) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def _priority(pod: Any) -> int:
    return int(pod["spec"].get("priority") or 0)


async def _play(steps: list[Any]) -> list[dict[str, str]]:
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        for value in range(3):
            await world.priority_class(f"p{value}", value * 10)
        play = Play(world)
        for step in steps:
            await play.step(step)
            await play.look()
        await play.nobody_waits_in_vain()
        return play.seen


@settings(max_examples=60, deadline=None)
@given(STEPS | CROWDED)
def test_gangs_are_whole_and_nobody_waits_in_vain(steps: list[Any]) -> None:
    """Given nodes, gangs and pods that come and go, and a scheduler that restarts, when all is at
    rest, then no gang is bound in part, no node is overdrawn, who was evicted made room for a
    higher priority, and who waits has no room.
    """
    asyncio.run(_play(steps))


@settings(max_examples=20, deadline=None)
@given(STEPS | CROWDED)
def test_asking_every_node_anew_binds_the_same(steps: list[Any]) -> None:
    """Given the same steps, when a scheduler plays them that asks its plugins about every node for
    every pod, then all pods are where they are with the one that keeps an index of nodes.
    """
    kept = asyncio.run(_play(steps))
    with patch.object(NodeSearch, "of_framework", lambda _: None):
        assert asyncio.run(_play(steps)) == kept
