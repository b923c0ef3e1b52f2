"""Every crash point of a component: run once, count its writes, then once for each, after which it
dies and starts again with empty caches. And every plan of strategies, told the same way.

In tests of pytest the markers ``crash_points`` and ``strategies`` do the same; this is for
functions. What runs is a cluster, or a fleet of several.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet, names_of
from fakekube.exploration.campaign import by_strategies
from fakekube.exploration.strategies import Calm, crash_points_of, deviations_of
from fakekube.exploration.targets import TargetError, calm_of
from fakekube.faults.rules import Rule
from fakekube.util.choices import Choices, schedule_of

T = TypeVar("T")


class CrashPoint(NamedTuple):
    """One run: where the component died, how it ended, and what replays it.

    ``end`` is what the function returned, None where it raised ``error``.
    """

    where: str
    end: Any
    error: Exception | None
    schedule: str

    def __str__(self) -> str:
        how = f"raised {self.error!r}" if self.error is not None else f"ended with {self.end!r}"
        return f"{self.where}: {how}; Cluster(schedule={self.schedule!r}) has it again"


class CrashPoints(NamedTuple, Generic[T]):
    """All runs: how the calm one ended, and the points in the order of the writes."""

    calm: T
    points: tuple[CrashPoint, ...]

    @property
    def differing(self) -> tuple[CrashPoint, ...]:
        """The points that raised, or did not end as the calm run did."""
        return tuple(point for point in self.points if point.error is not None or point.end != self.calm)


async def crash_points(
    play: Callable[[Any], Awaitable[T]], component: str, *, moment: Literal["before", "after"] = "after", **options: Any,
) -> CrashPoints[T]:
    """Play on a cluster, then once for each write of the component in the calm run: it dies before
    or after that one is committed.

    ``play`` lets enough time pass for the component to come to rest, and returns what can be
    compared: names and states, no uids and times. ``options`` are those of ``Cluster``. With
    ``fleet="manager,worker1"`` it is given a ``Fleet`` of these, whose options they are then, and
    ``component`` is ``manager/scheduler``; its writes to other members count, too.

    What it raises in the calm run goes to the caller; so does TargetError for a component that
    there is not.
    """
    calm_end, calm = await calm_of_play(play, component, options)
    return await play_plans(play, calm_end, [plan for one in calm for plan in crash_points_of(one, moment)], options)


async def strategy_points(
    play: Callable[[Any], Awaitable[T]], component: str, strategies: Iterable[str], seeds: Iterable[int], **options: Any,
) -> CrashPoints[T]:
    """As ``crash_points``, with the plans of strategies, each with all seeds, each plan once.

    In a fleet the seeds take turns between the clusters to which the component writes.
    """
    calm_end, calm = await calm_of_play(play, component, options)
    plans = {deviations_of(plan): plan for _, plan in by_strategies(list(strategies), list(seeds))(calm) if plan}
    return await play_plans(play, calm_end, plans.values(), options)


async def play_plans(
    play: Callable[[Any], Awaitable[T]], calm_end: T, plans: Iterable[Sequence[Rule]], options: Mapping[str, Any],
) -> CrashPoints[T]:
    """Play once with each of some plans; ``calm_end`` is how it ends without."""
    points = []
    for rules in plans:
        deviations = deviations_of(rules)
        end, error = None, None
        try:
            async with _made(Choices(0, deviations), options) as made:
                end = await play(made)
        except Exception as raised:  # whatever it is, it is how this run ended
            error = raised
        points.append(CrashPoint("; ".join(rule.name for rule in rules), end, error, schedule_of(0, deviations)))
    return CrashPoints(calm_end, tuple(points))


async def calm_of_play(
    play: Callable[[Any], Awaitable[T]], component: str, options: Mapping[str, Any],
) -> tuple[T, list[Calm]]:
    """How a play ends when nothing goes wrong, and what a component did then, by cluster.

    Raises as ``crash_points``.
    """
    async with _made(Choices(0, ()), options) as made:
        end = await play(made)
        calm = calm_of(made, component)
        if any(not one.target.component for one in calm):
            raise TargetError(f"{component} is no component of the cluster and no declared operator, which could start again")
        return end, calm


def _made(choices: Choices, options: Mapping[str, Any]) -> Cluster | Fleet:
    """Raises OptionError."""
    if "fleet" not in options:
        return Cluster(schedule=choices, **options)
    others = {name: value for name, value in options.items() if name != "fleet"}
    return Fleet(*names_of(options["fleet"]), schedule=choices, **others)
