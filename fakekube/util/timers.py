"""Callbacks at an instant, in the order in which they are due: a part of every clock.

``clock.py`` defines the terms.
"""

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakekube.util.choices import Choices

MANY_CANCELLED = 64
MOST_OF_ONE_INSTANT = 4
"""Of so many timers of one instant any may fire first, where that is chosen."""


class Timer:
    """A callback at an instant. ``when`` is in Unix seconds."""

    __slots__ = ("_cancel", "args", "callback", "cancelled", "daemon", "when")

    def __init__(
        self, when: float, callback: Callable[..., object], args: tuple[Any, ...], daemon: bool,
        cancel: Callable[["Timer"], None],
    ) -> None:
        self.when, self.callback, self.args, self.daemon = when, callback, args, daemon
        self.cancelled = False  # also true once it fired: there is nothing left to cancel
        self._cancel = cancel

    def cancel(self) -> None:
        """Do not fire. Harmless when it fired already, or when called again."""
        if not self.cancelled:
            self.cancelled = True
            self._cancel(self)


class TimerHeap:
    """Timers in (time, sequence) order.

    Cancelled ones are dropped when they come to the top, or when there are many.
    """

    __slots__ = ("_cancelled", "_entries")

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Timer]] = []
        self._cancelled = 0

    def push(self, timer: Timer, sequence: int) -> None:
        """Add a timer; of those of one instant the one with the lower number is first."""
        heapq.heappush(self._entries, (timer.when, sequence, timer))

    def forget_one(self) -> None:
        """A timer was cancelled."""
        self._cancelled += 1
        if self._cancelled > MANY_CANCELLED and self._cancelled * 2 > len(self._entries):
            self._entries = [entry for entry in self._entries if not entry[2].cancelled]
            heapq.heapify(self._entries)
            self._cancelled = 0

    def due(self) -> float | None:
        """When the first timer is due, or None."""
        entries = self._entries
        while entries and entries[0][2].cancelled:
            heapq.heappop(entries)
            self._cancelled -= 1
        return entries[0][0] if entries else None

    def pop(self) -> Timer:
        """Take the first timer out; ``due`` must have been asked just before."""
        return heapq.heappop(self._entries)[2]

    def entries(self) -> list[tuple[float, int, Timer]]:
        """All that wait, in no useful order."""
        return [entry for entry in self._entries if not entry[2].cancelled]

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
        self._cancelled = 0


class ChosenTimerHeap(TimerHeap):
    """A heap that lets ``choices`` say which of the timers of one instant comes first."""

    __slots__ = ("_choices",)

    def __init__(self, choices: "Choices") -> None:
        super().__init__()
        self._choices = choices

    def pop(self) -> Timer:
        """Take one of the first timers out; ``due`` must have been asked just before."""
        entries = self._entries
        first = heapq.heappop(entries)
        if not entries or entries[0][0] != first[0] or self.due() != first[0]:
            return first[2]
        together = [first]
        while len(together) < MOST_OF_ONE_INSTANT and self.due() == first[0]:
            together.append(heapq.heappop(entries))
        name = getattr(first[2].callback, "__qualname__", "") or type(first[2].callback).__name__
        chosen = together.pop(self._choices.pick(f"of timers of one instant, {name} among them", len(together), "timers"))
        for entry in together:
            heapq.heappush(entries, entry)
        return chosen[2]
