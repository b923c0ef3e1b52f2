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
from functools import lru_cache, update_wrapper
from typing import Any, Final, Generic, ParamSpec, TypeVar

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")

ENABLED: Final = os.environ.get("FAKEKUBE_MEMO", "on") != "off"


def memoized(maxsize: int, *, longest: int | None = None) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """Keep what a pure function of hashable arguments gave for the latest ``maxsize`` of them.

    ``longest`` is for a function whose first argument is a text, or bytes, that anybody may send:
    what has more characters or bytes is not kept, and computed anew each time. So all that is kept
    takes no more memory than the two numbers say.
    """
    def decorate(function: Callable[P, V]) -> Callable[P, V]:
        if not ENABLED:
            return function
        if longest is not None and function.__code__.co_argcount + function.__code__.co_kwonlyargcount == 1:
            return _KeptIfShort(function, maxsize, longest).__getitem__  # type: ignore[return-value]
        kept: Callable[P, V] = lru_cache(maxsize)(function)  # type: ignore[assignment]
        if longest is None:
            return kept

        def kept_if_short(text: Any, *args: Any, **kwargs: Any) -> V:
            return (kept if len(text) <= longest else function)(text, *args, **kwargs)

        return update_wrapper(kept_if_short, function)  # type: ignore[return-value]

    return decorate


class _KeptIfShort(OrderedDict[Any, Any]):
    """What a function of one text gave, looked up without a call of Python where it is known."""

    def __init__(self, function: Callable[..., Any], limit: int, longest: int) -> None:
        super().__init__()
        self._function, self._limit, self._longest = function, limit, longest

    def __missing__(self, text: Any) -> Any:
        value = self._function(text)
        if len(text) <= self._longest:
            self[text] = value
            if len(self) > self._limit:
                self.popitem(last=False)
        return value


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
