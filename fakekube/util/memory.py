"""Memos: results of pure functions, kept for a while by their arguments.

A memo holds a pure function of its whole key, and its values are immutable: whoever gets one may
keep it, and no answer depends on whether it was in a memo. So all memos of a process can be
switched off, by ``FAKEKUBE_MEMO=off`` in its environment, and the same requests must get the same
bytes then. What depends on other objects, on time or on the caller is never kept. Upstream:
k8s.io/utils/lru.
"""

import os
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Generic, ParamSpec, TypeVar

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")

ENABLED: Final = os.environ.get("FAKEKUBE_MEMO", "on") != "off"


def memoized(maxsize: int) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """Keep what a pure function of hashable arguments gave for the latest ``maxsize`` of them."""
    def decorate(function: Callable[P, V]) -> Callable[P, V]:
        return lru_cache(maxsize)(function) if ENABLED else function  # type: ignore[return-value]

    return decorate


class Memo(Generic[K, V]):
    """The latest values under their keys, ``limit`` of them at most.

    Their sizes, as callers give them, are no more than ``max_bytes`` together. Always empty when
    memos are switched off.
    """

    __slots__ = ("_bytes", "_limit", "_max_bytes", "_sizes", "_values", "get")

    def __init__(self, limit: int, max_bytes: int | None = None) -> None:
        self._limit, self._max_bytes, self._bytes = limit if ENABLED else 0, max_bytes, 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._sizes: dict[K, int] = {}
        self.get: Callable[[K], V | None] = self._values.get
        """The value under a key; None when there is none."""

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: K, value: V, size: int = 0) -> None:
        """Keep a value that takes ``size`` bytes with its key; the oldest are dropped to
        make room.
        """
        values = self._values
        if key in values:
            del values[key]
            self._bytes -= self._sizes.pop(key, 0)
        values[key] = value
        if size:
            self._sizes[key] = size
            self._bytes += size
        while len(values) > self._limit or (self._max_bytes is not None and self._bytes > self._max_bytes):
            self._bytes -= self._sizes.pop(values.popitem(last=False)[0], 0)
