"""The fewest deviations that still fail: delta debugging (Zeller and Hildebrandt, "Simplifying and
Isolating Failure-Inducing Input", 2002).

Deviations are left out in ever smaller parts. A run that is replayed with fewer may not come to
some of those that are left, so that what counts is what it made.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Fails = Callable[[tuple[T, ...]], "tuple[T, ...] | None"]
"""Whether these still fail: those of them that were made, or None."""

MOST_RUNS = 400
"""So often is tried at most: what is left by then is told."""


def shrunk(whole: tuple[T, ...], fails: Fails[T], most_runs: int = MOST_RUNS) -> tuple[tuple[T, ...], int]:
    """A part of ``whole`` that fails, and of which no single one can be left out; and how often
    ``fails`` was asked.

    ``whole`` is known to fail. With ``most_runs`` it may end before that.
    """
    if not whole or not most_runs:
        return whole, 0
    runs, parts = 1, 1
    if (made := fails(())) is not None:
        return made, runs
    while runs < most_runs and len(whole) > 1:
        parts = max(2, min(parts, len(whole)))
        size, smaller = -(-len(whole) // parts), None
        for begin in range(0, len(whole), size):
            rest = (*whole[:begin], *whole[begin + size:])
            if runs >= most_runs:
                break
            runs += 1
            if (made := fails(rest)) is not None and len(made) < len(whole):
                smaller = made
                break
        if smaller is not None:
            whole, parts = smaller, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts *= 2
    return whole, runs
