"""Strategies, one after the other, each with all seeds: what is run is a plan of faults.

A plan that was run is not run again, since the same plan gives the same run; its seed counts.
"""

from collections.abc import Callable, Iterable, Sequence

from fakekube.exploration.runner import Explored, Found, Run, Verdict, shrink
from fakekube.exploration.strategies import Calm, deviations_of, plan_of
from fakekube.util.choices import Choices, Deviation

CalmRun = Callable[[str], tuple[Verdict, list[Calm]]]
"""Runs once without faults; what was asked in it, for each target."""


def explore(run: Run, calm_run: CalmRun, strategies: Sequence[str], seeds: Iterable[int], target: str = "") -> Explored:
    """Run with the plans of each strategy until one fails, and shrink that one.

    With several targets the seeds take turns. ``target`` goes to ``calm_run``; what it and ``run``
    raise goes to the caller.
    """
    verdict, calm = calm_run(target)
    if verdict.failure:
        return Explored(0, (), Found(0, (), verdict, 0, 0))
    histories, count = dict.fromkeys([verdict.history]), 0
    for strategy in strategies:
        done: dict[tuple[Deviation, ...], None] = {(): None}
        for seed in seeds:
            count += 1
            plan = deviations_of(plan_of(strategy, calm[seed % len(calm)], seed))
            if plan in done:
                continue
            done[plan] = None
            choices = Choices(seed, plan)
            verdict = run(choices, plan)
            histories[verdict.history] = None
            if verdict.failure:
                return Explored(count, tuple(histories), shrink(run, choices, verdict, plan=plan))
    return Explored(count, tuple(histories), None)
