"""What candidates write into a Lease, and when they try again."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.runtime.leader import LeaderElector
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import VirtualDriver
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

START = 1767225600.0


class Leases:
    """The one Lease there is, as a client writes it; ``broken`` is what every call meets."""

    def __init__(self) -> None:
        self.lease: Tree | None = None
        self.written: list[Tree] = []
        self.broken: Exception | None = None

    async def get(self, _resource: Any, name: str, namespace: str, *, missing_ok: bool) -> Tree | None:
        assert (name, namespace, missing_ok) == ("lock", "ns", True)
        if self.broken is not None:
            raise self.broken
        return self.lease

    async def _write(self, lease: Tree) -> Tree:
        self.written.append(lease["spec"])
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(len(self.written))}}
        return self.lease

    async def create(self, _resource: Any, lease: Tree) -> Tree:
        assert lease["metadata"] == {"name": "lock", "namespace": "ns"}
        return await self._write(lease)

    async def update(self, _resource: Any, lease: Tree) -> Tree:
        return await self._write(lease)


def at(seconds: float) -> str:
    return f"2026-01-01T00:{int(seconds // 60):02}:{seconds % 60:09.6f}Z"


def candidate(leases: Leases, clock: ManualClock, name: str, **more: Any) -> LeaderElector:
    return LeaderElector(
        leases, clock=clock, rng=Rng(name), identity=name, name="lock", namespace="ns", **more)  # type: ignore[arg-type]


async def test_what_a_lease_says_of_who_holds_it() -> None:
    """Given two candidates / when one takes the lease, renews it, gives it up, and the other takes
    it at the end / then each write says who, since when, until when and how often it went.
    """
    leases, clock = Leases(), ManualClock()
    first, second = candidate(leases, clock, "first"), candidate(leases, clock, "second", lease_duration_seconds=20)
    assert await first._try()
    held = {"holderIdentity": "first", "leaseDurationSeconds": 15, "acquireTime": at(0), "renewTime": at(0),
            "leaseTransitions": 0}
    assert leases.written == [held]
    clock.move_to(START + 1)
    assert not await second._try()
    clock.move_to(START + 3)
    assert await first._try()
    assert leases.written[1:] == [{**held, "renewTime": at(3)}]
    clock.move_to(START + 15.5)
    assert not await second._try()  # it has seen the renewal only now
    clock.move_to(START + 30.25)
    assert not await second._try()
    clock.move_to(START + 30.5)
    assert await second._try()
    taken = {"holderIdentity": "second", "leaseDurationSeconds": 20, "acquireTime": at(30.5), "renewTime": at(30.5),
             "leaseTransitions": 1}
    assert leases.written[2:] == [taken]
    await first.release()
    assert len(leases.written) == 3
    clock.move_to(START + 40)
    await second.release()
    assert leases.written[3:] == [
        {"leaseDurationSeconds": 1, "acquireTime": at(40), "renewTime": at(40), "leaseTransitions": 1}]
    assert await first._try()
    assert leases.written[4:] == [
        {**held, "acquireTime": at(40), "renewTime": at(40), "leaseTransitions": 2}]
    leases.broken = APIError(500, "", "broken")
    assert not await first._try()


async def test_a_leader_that_cannot_renew_leads_for_ten_seconds() -> None:
    """Given a leader / when the server breaks / then it tries every two seconds, and leads no more
    once ten have passed since it renewed last; its waits pull no time.
    """
    leases, clock, told = Leases(), ManualClock(), list[tuple[str, float]]()
    leader = candidate(leases, clock, "a")

    async def note(what: str) -> None:
        told.append((what, clock.time() - START))

    async def run() -> None:
        await leader.run(lambda: note("started"), lambda: note("stopped"))

    driver, tasks = VirtualDriver(clock, Activity()), Tasks()
    tasks.spawn(run(), "leader")
    await driver.advance(5)
    assert (told, len(leases.written), leader.is_leader) == ([("started", 0)], 3, True)
    assert (clock.pending, len(clock.timers())) == (0, 1)
    leases.broken = APIError(500, "", "broken")
    await driver.advance(60)
    assert (told, leader.is_leader) == ([("started", 0), ("stopped", 14)], False)
    await tasks.close()


def test_a_leader_gives_up_before_others_take_over() -> None:
    """Given durations that would let two lead at once / then they are refused."""
    with pytest.raises(AssertionError, match="would lead twice"):
        candidate(Leases(), ManualClock(), "a", lease_duration_seconds=10)
    with pytest.raises(AssertionError, match="would lead twice"):
        candidate(Leases(), ManualClock(), "a", retry_period_seconds=8.5)
    candidate(Leases(), ManualClock(), "a", retry_period_seconds=8.3)
