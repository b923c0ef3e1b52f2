"""Proof that nobody changes what is in a cache. Upstream: client-go/tools/cache/mutation_detector.go."""

import copy
from collections import deque

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree


class CacheMutated(AssertionError):
    """Somebody changed an object that belongs to a cache."""


class MutationDetector:
    """Keeps copies of the last ``limit`` objects that went into caches, to compare. Slow: for tests."""

    def __init__(self, limit: int = 10_000) -> None:
        self._pairs: deque[tuple[Tree, Tree]] = deque(maxlen=limit)

    def watch(self, obj: Tree) -> None:
        """Remember what an object looks like."""
        self._pairs.append((obj, copy.deepcopy(obj)))

    def check(self) -> None:
        """Raise CacheMutated when an object looks different now."""
        for obj, original in self._pairs:
            if obj != original:
                kind = original.get("kind", "object")
                raise CacheMutated(f"cached {kind} {meta.key_of(original)} was changed: {_difference(original, obj)}")


def _difference(before: object, after: object, path: str = "") -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                return _difference(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    return f"{path} was {before!r} and is {after!r}"
