"""What moves virtual time, and when: only while nothing is in flight, one timer at a time.

``settle`` waits until nothing is in flight and fires the timers that are due. ``advance`` moves
time by a duration, ``run_until`` until a predicate is true; when it can no longer become true that
raises ``Stalled``, which says what is pending. On an AutoClock a background task does the moving
(the pump). An event loop that skips its own idle time was tried and rejected: it would run
through hours while another process takes 50 ms. Here requests in flight count as activity, whoever
sent them, and clients that are connected get real time to answer (``outside.py``).

To be called on the cluster's loop; from another thread through
``asyncio.run_coroutine_threadsafe``.
"""

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sized
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from fakekube.util.activity import Activity
from fakekube.util.clock import AutoClock, Clock, ManualClock, written
from fakekube.util.durations import LATEST, Duration, seconds_of, text_of
from fakekube.util.outside import ClientsOutside
from fakekube.util.sleepers import SPINNING_TURNS, quiet_beside_sleepers
from fakekube.util.tasks import Tasks, turn

if TYPE_CHECKING:
    from fakekube.util.transit import Transit

log = logging.getLogger(__name__)

Predicate = Callable[[], "bool | Awaitable[bool]"]

FRUITLESS_TIMERS = 50
"""After so many timers in a row that changed nothing, the pump takes a breath before each."""

BREATH_SECONDS = 0.01
"""How long that breath is, on the wall."""

HOPELESS_TIMERS = 10_000
"""After so many timers in a row that changed nothing, a predicate will not come true."""

MAX_ASKED_AGAIN = 16
"""So often a predicate is asked again at one instant because somebody wrote while it was asked."""

LIMIT_SECONDS = 30 * 86_400.0
"""So much virtual time may pass until a predicate holds, unless somebody allows more."""

UNTURNED_TIMERS = 64
"""So many timers may fire before the loop gets a turn, where it has neither callbacks to run nor
sockets to look at.
"""

STUCK_SECONDS = 10.0
"""After so long on the wall, waiting for what is in flight is worth a line in the log."""

SHOWN_TASKS = 10
"""How many tasks that line names."""


class Stalled(Exception):
    """Nothing is left that could make the predicate true."""


class Driver(ABC):
    """Moves a cluster's time.

    ``explainers`` give lines on what waits for what, for the text of ``Stalled``. Virtual time
    waits for the clients ``outside``; ``grace`` says for one call how long they have to be quiet,
    in real time, in place of what is said for the cluster. Where time is real it means nothing.
    ``transit`` is what a seed makes late, None where nothing is.
    """

    transit: "Transit | None" = None

    def __init__(self, clock: Clock, activity: Activity, outside: ClientsOutside | None = None) -> None:
        self.clock, self.activity = clock, activity
        self.outside = outside or ClientsOutside()
        self.explainers: list[Callable[[], Iterable[str]]] = [self.outside.explain]
        self._failure: BaseException | None = None

    @abstractmethod
    async def settle(self, *, grace: Duration | None = None) -> None:
        """Return once nothing is in flight and nothing is due."""

    @abstractmethod
    async def advance(self, duration: Duration, *, grace: Duration | None = None) -> None:
        """Let so much time pass (``1h30m``, seconds or a timedelta), with all that happens in it.

        ValueError below zero.
        """

    @abstractmethod
    async def run_until(
        self, predicate: Predicate, *, within: Duration | None = None, grace: Duration | None = None,
    ) -> None:
        """Let time pass until ``predicate()`` (plain or async) is true.

        Without ``within`` only timers that are no daemons move time, for a month at most. With it,
        every timer does, for at most so long (as for ``advance``). Raises Stalled when the
        predicate is false and nothing is left to wait for.
        """

    def start(self, tasks: Tasks) -> None:  # noqa: B027 - most drivers do nothing by themselves
        """Start what this driver does in the background."""

    def fail(self, error: BaseException, *, at_once: bool = False) -> None:
        """A component failed: the next caller that waits for time gets the error; ``at_once``,
        without waiting for what is in flight. For ``Tasks(on_failure=...)``.
        """
        self._failure = self._failure or error
        if at_once:
            self.activity.break_off()

    def take_failure(self) -> BaseException | None:
        """The error that was given to ``fail`` and not yet raised, if any."""
        failure, self._failure = self._failure, None
        self.activity.broken_off = False
        return failure

    def raise_failure(self) -> None:
        """Raise that error, once."""
        failure = self.take_failure()
        if failure is not None:
            raise failure

    def note_failure(self, error: BaseException) -> None:
        """Add that error to another one, which is to be seen first, as a note."""
        failure = self.take_failure()
        if failure is not None:
            error.add_note(f"and {failure!r}")

    async def _holds(self, predicate: Predicate) -> bool:
        self.raise_failure()
        with self.outside.asked():
            result = predicate()
            return bool(await result) if inspect.isawaitable(result) else bool(result)

    def _stalled(self, reason: str, predicate: Predicate) -> Stalled:
        lines = [f"{describe(predicate)} is not true and {reason} (it is {written(self.clock.now())})"]
        for explainer in self.explainers:
            lines.extend(f"  {line}" for line in explainer())
        return Stalled("\n".join(lines))


