"""What time does to a storage: old states that can no longer be read, objects that are deleted."""

from typing import Any

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import format_time
from fakekube.registry.compaction import Compaction
from fakekube.registry.expiry import PORTION, Expiry
from fakekube.storage.memory import Bucket, Storage
from fakekube.util.clock import ManualClock

EVENTS = GroupResource("", "events")


class World:
    """A bucket, and a clock that stands still."""

    def __init__(self) -> None:
        self.clock, self.storage = ManualClock(), Storage(check_trees=True)
        self.bucket: Bucket = self.storage.add_bucket(EVENTS, fields=None)

    def now(self) -> str:
        return format_time(self.clock.time())

    def make(self, name: str, *written: str) -> None:
        """Create an event, with ``written`` being when others wrote it, by what it says."""
        metadata: dict[str, Any] = {"name": name, "uid": name, "creationTimestamp": self.now()}
        if written:
            metadata["managedFields"] = [{"time": time} for time in written] + [{"manager": "timeless"}]
        self.bucket.create({"metadata": metadata})

    def write(self, name: str) -> None:
        """Write it again."""
        record = self.bucket.get("", name)
        assert record is not None
        tree = record.copy_tree()
        tree["metadata"]["generation"] = tree["metadata"].get("generation", 0) + 1
        self.bucket.update(tree, record)

    def delete(self, name: str) -> None:
        record = self.bucket.get("", name)
        assert record is not None
        self.bucket.delete(record)

    def pass_time(self, seconds: float) -> None:
        """Fire what is due in so many seconds, lazy timers too, each at its own instant."""
        until = self.clock.time() + seconds
        while (due := min(filter(None, (self.clock.next_due(), self.clock.next_lazy())), default=None)) is not None:
            if due > until:
                break
            self.clock.move_to(due)
            self.clock.fire_next()
        self.clock.move_to(until)

    @property
    def names(self) -> list[str]:
        return sorted(record.name for record in self.bucket.all())

    @property
    def timers(self) -> int:
        return len(self.clock.timers())


@pytest.fixture
def world() -> World:
    return World()


def test_a_state_expires_at_the_second_interval_after_it(world: World) -> None:
    """Given writes before each interval, when intervals pass, then what lies before the one before
    the last can no longer be read, and nothing that is newer.
    """
    compaction = Compaction(world.storage, world.clock, 300)
    compaction.start()
    seen = []
    for name in "abc":
        world.make(name)
        world.pass_time(300)
        seen.append((world.storage.revision, world.storage.oldest_readable))
    assert seen == [(2, 0), (3, 2), (4, 3)]
    world.pass_time(300)
    assert world.storage.oldest_readable == 4
    assert world.timers == 1


def test_time_that_has_leapt_makes_everything_before_it_old(world: World) -> None:
    """Given a write, when time leaps over two intervals at once, then what was written before is
    old, and the next interval is a whole one from the last that passed.
    """
    compaction = Compaction(world.storage, world.clock, 300)
    compaction.start()
    world.make("a")
    world.clock.move_to(world.clock.time() + 750)
    world.clock.fire_next()
    assert world.storage.oldest_readable == 2
    world.make("b")
    world.pass_time(149)
    assert world.storage.oldest_readable == 2
    world.make("c")
    world.pass_time(1)
    assert world.storage.oldest_readable == 2
    world.pass_time(300)
    assert world.storage.oldest_readable == 4


def test_a_leap_of_less_than_an_interval_is_none(world: World) -> None:
    """Given a timer that fires a little late, when it does, then the state of then is noted as if
    it were in time.
    """
    compaction = Compaction(world.storage, world.clock, 300)
    compaction.start()
    world.make("a")
    world.clock.move_to(world.clock.time() + 450)
    world.clock.fire_next()
    assert world.storage.oldest_readable == 0
    world.pass_time(150)
    assert world.storage.oldest_readable == 2


