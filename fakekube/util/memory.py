"""Memories of a bounded size, for what can be worked out again. Upstream: k8s.io/utils/lru, which forgets the least used."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remember(memory: dict[K, V], key: K, value: V, limit: int) -> None:
    """Keep a value under a key; of ``limit`` others the oldest is forgotten."""
    if key not in memory and len(memory) >= limit:
        del memory[next(iter(memory))]
    memory[key] = value
