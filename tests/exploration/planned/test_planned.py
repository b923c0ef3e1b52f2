"""The plans of all strategies, word for word: a seed that was told once has to mean the same later.
"""

from typing import Any

import pytest

from fakekube.exploration.draws import Drawn, Draws
from fakekube.exploration.seeds import SeedsError, seeds_of
from fakekube.exploration.shrinking import shrunk
from fakekube.exploration.story import told
from fakekube.exploration.strategies import StrategyError, strategies_of
from fakekube.util.choices import Deviation
from tests.exploration.planned.plans import FILE, lines

STRATEGIES = [
    "intermediate-states", "stale-states", "unobserved-states", "slow-deliveries", "duplicate-deliveries", "conflicts",
    "ambiguous-writes"]


def test_what_seeds_plan() -> None:
    """Given an operator that can die, and one outside, when seeds draw plans, then each fault is as
    it was written down.
    """
    assert list(lines()) == FILE.read_text().splitlines()


@pytest.mark.parametrize(("value", "seeds"), [
    ("3", range(1, 4)), (3, range(1, 4)), (" 201-400 ", range(201, 401)), ("0-0", range(1)), ("5-5", range(5, 6)),
    (str((1 << 62) - 1), range(1, 1 << 62)),
])
def test_which_seeds_are_named(value: object, seeds: range) -> None:
    """Given a number or a range, when seeds are read, then a number counts from 1."""
    assert seeds_of(value) == seeds


@pytest.mark.parametrize(("value", "text"), [
    *((value, f"{value!r} are no seeds: say how many, 200, or which, 201-400") for value in ("0", "x", "", "4-3", "-3", "1-",
        True)),
    (str(1 << 62), "'4611686018427387904' are too many seeds: there are 4,611,686,018,427,387,904"),
])
def test_what_names_no_seeds_is_told(value: object, text: str) -> None:
    """Given a text that names none, or more than there are, when it is read, then that is said."""
    with pytest.raises(SeedsError) as refused:
        seeds_of(value)
    assert str(refused.value) == text


def test_strategies_are_named() -> None:
    """Given an option, when it names strategies, then each is there once; what names none is told
    which there are.
    """
    assert strategies_of("all") == strategies_of(["all"]) == tuple(STRATEGIES)
    assert strategies_of(" conflicts , stale-states,conflicts") == ("conflicts", "stale-states")
    for value, name in (("no", "'no'"), ("all,conflicts", "'all'"), (7, "'7'")):
        with pytest.raises(StrategyError) as refused:
            strategies_of(value)
        assert str(refused.value) == f"{name} is no strategy: known are {', '.join(STRATEGIES)}, and all for all of them"


def test_what_is_drawn() -> None:
    """Given some possibilities, when seeds draw, then each is alone in its first turn, and at most
    three are together later; the values that go with one take turns, too.
    """
    assert Draws(1, "a").in_turn(0) == []
    first = [Draws(seed, "a").in_turn(7) for seed in range(7)]
    assert sorted(one.place for (one,) in first) == list(range(7))
    assert {one.before for (one,) in first} == {0}
    later = [Draws(seed, "a").in_turn(7) for seed in range(7, 700)]
    assert {len(each) for each in later} == {1, 2, 3}
    assert all([one.place for one in each] == sorted({one.place for one in each}) for each in later)
    alone = sum(len(each) == 1 for each in later)
    assert 420 < alone < 520
    draws = Draws(1, "a")
    assert sorted(draws.other(Drawn(2, before), "xyz") for before in range(3)) == ["x", "y", "z"]
    assert {draws.other(Drawn(place, 0), "xyz") for place in range(20)} == {"x", "y", "z"}


@pytest.mark.parametrize(("whole", "needed", "most", "left", "runs"), [
    ((), (), 9, (), 0), ((1, 2), (1,), 0, (1, 2), 0), ((1, 2, 3), (), 9, (), 1), ((1,), (1,), 9, (1,), 1),
    (tuple(range(8)), (3,), 400, (3,), 5), (tuple(range(8)), (0, 7), 400, (0, 7), 15),
    (tuple(range(8)), (0, 7), 5, (0, 1, 4, 5, 6, 7), 5),
    (tuple(range(4)), tuple(range(4)), 400, tuple(range(4)), 7),
])
def test_what_is_shrunk(whole: tuple[int, ...], needed: tuple[int, ...], most: int, left: tuple[int, ...], runs: int) -> None:
    """Given a run that fails by some of its deviations, when others are left out, then those are
    left, unless there are too many runs.
    """
    asked: list[tuple[int, ...]] = []

    def fails(part: tuple[int, ...]) -> tuple[int, ...] | None:
        asked.append(part)
        return part if set(needed) <= set(part) else None

    assert shrunk(whole, fails, most) == (left, runs)
    assert len(asked) == runs


def test_a_story_without_a_history() -> None:
    """Given a failure whose run has left no history, when it is told, then its deviations are, 25
    at most, and the command; one without any has its sentence.
    """
    class Found:
        seed, before, runs = 7, 30, 9
        deviations: tuple[Any, ...] = ()

    found: Any = Found()
    assert list(told(found, "run it", [])) == [
        "the calm run passes, seed 7 fails: shrunk from 30 deviations to 0 in 9 runs",
        "it fails without any: what differs is that each component has caches of its own",
        "what differs from the calm run:", "to have it again:", "  run it"]
    found.deviations = tuple(Deviation("x", number, 1) for number in range(26))
    lines_of = list(told(found, "run it", []))
    assert lines_of[:2] == [
        "the calm run passes, seed 7 fails: shrunk from 30 deviations to 26 in 9 runs", "what differs from the calm run:"]
    assert lines_of[2:-2] == [f"  > {one}" for one in found.deviations[:25]]
    assert lines_of[-2:] == ["to have it again:", "  run it"]
