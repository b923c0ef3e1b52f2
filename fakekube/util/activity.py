"""A count of work in flight, so that virtual time moves only when there is none.

Each piece of work (a watch event on its way, a queued item, a running reconcile, an HTTP request)
holds a unit, and takes the unit of the next piece before it releases its own. Callbacks that the
event loop is about to run need no unit: ``driver.py`` looks at those too. Upstream has no
counterpart; trio's MockClock solves the same problem by knowing when all tasks are blocked.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Activity:
    """Units of work in flight on one event loop. Not for use from other threads."""

    __slots__ = ("_busy", "_units", "_waiters", "asleep", "broken_off", "generation", "progress")

    def __init__(self) -> None:
        self._units = 0
        self._busy: dict[asyncio.Task[object], int] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self.generation = 0  # grows with every unit taken: unchanged means that nothing happened
        self.progress = 0  # grows with every change that somebody saw
        # how many requests are made to take time, for which whoever holds units may wait
        self.asleep = 0
        self.broken_off = False  # nobody is to wait for what is in flight

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._units

    @property
    def units(self) -> int:
        """How much is in flight."""
        return self._units

    def tasks(self) -> list[str]:
        """The names of the tasks that hold units by ``busy``; of those that sleep, too."""
        return [task.get_name() for task in self._busy]

    def hold(self) -> None:
        """Take a unit."""
        self._units += 1
        self.generation += 1

    def release(self) -> None:
        """Release a unit."""
        assert self._units > 0, "released more units than were held"
        self._units -= 1
        if not self._units and self._waiters:
            self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    @contextmanager
    def sleeping(self) -> Iterator[None]:
        """In the block a request waits for time.

        What waits behind it holds units, a key in the queue of its worker say, and must not keep
        time from moving.
        """
        self.asleep += 1
        self._wake()
        try:
            yield
        finally:
            self.asleep -= 1

    def break_off(self) -> None:
        """Let those who wait for what is in flight wait no longer, as it might never end."""
        self.broken_off = True
        self._wake()

    def note_progress(self) -> None:
        """Something changed: an object was written, or a request came from outside.

        A retry is no progress.
        """
        self.progress += 1

    def busy(self) -> "Busy":
        """Hold a unit while the current task is in the block.

        While that task sleeps on a virtual clock it holds none.
        """
        return Busy(self)

    def enter(self, task: "asyncio.Task[object]") -> None:
        """Count one more unit for a task; see ``busy``."""
        self.hold()
        self.hand_over(task)

    def hand_over(self, task: "asyncio.Task[object]") -> None:
        """Assign a unit that was taken to a task, until ``leave``."""
        self._busy[task] = self._busy.get(task, 0) + 1

    def leave(self, task: "asyncio.Task[object]") -> None:
        """Count one less."""
        if self._busy[task] == 1:
            del self._busy[task]
        else:
            self._busy[task] -= 1
        self.release()

    def is_busy(self) -> bool:
        """Whether the current task holds units by ``busy``."""
        return bool(self._busy) and asyncio.current_task() in self._busy

    def suspend(self) -> Callable[[], None] | None:
        """Release the units that the current task holds by ``busy``.

        Returns what takes them back, None if it holds none.

        For clocks: a task that waits for time must not keep time from moving.
        """
        if not self._busy:
            return None
        task = asyncio.current_task()
        if task is None or task not in self._busy:
            return None
        units = self._busy[task]
        for _ in range(units):
            self.release()

        def resume() -> None:
            for _ in range(units):
                self.hold()

        return resume

    async def wait_idle(self, *, with_sleepers: bool = False) -> None:
        """Return once nothing is in flight; at once, without yielding, when nothing is.

        Also once that is broken off, and once something sleeps, unless ``with_sleepers``.
        """
        while self._units and not self.broken_off and (with_sleepers or not self.asleep):
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter


class Busy:
    """A block in which the current task holds a unit.

    A class, since it is entered with every request.
    """

    __slots__ = ("_activity", "_task")

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "only a task can be busy"
        self._task = task
        self._activity.enter(task)

    def __exit__(self, *_: object) -> None:
        self._activity.leave(self._task)
