"""A key is in the queue once, is never processed twice at a time, and is not forgotten."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import VirtualDriver
from fakekube.util.wallclock import RealClock
from fakekube.workqueue.queue import QueueShutDown, WorkQueue
from fakekube.workqueue.ratelimit import Bucket, ExponentialBackoff, doubled_seconds


class World:
    def __init__(self):
        self.activity = Activity()
        self.clock = ManualClock(activity=self.activity)
        self.driver = VirtualDriver(self.clock, self.activity)
        self.queue = WorkQueue(self.clock, self.activity, limiter=ExponentialBackoff(), name="q")


@pytest.fixture
def world():
    return World()


async def test_a_key_queues_once_in_the_order_of_its_first_adding(world):
    """Given keys added several times, when taken, then each comes once, in order, and nothing is in
    flight after.
    """
    for key in "abcab":
        world.queue.add(key)
    assert [await world.queue.get() for _ in range(3)] == ["a", "b", "c"]
    assert world.activity.idle


async def test_a_key_added_while_processed_queues_after(world):
    """Given a key in work, when it is added, then it is taken again only after it is done."""
    world.queue.add("a")
    key = await world.queue.get()
    world.queue.add("a")
    world.queue.add("b")
    assert await world.queue.get() == "b"
    assert len(world.queue) == 0
    world.queue.done(key)
    assert await world.queue.get() == "a"


async def test_a_getter_that_waits_gets_the_key(world):
    """Given two getters that wait, one of them cancelled, when a key comes, then the other gets it.
    """
    loop = asyncio.get_running_loop()
    first, second = loop.create_task(world.queue.get()), loop.create_task(world.queue.get())
    await asyncio.sleep(0)
    world.queue.add("a")
    first.cancel()
    assert await second == "a"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_of_several_delays_the_earliest_counts(world):
    """Given a key delayed by 10 s, when delayed by 5 and 20 s too, then it comes once, after 5 s.
    """
    for delay in (10, 5, 20):
        world.queue.add_after("a", delay)
    await_key = asyncio.get_running_loop().create_task(world.queue.get())
    start = world.clock.time()
    await world.driver.run_until(await_key.done)
    assert world.clock.time() == start + 5
    assert world.clock.timers() == []


async def test_a_delay_that_counts_replaces_a_daemon_delay(world):
    """Given a daemon delay, when a later plain one is added, then time may move to the earlier
    instant for it.
    """
    world.queue.add_after("a", 5, daemon=True)
    assert world.clock.pending == 0
    world.queue.add_after("a", 10)
    assert world.clock.pending == 1
    assert world.clock.next_due() == world.clock.time() + 5


async def test_failures_double_the_delay_up_to_a_limit(world):
    """Given a key that fails again and again, when it backs off, then 5 ms double up to 1000 s,
    until forgotten.
    """
    limiter = ExponentialBackoff()
    delays = [limiter.when("a") for _ in range(20)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000
    assert limiter.num_requeues("a") == 20
    limiter.forget("a")
    assert limiter.when("a") == 0.005


async def test_a_bucket_lets_a_burst_through_and_then_a_rate(world):
    """Given a bucket of 2 with 10 a second, when asked four times, then the third and fourth wait
    their turn.
    """
    bucket = Bucket(world.clock, qps=10, burst=2)
    assert [round(bucket.when("a"), 6) for _ in range(4)] == [0, 0, 0.1, 0.2]
    await world.driver.advance(1)
    assert bucket.when("a") == 0


async def test_shut_down_ends_getters_and_drops_what_waits(world):
    """Given keys that wait and a getter, when shut down, then nothing is in flight, no timer left,
    the getter ends.
    """
    getter = asyncio.get_running_loop().create_task(world.queue.get())
    await asyncio.sleep(0)
    world.queue.add_after("b", 5)
    world.queue.shut_down()
    world.queue.add("c")
    with pytest.raises(QueueShutDown):
        await getter
    assert world.activity.idle
    assert world.clock.pending == 0


@given(st.lists(st.tuples(st.sampled_from(["add", "get", "done"]), st.integers(0, 3))))
def test_no_key_is_lost_or_doubled(steps):
    """Given any order of adds, gets and dones, when all is done, then every add was followed by a
    get of its key.
    """
    async def run():
        world, processing, owed = World(), [], {}
        for step, key in steps:
            if step == "add":
                world.queue.add(key)
                owed[key] = True
            elif step == "get" and len(world.queue):
                got = await world.queue.get()
                assert got not in processing
                processing.append(got)
                assert owed.pop(got)
            elif step == "done" and processing:
                world.queue.done(processing.pop(0))
        while processing or len(world.queue):
            if processing:
                world.queue.done(processing.pop(0))
            if len(world.queue):
                processing.append(got := await world.queue.get())
                assert owed.pop(got)
        assert not owed
        assert world.activity.idle

    asyncio.run(run())


@pytest.mark.parametrize("times", [0, 1, 5, 63, 1_100, 10**9])
def test_a_delay_never_grows_out_of_bounds(times: int) -> None:
    """Given any number of failures, when the delay is doubled as often, then it is at most the
    maximum, and no overflow.
    """
    assert doubled_seconds(10.0, times, 300.0) == min(10.0 * 2 ** min(times, 10), 300.0)


async def test_a_key_added_when_quiet_comes_after_what_is_in_flight(world):
    """Given a unit in flight and a key with a delay, when the key is added when quiet, several
    times, then it comes once, as soon as nothing else is in flight, and time has not moved.
    """
    started = world.clock.time()
    world.activity.hold()
    world.queue.add_after("a", 10)
    world.queue.add_when_quiet("a", 5)
    world.queue.add_when_quiet("a", 5)
    settled = asyncio.get_running_loop().create_task(world.driver.settle())
    for _ in range(3):
        await asyncio.sleep(0)
    assert len(world.queue) == 0
    world.activity.release()
    assert await world.queue.get() == "a"
    world.queue.done("a")
    await settled
    assert len(world.queue) == 0
    assert world.clock.time() == started


async def test_a_key_added_when_quiet_waits_where_time_is_real():
    """Given a clock that runs by itself, when a key is added when quiet, then it waits the seconds
    named; when it is in the queue already, then it is not added again.
    """
    clock = RealClock()
    with clock.held():
        queue = WorkQueue(clock, Activity())
        queue.add_when_quiet("a", 5)
        assert clock.next_due() == clock.time() + 5
        queue.add("b")
        queue.add_when_quiet("b", 1)
        assert clock.next_due() == clock.time() + 5
        queue.shut_down()


def test_a_bucket_gives_tokens_until_it_is_empty():
    """Given a bucket of two that refills with one a second, when tokens are taken, then there are
    two at once and one after a second.
    """
    clock = ManualClock()
    bucket = Bucket(clock, qps=1, burst=2)
    assert [bucket.take() for _ in range(4)] == [True, True, False, False]
    clock.move_to(clock.time() + 1)
    assert [bucket.take() for _ in range(2)] == [True, False]
