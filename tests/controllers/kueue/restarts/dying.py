"""Plays that are run with a Kueue that dies after some of its writes and starts again."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

from fakekube import Cluster
from fakekube.composition.fleet import Fleet
from tests.controllers.kueue.restarts import state
from tests.controllers.restarting import Restarts

Scene = AbstractAsyncContextManager[Cluster | Fleet]


class Play(NamedTuple):
    """``scene`` makes the clusters, ``act`` plays. ``home`` is where Kueue dies, after
    every ``least_step`` writes or less often: what dies in each of its steps is never done.
    """

    name: str
    scene: Callable[[], Scene]
    act: Callable[[Any], Awaitable[None]]
    home: str = ""
    least_step: int = 1


class End(NamedTuple):
    """How a play ended: what can be compared, what is wrong with it, what Kueue wrote before the
    end, and how often it died.
    """

    lines: list[str]
    faults: list[str]
    written: list[str]
    deaths: int


async def played(play: Play, when: Callable[[int], bool]) -> End:
    """Run a play; Kueue dies after the writes that ``when`` says.

    At the end it is started once more, and would then do nothing that it did not do before.
    """
    async with play.scene() as scene:
        members: Mapping[str, Cluster] = {"": scene} if isinstance(scene, Cluster) else scene
        home = members[play.home]
        is_manager = play.home == next(iter(members))  # the others write to themselves alone
        others = [cluster for name, cluster in members.items() if is_manager and name != play.home]
        restarts = Restarts(home, "kueue", when, others=others)
        await play.act(scene)
        objects = {name: await state.objects_of(cluster) for name, cluster in members.items()}
        lines, faults = state.comparable(objects), state.faults(objects)
        written = list(restarts.written)
        restarts.when = lambda _: False
        for cluster in members.values():
            await cluster.restart_controller("kueue")
        await scene.advance("30s")
        again = state.comparable({name: await state.objects_of(cluster) for name, cluster in members.items()})
        faults += [f"a Kueue that starts anew changes {line}" for line in state.difference(again, lines)]
        return End(lines, faults, written, restarts.count)


@asynccontextmanager
async def cluster(**options: Any) -> AsyncIterator[Cluster]:
    """A cluster on which time moves as the play says."""
    async with Cluster(**{"clock": "manual", **options}) as made:
        yield made