def describe(predicate: Callable[..., Any]) -> str:
    """A predicate by its name and where it stands; of one that wraps another, that one's."""
    predicate = inspect.unwrap(predicate)
    while isinstance(predicate, partial):
        predicate = inspect.unwrap(predicate.func)
    code = getattr(predicate, "__code__", None) or getattr(type(predicate).__call__, "__code__", None)
    name = getattr(predicate, "__qualname__", type(predicate).__qualname__)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


class VirtualDriver(Driver):
    """Moves a ManualClock or an AutoClock."""

    clock: ManualClock
    _alarm: asyncio.TimerHandle | None = None
    _controlled = False
    _callers = 0  # who wait to move time: they come before the pump

    def __init__(self, clock: ManualClock, activity: Activity, outside: ClientsOutside | None = None) -> None:
        super().__init__(clock, activity, outside)
        self._moving = asyncio.Lock()
        self._wake = asyncio.Event()
        self._unturned = 0
        self.explainers.append(self._explain_timers)

    async def settle(self, *, grace: Duration | None = None) -> None:
        """Return once nothing is in flight and nothing is due; time does not move.

        Clients outside are quiet by then.
        """
        if self._moving.locked() or self.outside.listens or not self._is_quiet() or self._is_due():
            async with self:
                await self._settle_outside(_seconds(grace))
        self.raise_failure()

    async def advance(self, duration: Duration, *, grace: Duration | None = None) -> None:
        """Let virtual time pass; every timer in it fires at its own instant.

        After each timer it waits until nothing is in flight, and clients outside are quiet.
        """
        seconds, grace_seconds = seconds_of(duration), _seconds(grace)
        async with self:
            await self._begin_to_advance(grace_seconds)
            end = self.clock.time() + seconds
            while self._failure is None:
                due = self.clock.next_due()
                if due is None or due > end:
                    if await self._grant(end, grace_seconds):
                        continue
                    self.clock.move_to(end)
                    await self._settle_outside(grace_seconds)
                    break
                if await self._grant(due, grace_seconds):
                    continue
                self.clock.fire_next()
                if not self._is_quiet():
                    await self._quiet()
        self.raise_failure()

    async def run_until(
        self, predicate: Predicate, *, within: Duration | None = None, grace: Duration | None = None,
    ) -> None:
        """Let virtual time pass until the predicate holds."""
        clock, activity = self.clock, self.activity
        limit, grace_seconds = LIMIT_SECONDS if within is None else seconds_of(within), _seconds(grace)
        fruitless, progress, asked_again = 0, activity.progress, 0
        async with self:
            await self._settle()
            end = min(clock.time() + limit, LATEST.timestamp())
            while True:
                written = self._written()
                if await self._holds(predicate):
                    break
                if written != self._written() and asked_again < MAX_ASKED_AGAIN:
                    asked_again += 1  # somebody wrote while it was asked, maybe after it had looked
                    await self._settle()
                    continue
                due = clock.next_due()
                if due is None and within is not None:
                    due = clock.next_lazy()
                if await self._grant(due, grace_seconds):
                    await self._settle()
                    continue
                if due is None:
                    raise self._stalled("no timer is left", predicate)
                if within is None and not clock.pending:
                    raise self._stalled("only daemon timers are left, for which within= would wait", predicate)
                if due > end:
                    clock.move_to(end)
                    raise self._stalled(f"{text_of(limit)} have passed", predicate)
                if fruitless > HOPELESS_TIMERS:
                    raise self._stalled(f"the last {fruitless} timers changed nothing", predicate)
                if clock.next_due() is None:
                    clock.move_to(due)
                asked_again = 0
                clock.fire_next()
                if not self._is_quiet():
                    await self._quiet()
                fruitless, progress = fruitless + 1 if activity.progress == progress else 0, activity.progress
            self.raise_failure()

    async def _grant(self, due: float | None, grace_seconds: float | None) -> bool:
        """Grant clients outside what real time they have left before time moves to ``due``.

        True as soon as something is written meanwhile, or at the end when anything happened: then
        it is to be seen what is due now. A predicate is not asked for each read of others, since
        while it is asked their reads pass for its own.
        """
        outside, activity, grace_seconds = self.outside, self.activity, self._grace_seconds(grace_seconds)
        if due is not None and due <= self.clock.time():
            return False
        generation, written = activity.generation, self._written()
        while outside.wait(grace_seconds) and self._failure is None and written == self._written():
            await outside.grant(grace_seconds)
        if activity.generation != generation or self._failure is not None:
            await self._quiet()
            return True
        if due is not None:
            outside.moved()
        return False

    def _grace_seconds(self, grace_seconds: float | None) -> float | None:
        """How long clients outside have to be quiet before the next timer fires, where so long is
        said for a call; None is what is said for the cluster.
        """
        return grace_seconds

    def _written(self) -> tuple[int, int]:
        """Grows with every change that somebody saw, and with every write from outside."""
        return self.activity.progress, self.outside.writes

    async def _begin_to_advance(self, grace_seconds: float | None) -> None:
        await self._settle_outside(grace_seconds)

    async def _settle_outside(self, grace_seconds: float | None) -> None:
        await self._settle()
        while await self._grant(None, grace_seconds):
            await self._settle()
            if self._failure is not None:
                return

    def start(self, tasks: Tasks) -> None:
        """On an AutoClock, start the pump."""
        if isinstance(self.clock, AutoClock):
            self.clock.on_timer = self._wake.set
            tasks.spawn(self._pump(), "clock pump")

    async def _pump(self) -> None:
        """Fire the next timer whenever nothing is in flight, nobody is called to move time, and a
        timer is pending that pulls it.

        A controller that requeues for ever would burn a core and whole virtual years while a test
        thinks; so where timers change nothing the pump goes slowly.
        """
        clock, activity = self.clock, self.activity
        fruitless, progress = 0, activity.progress
        while True:
            if activity.progress != progress:
                fruitless, progress = 0, activity.progress
            self._wake.clear()
            if not clock.pending or clock.paused:
                await self._wake.wait()
            elif fruitless >= FRUITLESS_TIMERS or activity.broken_off:
                await asyncio.sleep(BREATH_SECONDS)
            grace_seconds = self._grace_seconds(None)
            while self.outside.wait(grace_seconds) and not self._moving.locked():
                await self.outside.grant(grace_seconds)
            async with self._moving:
                if self._callers:
                    continue
                await self._quiet()
                due = clock.next_due()
                if due is not None and due > clock.time() and self.outside.wait(grace_seconds):
                    continue
                if clock.pending and not clock.paused:
                    self.outside.moved()
                    clock.fire_next()
                    fruitless += 1
                    await self._quiet()

    async def _settle(self) -> None:
        await self._quiet()
        while self._is_due() and not self.activity.broken_off:
            self.clock.fire_next()
            await self._quiet()

    def _is_due(self) -> bool:
        due = self.clock.next_due()
        return due is not None and due <= self.clock.time()

    def _is_quiet(self) -> bool:
        """Whether nothing is in flight or ready, and no socket can bring anything."""
        if not self.activity.idle:
            return False
        ready, alone = self._look_at(asyncio.get_running_loop())
        return alone and not ready

    def _look_at(self, loop: asyncio.AbstractEventLoop) -> tuple[Sized, bool]:
        """What is ready on the loop, and whether it has no sockets to look at.

        Without sockets the loop need not get a turn for now.
        """
        # Private, but they alone tell whether somebody else is about to run. uvloop has none and is
        # never virtual.
        ready, sockets = getattr(loop, "_ready", ()), getattr(loop, "_selector", None)
        self._unturned += 1
        return ready, self._unturned < UNTURNED_TIMERS and sockets is not None and len(sockets.get_map()) <= 1

    async def _quiet(self) -> None:
        """Return once no unit is held and the loop has nothing ready, sockets included."""
        activity = self.activity
        ready, alone = self._look_at(asyncio.get_running_loop())
        looked, spins, generation = alone, 0, activity.generation
        while True:
            if not activity.idle:
                await activity.wait_idle()
                if activity.broken_off:
                    return
                if activity.asleep:
                    await quiet_beside_sleepers(self._look_at, activity, lambda: activity.asleep > 0)
                    self._unturned = 0
                    return
            if activity.idle and not ready:
                if looked:
                    return
                looked = True  # nobody writes in the coming turn, which looks at the sockets
            else:
                looked = alone
            if activity.generation != generation:
                spins, generation = 0, activity.generation
            spins += 1
            if spins > SPINNING_TURNS and activity.idle:
                return
            await turn()
            self._unturned = 0

    async def __aenter__(self) -> None:
        """Be the only one to move time, and heard of when that takes long."""
        self._callers += 1
        try:
            await self._moving.acquire()
        finally:
            self._callers -= 1
        self._controlled = True
        self.outside.call()
        if self._alarm is None:
            self._watch_over()

    async def __aexit__(self, *_: object) -> None:
        self._controlled = False
        self.outside.end_call()
        self._moving.release()

    def _watch_over(self, before: int | None = None) -> None:
        """Look again after a while, for as long as somebody is in control: an alarm for each would
        cost more than most take.
        """
        generation = self.activity.generation
        if generation == before and not self.activity.idle:
            self._complain()
        self._alarm = None
        if self._controlled:
            # not itself: a loop that plays many clusters would keep them all for so long
            self._alarm = asyncio.get_running_loop().call_later(STUCK_SECONDS, _watch_over, ref(self), generation)

    def _complain(self) -> None:
        lines = "".join(f"\n  {line}" for explainer in (self._explain_tasks, *self.explainers) for line in explainer())
        log.warning("virtual time waits for %d units of work in flight%s", self.activity.units, lines)

    def _explain_tasks(self) -> Iterable[str]:
        names = self.activity.tasks()
        if names:
            more = f" and {len(names) - SHOWN_TASKS} more" if len(names) > SHOWN_TASKS else ""
            yield f"in work: {', '.join(names[:SHOWN_TASKS])}{more}"

    def _explain_timers(self) -> Iterable[str]:
        now, timers = self.clock.time(), self.clock.timers()
        for timer in [timer for timer in timers if not timer.daemon][:10]:
            name = getattr(timer.callback, "__qualname__", repr(timer.callback))
            yield f"timer in {timer.when - now:g} s: {name}"
        daemons = [timer.when - now for timer in timers if timer.daemon]
        if daemons:
            yield f"{len(daemons)} daemon timer{'s' if len(daemons) > 1 else ''}, the first in {max(0.0, min(daemons)):g} s"


def _watch_over(driver: "ref[VirtualDriver]", generation: int) -> None:
    found = driver()
    if found is not None:
        found._watch_over(generation)


def _seconds(duration: Duration | None) -> float | None:
    return None if duration is None else seconds_of(duration)
