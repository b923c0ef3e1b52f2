"""Pending Workloads in their order. Upstream: pkg/util/heap.

A Workload that changes or goes leaves its old place in the heap; it is passed over when it comes to
the top.
"""

import heapq
from collections.abc import Callable, Iterator

from fakekube.apimachinery.meta import ObjectKey
from fakekube_controllers.kueue.workload.info import Info

Order = tuple[float, float, str]
"""The smaller is first; no two Workloads have the same, since the last is the uid."""
STALE_ENTRIES = 64
"""So many old places may be left over before the heap is made anew."""


class Heap:
    """Infos by key, and the first of them. ``order`` is asked once, when one is pushed."""

    def __init__(self, order: Callable[[Info], Order]) -> None:
        self._order = order
        self._infos: dict[ObjectKey, tuple[Order, Info]] = {}
        self._heap: list[tuple[Order, ObjectKey]] = []

    def __len__(self) -> int:
        return len(self._infos)

    def __iter__(self) -> Iterator[Info]:
        """All of them, in no order."""
        return (info for _, info in list(self._infos.values()))

    def get(self, key: ObjectKey) -> Info | None:
        """The one of a key."""
        found = self._infos.get(key)
        return found[1] if found is not None else None

    def push_or_update(self, info: Info) -> None:
        """Put one in, in the place of what has its key."""
        order = self._order(info)
        before = self._infos.get(info.key)
        self._infos[info.key] = order, info
        if before is None or before[0] != order:
            heapq.heappush(self._heap, (order, info.key))
            if len(self._heap) > 2 * len(self._infos) + STALE_ENTRIES:
                self._heap = [(order, key) for key, (order, _) in self._infos.items()]
                heapq.heapify(self._heap)

    def push_if_not_present(self, info: Info) -> bool:
        """Put one in, unless its key is there; whether it was not."""
        if info.key in self._infos:
            return False
        self.push_or_update(info)
        return True

    def delete(self, key: ObjectKey) -> Info | None:
        """Take out the one of a key."""
        found = self._infos.pop(key, None)
        return found[1] if found is not None else None

    def pop(self) -> Info | None:
        """Take out the first; None if there is none."""
        while self._heap:
            order, key = heapq.heappop(self._heap)
            found = self._infos.get(key)
            if found is not None and found[0] == order:
                del self._infos[key]
                return found[1]
        return None
