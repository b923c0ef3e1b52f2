"""Who writes one object without end at one instant, told while it runs.

Virtual time waits for what is in flight, so that a run with such an operator never ends, and an
oracle that looks at its end would never be asked. All other oracles are asked at the end: only then
is it known what came to rest, and one report has all that is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fakekube.exploration.oracles import WORDS, Who
from fakekube.testing.claims import Check, Claim, Verdict
from fakekube.testing.history import Change, State

MOST_AT_ONCE = 1_000
"""So often a writer writes one object, with nobody else writing anything, when it will never rest.
"""

HOT_SECONDS = 0.1
"""Writes that are further apart, on average, let a run come to its end, where the oracle is asked.
"""


class HotLoop:
    """A predicate: whether one of ``who`` has written an object as often as no one does that rests.

    ``who`` is asked when that has been seen.
    """

    def __init__(self, who: Callable[[], Sequence[Who]]) -> None:
        self._who = who
        self._writer = ""
        self._began = 0.0
        self._counts: dict[str, int] = {}

    def __call__(self, state: Any) -> bool:
        """Whether the change that led to the state is one too many."""
        change = state.change
        if change is None or change.resource.resource in WORDS:
            return False
        writer = change.cause.user_agent if change.cause is not None else ""
        if writer != self._writer:
            self._writer, self._began = writer, change.time
            self._counts.clear()
        uid = change.event.record.uid
        count = self._counts[uid] = self._counts.get(uid, 0) + 1
        if count <= MOST_AT_ONCE or change.time - self._began > count * HOT_SECONDS:
            return False
        return any(one.wrote(change) for one in self._who())

    def text(self, change: Change) -> str:
        """What it is that was seen."""
        count = self._counts.get(change.event.record.uid, 0)
        return (f"{change.name} was written {count} times in {change.time - self._began:g} s by {self._writer}, "
                "while nobody else wrote anything: it never comes to rest")


@dataclass(frozen=True)
class NoHotLoop(Claim):
    """The oracle ``restless`` while a test runs; the predicate is a HotLoop."""

    predicate: HotLoop

    def look(self, check: Check, state: State, *answers: bool) -> Verdict:
        """It ends with the write that is one too many."""
        return check.broken(state, f"restless: {self.predicate.text(state.last)}") if answers[0] and state.last else None

    def __str__(self) -> str:
        return "oracle restless"
