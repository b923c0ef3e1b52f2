"""Kueue that stops after any of its writes and starts again ends in the same state."""

import os
import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.controllers.kueue.restarts import appplays, fleetplays, jobplays, podplays
from tests.controllers.kueue.restarts.dying import End, Play, played
from tests.controllers.kueue.restarts.state import difference
from tests.controllers.restarting import MOST_RESTARTS

PLAYS = [*podplays.PLAYS, *jobplays.PLAYS, *appplays.PLAYS, *fleetplays.PLAYS]
EVERY = (1, 2, 3)

every_play = pytest.mark.parametrize("play", PLAYS, ids=[each.name for each in PLAYS])


class Point(NamedTuple):
    """When Kueue dies, and in words."""

    when: Callable[[int], bool]
    told: str


def after(number: int, calm: End) -> Point:
    """After one write."""
    told = f"after write {number} of {len(calm.written)}, {calm.written[number - 1]}"
    return Point(lambda write: write == number, told)


def after_every(step: int, first: int = 0) -> Point:
    """After so many writes each time."""
    return Point(lambda write: write % step == first % step, f"after every {step}th write from the {first or step}th on")


async def ends_alike(play: Play, calm: End, point: Point) -> str:
    """What is wrong or different, if Kueue dies at a point."""
    end = await played(play, point.when)
    wrong = [*end.faults, *difference(end.lines, calm.lines)]
    assert MOST_RESTARTS > end.deaths > 0, point.told
    return "\n".join([f"{play.name}, {point.told}:", *wrong]) if wrong else ""


async def calmly(play: Play) -> End:
    """The end of a play in which Kueue never dies."""
    calm = await played(play, lambda _: False)
    assert not calm.faults, "\n".join(calm.faults)
    assert calm.written
    return calm


@every_play
async def test_some_writes(play: Play) -> None:
    """Given a play, when Kueue dies again and again after so many writes, then it ends as without.

    Every run takes other ones; ``RESTARTS_SEED`` says which, and a failure says the seed.
    """
    calm = await calmly(play)
    seed = int(os.environ.get("RESTARTS_SEED") or random.randrange(1000))
    rng = random.Random(seed)
    step = rng.randint(max(2, play.least_step), 9)
    wrong = await ends_alike(play, calm, after_every(step, rng.randint(1, step)))
    assert not wrong, f"RESTARTS_SEED={seed}: {wrong}"


@every_play
@pytest.mark.slow
async def test_every_write(play: Play) -> None:
    """Given a play, when Kueue dies after any one write of it, or after each, every second or every
    third of them, and starts again, then it ends as without.
    """
    calm = await calmly(play)
    points = [after(number, calm) for number in range(1, len(calm.written) + 1)] + [
        after_every(step) for step in EVERY if step >= play.least_step]
    wrong = [await ends_alike(play, calm, point) for point in points]
    assert not any(wrong), "\n".join(filter(None, wrong))
