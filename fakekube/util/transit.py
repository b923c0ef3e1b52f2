"""What is on its way: requests, answers and events of watches that a seed makes late.

A network takes time, and settling means that everything has arrived: so ``settle`` lets pass as
much virtual time as what is on its way still needs, and no more. Without a Transit, in every run
that explores nothing, a driver lets none pass.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from fakekube.util.activity import Activity
from fakekube.util.choices import Choices
from fakekube.util.clock import Clock
from fakekube.util.outside import ClientsOutside
from fakekube.util.timers import Timer


class HasRevision(Protocol):
    """A storage."""

    revision: int


class Transit:
    """How late things are by ``choices``, on a cluster's clock.

    ``is_moved`` says whether time moves by itself, or somebody moves it now. ``calm``: nothing is
    late.
    """

    def __init__(
        self, choices: Choices, clock: Clock, activity: Activity, outside: ClientsOutside, is_moved: Callable[[], bool],
    ) -> None:
        self.choices, self.clock, self._activity = choices, clock, activity
        self._outside, self._is_moved = outside, is_moved
        self.calm = True
        self.count = 0  # of what is on its way

    def begin(self, storage: HasRevision) -> None:
        """From now on things may be late; the versions of ``storage`` tell when."""
        clock = self.clock
        self.choices.tell_moment = lambda: (clock.time(), storage.revision)
        self.calm = False

    def may_be_late(self, *, in_process: bool) -> bool:
        """Whether the running task may be made to wait for time.

        Nobody would move it for a predicate that is being asked, nor for a test of the clock
        ``manual`` between two calls that move it; a controller in this process can wait for those.
        """
        if self.calm or self._outside.asking:
            return False
        return self._is_moved() or (in_process and self._activity.is_busy())

    @contextmanager
    def on_time(self) -> Iterator[None]:
        """Nothing that is asked for in the block is late."""
        before, self.calm = self.calm, True
        try:
            yield
        finally:
            self.calm = before

    async def sleep(self, seconds: float) -> None:
        """Be on the way for so long."""
        self.count += 1
        try:
            await self.clock.sleep(seconds)
        finally:
            self.count -= 1

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Timer:
        """A timer for what is on its way; ``arrived`` when it has come, or will not."""
        self.count += 1
        return self.clock.call_later(seconds, callback, *args)

    def arrived(self) -> None:
        """One thing is no longer on its way."""
        self.count -= 1