def test_compaction_stops_and_may_be_never(world: World) -> None:
    """Given an interval of no time, one that was stopped and one that never began, when time
    passes, then everything stays readable, no timer is left, and time hurries to none.
    """
    never, stopped, idle = (Compaction(world.storage, world.clock, seconds) for seconds in (0, 300, 300))
    never.start()
    assert world.timers == 0
    stopped.start()
    assert (world.timers, world.clock.next_due()) == (1, None)
    stopped.stop()
    stopped.stop()
    idle.stop()
    assert world.timers == 0
    world.make("a")
    world.pass_time(1000)
    assert world.storage.oldest_readable == 0


def test_an_object_leaves_so_long_after_its_last_write(world: World) -> None:
    """Given objects that are made, written again and deleted, when time passes, then each leaves
    at its time, one timer waits for the next, and time does not hurry to it.
    """
    expiry = Expiry(world.bucket, world.clock, 90)
    expiry.start()
    assert world.timers == 0
    world.make("a")
    world.make("b")
    world.make("c")
    world.pass_time(30)
    world.write("a")
    world.delete("b")
    assert (world.timers, world.clock.next_due()) == (1, None)
    world.pass_time(59)
    assert world.names == ["a", "c"]
    world.pass_time(1)
    assert (world.names, world.timers) == (["a"], 1)
    world.pass_time(29)
    assert world.names == ["a"]
    world.pass_time(1)
    assert (world.names, world.timers) == ([], 0)
    world.make("d")
    assert world.timers == 1
    world.pass_time(90)
    assert world.names == []


def test_what_was_there_before_leaves_by_what_it_says(world: World) -> None:
    """Given objects that were written before, when they are watched over, then each leaves so long
    after the latest time in its metadata; what is overdue goes at once.
    """
    world.make("old")
    world.make("written", "2026-01-01T00:01:00Z", "2026-01-01T00:00:30Z")
    world.make("later", "2025-01-01T00:00:00Z")
    world.clock.move_to(world.clock.time() + 100)
    world.write("later")
    expiry = Expiry(world.bucket, world.clock, 90)
    expiry.start()
    assert (world.names, world.timers) == (["later", "written"], 1)
    world.make("new")
    world.pass_time(49)
    assert world.names == ["later", "new", "written"]
    world.pass_time(1)
    assert world.names == ["new"]
    world.pass_time(40)
    assert world.names == []


def test_a_part_of_a_second_does_not_count(world: World) -> None:
    """Given a write within a second, when its time has come, then it counts from the whole second,
    as what it says of itself does.
    """
    expiry = Expiry(world.bucket, world.clock, 90)
    expiry.start()
    world.clock.move_to(world.clock.time() + 0.75)
    world.make("a")
    world.pass_time(89)
    assert world.names == ["a"]
    world.pass_time(0.25)
    assert world.names == []


def test_nobody_leaves_who_is_not_watched_over(world: World) -> None:
    """Given no time to live, one that was stopped, twice, and one of a bucket that goes, when time
    passes, then everything stays, and no timer is left.
    """
    never, stopped, dropped = (Expiry(world.bucket, world.clock, seconds) for seconds in (0, 90, 90))
    never.stop()
    never.start()
    stopped.start()
    world.make("a")
    stopped.stop()
    stopped.stop()
    assert world.timers == 0
    world.make("b")
    world.pass_time(200)
    assert world.names == ["a", "b"]
    dropped.start()
    assert world.names == []
    world.make("c")
    world.delete("c")
    assert world.timers == 1
    world.storage.drop_bucket(EVENTS)
    assert world.timers == 0


def test_very_many_leave_in_portions_of_one_instant(world: World) -> None:
    """Given more objects than a portion, all overdue, when they are looked at, then a portion goes,
    and the rest by timers of the same instant.
    """
    for number in range(2 * PORTION + 1):
        world.make(f"e{number}")
    world.clock.move_to(world.clock.time() + 100)
    expiry = Expiry(world.bucket, world.clock, 90)
    expiry.start()
    assert (len(world.names), world.timers, world.clock.next_lazy()) == (PORTION + 1, 1, world.clock.time())
    world.clock.fire_next()
    assert len(world.names) == 1
    world.clock.fire_next()
    assert (world.names, world.timers, PORTION) == ([], 0, 200)
