"""The collector of a process of our own."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fakekube.util.collector import MAX_BUSY_LOOKS, YOUNG, PacedCollector


class Looks:
    """A loop's timers, of which there is one, fired by hand."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.loop = asyncio.new_event_loop()

    def call_later(self, seconds: float, look: Callable[[], None]) -> asyncio.TimerHandle:
        self.waiting.append(look)
        return self.loop.call_later(seconds, look)

    def fire(self) -> None:
        self.waiting.pop()()


class Knot:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture
def looks() -> Iterator[Looks]:
    looks, before = Looks(), gc.get_threshold()
    collector = PacedCollector(looks.call_later)
    collector.start()
    yield looks
    collector.stop()
    looks.loop.close()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def work() -> list[Any]:
    """What makes the collector look at what is new."""
    return [[] for _ in range(2 * YOUNG)]


def old_knot() -> "weakref.ref[Knot]":
    """One that survived a look, and is garbage since."""
    knot = Knot()
    work()
    return weakref.ref(knot)


def test_all_is_collected_only_when_nothing_happens(looks: Looks) -> None:
    """Given cyclic garbage that survived its first look, when there was work since the last look,
    then it stays; at the first look after an idle time it goes.
    """
    knot = old_knot()
    looks.fire()
    assert knot() is not None
    work()
    looks.fire()
    assert knot() is not None
    looks.fire()
    assert knot() is None


def test_who_is_never_idle_is_collected_at_last(looks: Looks) -> None:
    """Given cyclic garbage, when there is work before every look, then it goes at one of them
    nevertheless.
    """
    knot = old_knot()
    for _ in range(MAX_BUSY_LOOKS):
        assert knot() is not None
        work()
        looks.fire()
    assert knot() is None


def test_an_idle_process_is_left_alone(looks: Looks) -> None:
    """Given a process that has been collected, when nothing happens, then nothing is collected."""
    work()
    looks.fire()
    looks.fire()
    before = gc.get_stats()[2]["collections"]
    looks.fire()
    assert gc.get_stats()[2]["collections"] == before
