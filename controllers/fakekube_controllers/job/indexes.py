"""Completion indexes as a Job's status writes them: ``0-2,5,7,8``.

Runs of three or more are ``a-b``, runs of two are ``a,b``. They are kept as runs: a Job may have
two thousand million completions, and ``0-2147483646`` is a short text. Upstream:
pkg/controller/job/indexed_job_utils.go (orderedIntervals).
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"

Run = tuple[int, int]
"""The first and the last of indexes that follow each other."""


class Indexes:
    """A set of indexes, which never changes. It costs what its text does, however many they are."""

    __slots__ = ("_count", "_lows", "_runs")

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        """``runs`` may come in any order, touch and overlap; one whose end is before its start is
        empty.
        """
        merged: list[Run] = []
        for low, high in sorted(run for run in runs if run[0] <= run[1]):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        self._runs = tuple(merged)
        self._lows = [low for low, _ in merged]
        self._count = sum(high - low + 1 for low, high in merged)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> "Indexes":
        """The set of these numbers, given in any order."""
        return cls((number, number) for number in numbers)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, index: int) -> bool:
        place = bisect_right(self._lows, index) - 1
        return place >= 0 and index <= self._runs[place][1]

    def union(self, other: "Indexes") -> "Indexes":
        """Those that are in this set or in the other."""
        return Indexes((*self._runs, *other._runs)) if other else self

    def common(self, other: "Indexes") -> int:
        """How many are in both."""
        count, ours, theirs = 0, 0, 0
        while ours < len(self._runs) and theirs < len(other._runs):
            (low, high), (other_low, other_high) = self._runs[ours], other._runs[theirs]
            count += max(0, min(high, other_high) - max(low, other_low) + 1)
            if high <= other_high:
                ours += 1
            else:
                theirs += 1
        return count

    def missing(self, end: int) -> Iterator[int]:
        """The indexes from 0 to below ``end`` that are not in the set, ascending."""
        following = 0
        for low, high in self._runs:
            yield from range(following, min(low, end))
            following = high + 1
        yield from range(following, end)

    def text(self) -> str:
        """The shortest text that lists them."""
        parts = (f"{low}-{high}" if high > low + 1 else f"{low},{high}" if high > low else f"{low}"
                 for low, high in self._runs)
        return ",".join(parts)


def parse(text: str, completions: int | None = None) -> Indexes:
    """The indexes that a text lists; those at or above ``completions`` are dropped, as is what does
    not parse.
    """
    runs: list[Run] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            continue
        low, high = int(first), int(last or first)
        runs.append((low, high if completions is None else min(high, completions - 1)))
    return Indexes(runs)


def index_of(pod: Mapping[str, Any]) -> int | None:
    """A pod's completion index, or None when it has none that parses."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdecimal() else None


def count_of(pod: Mapping[str, Any], annotation: str) -> int:
    """A failure count that a pod carries; 0 when it carries none."""
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "")
    return int(text) if text.isdecimal() else 0
