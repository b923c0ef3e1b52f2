"""Strategies, one after the other, each with all seeds; or every crash point: what is run is a plan
of faults.

A plan that was run is not run again, since the same plan gives the same run; its seed counts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from fakekube.exploration.runner import Explored, Found, Run, Verdict, shrink
from fakekube.exploration.strategies import Calm, crash_points_of, deviations_of, plan_of
from fakekube.exploration.targets import TargetError
from fakekube.faults.rules import Rule
from fakekube.util.choices import Choices, Deviation

CalmRun = Callable[[str], tuple[Verdict, list[Calm]]]
"""Runs once without faults; what was asked in it, for each target."""

Plans = Callable[[list[Calm]], Iterable[tuple[int, list[Rule]]]]
"""The plans to run after a calm run, each with its seed."""


def by_strategies(strategies: Sequence[str], seeds: Iterable[int]) -> Plans:
    """The plans of each strategy with all seeds; with several targets the seeds take turns."""
    def plans(calm: list[Calm]) -> Iterator[tuple[int, list[Rule]]]:
        for strategy in strategies:
            for seed in seeds:
                turn, target = divmod(seed, len(calm))
                yield seed, plan_of(strategy, calm[target], turn)

    return plans


def crash_points(calm: list[Calm]) -> Iterator[tuple[int, list[Rule]]]:
    """Each target dies after each of its writes; the seeds are numbers.

    Raises TargetError for one that nobody can start again.
    """
    for one in calm:
        if not one.target.component:
            raise TargetError(f"{one.target.name} cannot be started again: crash_points takes a component of the cluster, "
                              "or an operator outside that is declared (fakekube.testing.operators)")
    yield from enumerate((plan for one in calm for plan in crash_points_of(one)), 1)


def explore(run: Run, calm_run: CalmRun, plans: Plans, target: str = "") -> Explored:
    """Run with plans until one fails, and shrink that one.

    ``target`` goes to ``calm_run``; what it, ``plans`` and ``run`` raise goes to the caller.
    """
    verdict, calm = calm_run(target)
    if verdict.failure:
        return Explored(0, (), Found(0, (), verdict, 0, 0))
    histories, count = dict.fromkeys([verdict.history]), 0
    done: dict[tuple[Deviation, ...], None] = {(): None}
    for seed, rules in plans(calm):
        count += 1
        plan = deviations_of(rules)
        if plan in done:
            continue
        done[plan] = None
        choices = Choices(seed, plan)
        verdict = run(choices, plan)
        histories[verdict.history] = None
        if verdict.failure:
            return Explored(count, tuple(histories), shrink(run, choices, verdict, plan=plan))
    return Explored(count, tuple(histories), None)
