"""How long keys wait, to the last number, and what a queue says of them."""

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.workqueue.queue import QueueShutDown, WorkQueue
from fakekube.workqueue.ratelimit import Bucket, ExponentialBackoff, RateLimiter, default_rate_limiter, doubled_seconds


def test_the_delays_of_upstreams_controllers() -> None:
    """Given the limiter that upstream's controllers use / when a key fails 20 times / then its
    delays double from 5 ms to 1000 s; when others come at once, the bucket has 100 tokens and ten
    a second.
    """
    clock = ManualClock()
    limiter: RateLimiter[str] = default_rate_limiter(clock)
    delays = [limiter.when("a") for _ in range(20)]
    assert delays == [min(0.005 * 2**number, 1000.0) for number in range(20)]
    assert (limiter.num_requeues("a"), limiter.num_requeues("b")) == (20, 0)
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0
    assert [limiter.when(f"k{number}") for number in range(80)] == [0.005] * 80
    assert [limiter.when(f"m{number}") for number in range(3)] == [pytest.approx(0.1 * number) for number in (1, 2, 3)]
    assert [doubled_seconds(1, times, 5000) for times in (0, 1, 10, 10_000)] == [1, 2, 1024, 5000]


def test_a_bucket_fills_no_higher_than_its_burst() -> None:
    """Given a bucket of two tokens and half a token a second / when it is used, and time passes /
    then tokens come back at that rate, two at most.
    """
    clock = ManualClock()
    bucket, start = Bucket[str](clock, 0.5, 2), clock.time()
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    clock.move_to(start + 1.9)
    assert not bucket.take()
    clock.move_to(start + 2)
    assert [bucket.take(), bucket.take()] == [True, False]
    clock.move_to(start + 1000)
    assert [bucket.when("a") for _ in range(4)] == [0, 0, 2, 4]
    assert bucket.num_requeues("a") == 0
    bucket.forget("a")
    assert bucket.when("a") == 6


async def test_a_queue_says_what_is_in_it() -> None:
    """Given a queue with keys that wait, are queued and are in work / when it is asked / then it
    counts and names them, ten of those that wait at most, and nothing when it is empty.
    """
    clock, activity = ManualClock(), Activity()
    queue = WorkQueue[str](clock, activity, limiter=ExponentialBackoff(1.5, 100), name="q")
    assert (list(queue.explain()), len(queue), queue.taken, queue.added, queue.retried) == ([], 0, 0, 0, 0)
    for key in ("a", "b", "c"):
        queue.add(key)
    assert (await queue.get(), queue.take()) == ("a", "b")
    for _ in range(2):
        queue.add_rate_limited("r")
    queue.add_after("s", 30)
    assert list(queue.explain()) == ["q: 1 queued, 2 in work", "q: r again in 1.5 s after 2 failures", "q: s again in 30 s"]
    assert (queue.taken, queue.added, queue.retried, queue.num_requeues("r")) == (2, 3, 2, 2)
    for number in range(20):
        queue.add_after(f"t{number}", 40)
    assert len(list(queue.explain())) == 11
    queue.withdraw("s")
    queue.withdraw("none")
    queue.add_after("now", 0)
    queue.add_after("past", -1)
    assert [line for line in queue.explain() if ": s " in line] == []
    assert len(queue) == 3
    queue.shut_down()
    assert queue.is_shut_down
    assert list(queue.explain()) == ["q: 0 queued, 2 in work"]
    queue.add("late")
    queue.add_after("late", 5)
    queue.add_when_quiet("late", 5)
    queue.done("a")
    assert (len(queue), list(queue.explain())) == (0, ["q: 0 queued, 1 in work"])
    with pytest.raises(QueueShutDown, match=r"^q$"):
        await queue.get()
    assert clock.next_due() is None


def test_a_key_that_fails_for_long_pulls_time_no_more() -> None:
    """Given a key that fails again and again / when it has failed fifteen times, and once more /
    then its delay pulls virtual time, and does not.
    """
    queue = WorkQueue[str](ManualClock(), Activity(), limiter=ExponentialBackoff(1, 1), name="q")
    for number in range(1, 18):
        queue.add_rate_limited("a")
        assert queue._waiting["a"].daemon is (number > 15), number
        queue.withdraw("a")
    queue.forget("a")
    queue.add_rate_limited("a")
    assert not queue._waiting["a"].daemon
    assert queue.num_requeues("a") == 1
