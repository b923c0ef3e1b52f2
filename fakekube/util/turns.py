"""Long computations in turns with everything else on the event loop.

What computes for a second holds the loop, and with it everybody who has asked something. So whoever
may compute for long counts what it does, in units of a microsecond or two, and ends its turn now
and then. The first turn runs as any other code does; nearly everything is done within it. What is
not raises ``TakesLong``, and is done anew by ``in_turns``: on a thread of its own, which runs only
while the loop waits for it. So at each moment one of the two runs, which of them follows from the
counts alone, and nothing needs a lock. A thread is what it takes to stop in the middle of plain
function calls; how a generator would do it, each of them would have to be one. Upstream has no
counterpart: Go's scheduler interrupts everything.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from fakekube.util import tasks

T = TypeVar("T")

UNITS = 10_000
"""What one turn may take: 1 to 20 ms."""


class TakesLong(Exception):
    """The first turn is over; nothing was done."""


class Turn:
    """One turn of a computation: the units that are ``left`` of it."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = UNITS

    def spend(self, units: int) -> None:
        """Count what is done; ends the turn when nothing is left. Raises as ``end`` does."""
        self.left -= units
        if self.left < 0:
            self.end()

    def within(self, part: "Callable[[Turn], T]") -> T:
        """What a part of the computation returns, which may take half of what is left."""
        before, half = self.left, self.left // 2
        self.left = half
        try:
            return part(self)
        finally:
            self.left = before - max(half - self.left, 0)

    def end(self) -> None:
        """Let others have theirs, and begin the next. Raises TakesLong in the first."""
        raise TakesLong


class _Abandoned(BaseException):
    """Nobody waits for the result any more."""


class _LaterTurn(Turn):
    """The turns of a computation on a thread of its own."""

    __slots__ = ("_abandoned", "_loops", "_own")

    def __init__(self) -> None:
        super().__init__()
        self._own, self._loops, self._abandoned = threading.Semaphore(0), threading.Semaphore(0), False

    def end(self) -> None:
        """Wait until the loop gives the next."""
        self._loops.release()
        self.begin()

    def begin(self) -> None:
        """Wait for a turn, on the thread of the computation."""
        self._own.acquire()
        if self._abandoned:
            raise _Abandoned
        self.left = UNITS

    def finish(self) -> None:
        """Give the last turn back."""
        self._loops.release()

    def give(self) -> None:
        """Give a turn and wait for its end, on the thread of the loop."""
        self._own.release()
        self._loops.acquire()

    def abandon(self) -> None:
        """Let the computation end where it stands."""
        self._abandoned = True
        self.give()


class _Computation(threading.Thread):
    """The thread; ``is_done`` says that there is a result."""

    def __init__(self, work: Callable[[Turn], None]) -> None:
        super().__init__(name="turns", daemon=True)
        self.turn, self.is_done = _LaterTurn(), False
        self.error: BaseException | None = None
        self._work, self._context = work, copy_context()

    def run(self) -> None:
        """Compute."""
        try:
            self.turn.begin()
            self._context.run(self._work, self.turn)
        except BaseException as error:  # raised again where the result is awaited
            self.error = error
        self.is_done = True
        self.turn.finish()


async def in_turns(work: Callable[[Turn], T]) -> T:
    """What ``work`` returns or raises, which ends the turn that it is given now and then.

    It may not touch the loop: no awaiting, no tasks, no futures. Before each turn the loop runs
    everything that is ready once, so that what was seen before may be old. When the caller is
    cancelled, the work ends at the end of its turn.
    """
    found: list[T] = []
    thread = _Computation(lambda turn: found.append(work(turn)))
    thread.start()
    try:
        while not thread.is_done:
            await tasks.turn()
            thread.turn.give()
    finally:
        if not thread.is_done:
            thread.turn.abandon()
        thread.join()
    if thread.error is not None:
        raise thread.error
    return found[0]
