"""Lazy timers: virtual time does not stop for them, and nobody can see that they were late."""

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import Stalled, VirtualDriver


class Heart:
    """Beats every ten seconds, lazily."""

    def __init__(self, clock):
        self.clock, self.beats, self.start = clock, [], clock.time()
        self.wait()

    def wait(self):
        self.clock.call_later(10, self.beat, lazy=True)

    def beat(self):
        self.beats.append(self.clock.time() - self.start)
        self.wait()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def driver(clock):
    return VirtualDriver(clock, Activity())


async def test_a_jump_over_an_hour_is_one_beat(clock, driver):
    """Given a lazy timer that sets itself again, when an hour passes in which nothing happens, then
    it fires once, at its end.
    """
    heart = Heart(clock)
    await driver.advance(3600)
    assert heart.beats == [3600]
    await driver.advance(9)
    assert heart.beats == [3600]
    await driver.advance(1)
    assert heart.beats == [3600, 3610]


async def test_whatever_happens_comes_after_the_beats_that_were_due(clock, driver):
    """Given a lazy timer and others, when time stops for those, then the lazy one has fired before
    them if it was due.
    """
    heart = Heart(clock)
    seen = []
    for delay in (5, 9.5, 12, 13, 50):
        clock.call_later(delay, lambda: seen.append(list(heart.beats)))
    await driver.advance(60)
    assert seen == [[], [], [12], [12], [12, 50]]
    assert heart.beats == [12, 50, 60]


async def test_a_lazy_timer_never_pulls_time(clock, driver):
    """Given a lazy timer alone, when a predicate waits without limit, then it stalls and time
    stands still.
    """
    heart = Heart(clock)
    with pytest.raises(Stalled, match="no timer is left"):
        await driver.run_until(lambda: bool(heart.beats))
    assert clock.time() == heart.start


async def test_with_a_limit_time_stops_even_for_lazy_timers(clock, driver):
    """Given a lazy timer alone, when a predicate waits for it for at most a minute, then it comes
    true after ten seconds.
    """
    heart = Heart(clock)
    await driver.run_until(lambda: bool(heart.beats), within=60)
    assert heart.beats == [10]


async def test_a_cancelled_lazy_timer_does_not_fire(clock, driver):
    """Given a lazy timer, when it is cancelled, then it does not fire; and it is listed until then.
    """
    seen = []
    timer = clock.call_later(10, seen.append, 1, lazy=True)
    assert clock.timers() == [timer]
    timer.cancel()
    await driver.advance(20)
    assert (seen, clock.timers()) == ([], [])
