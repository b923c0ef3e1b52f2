"""Runs something with one seed after the other, and shrinks the first failure.

A run is a function of choices and a plan (of faults, or nothing) to a verdict; what it runs, a test
of pytest or a function, it alone knows. So strategies, crashes and plans of faults are other runs,
or other plans, and not other runners.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from fakekube.exploration.shrinking import MOST_RUNS, shrunk
from fakekube.util.choices import Choices, Deviation, schedule_of


class Verdict(NamedTuple):
    """What became of one run.

    ``failure`` says what went wrong, so that two failures of one reason are equal, and is empty for
    a run that went well. ``history`` tells its history from others (``distinct.fingerprint``);
    ``detail`` is what the run wants to keep of it.
    """

    failure: str = ""
    history: str = ""
    detail: Any = None


Run = Callable[[Choices, Any], Verdict]
"""Runs once: with these choices, and with a plan that the caller of ``explore`` gave."""


class Found(NamedTuple):
    """A failure: the seed, the fewest deviations that still fail, and the verdict of that run.

    ``before`` is how many deviations the seed had, ``runs`` how many runs shrinking took.
    """

    seed: int
    deviations: tuple[Deviation, ...]
    verdict: Verdict
    before: int
    runs: int

    @property
    def schedule(self) -> str:
        """The text that replays it."""
        return schedule_of(self.seed, self.deviations)


class Explored(NamedTuple):
    """What came of it: how many seeds were run, the distinct histories, and the first failure."""

    seeds: int
    histories: tuple[str, ...]
    found: Found | None

    def __str__(self) -> str:
        ran = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}, {len(self.histories)} distinct histor" + (
            "y" if len(self.histories) == 1 else "ies")
        return f"{ran}, no failure" if self.found is None else f"{ran}, seed {self.found.seed} fails"


def explore(run: Run, seeds: Iterable[int], *, plan: Any = None, most_runs: int = MOST_RUNS) -> Explored:
    """Run with each seed until one fails, and shrink that one's deviations.

    ``plan`` goes to each run as it is; ``most_runs`` bounds the shrinking. What ``run`` raises goes
    to the caller.
    """
    histories: dict[str, None] = {}
    count = 0
    for seed in seeds:
        choices = Choices(seed)
        verdict = run(choices, plan)
        count += 1
        if verdict.history:
            histories[verdict.history] = None
        if verdict.failure:
            return Explored(count, tuple(histories), shrink(run, choices, verdict, plan=plan, most_runs=most_runs))
    return Explored(count, tuple(histories), None)


def shrink(run: Run, choices: Choices, verdict: Verdict, *, plan: Any = None, most_runs: int = MOST_RUNS) -> Found:
    """The fewest deviations of a run that failed which fail for the same reason."""
    kept, before = verdict, tuple(choices.deviations)

    def fails(deviations: tuple[Deviation, ...]) -> tuple[Deviation, ...] | None:
        nonlocal kept
        replay = Choices(choices.seed, deviations)
        again = run(replay, plan)
        if again.failure != verdict.failure:
            return None
        kept = again
        return tuple(replay.deviations)

    fewest, runs = shrunk(before, fails, most_runs)
    return Found(choices.seed or 0, fewest, kept, len(before), runs)
