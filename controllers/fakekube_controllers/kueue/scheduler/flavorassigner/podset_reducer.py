"""The search for the largest numbers of pods that fit, between the counts of podsets and their
minima.

Upstream: pkg/scheduler/flavorassigner/podset_reducer.go.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from fakekube.apimachinery.types import ReadOnlyTree

R = TypeVar("R")


class PodSetReducer(Generic[R]):
    """``fits`` says for counts, one a podset, what would be had with them; None if nothing."""

    def __init__(self, podsets: Sequence[ReadOnlyTree], fits: Callable[[list[int]], R | None]) -> None:
        self._counts = [podset["count"] for podset in podsets]
        self._deltas = [podset["count"] - podset.get("minCount", podset["count"]) for podset in podsets]
        self._fits = fits

    def search(self) -> R | None:
        """What ``fits`` says of the first counts that fit, by halves; None if none do."""
        total = sum(self._deltas)
        found: R | None = None
        if not total:
            return None
        low, high = 0, total + 1
        while low < high:
            middle = (low + high) // 2
            result = self._fits(
                [count - delta * middle // total for count, delta in zip(self._counts, self._deltas, strict=True)])
            if result is None:
                low = middle + 1
            else:
                high, found = middle, result
        return found
