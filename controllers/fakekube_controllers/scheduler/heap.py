"""Entities in an order that is computed when each is added. Upstream: pkg/scheduler/backend/heap.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sortedcontainers import SortedList

from fakekube_controllers.scheduler.framework.queued import EntityKey, QueuedEntityInfo


class Heap:
    """Entities by key; ``order`` gives what they are sorted by."""

    def __init__(self, order: Callable[[QueuedEntityInfo], Any]) -> None:
        self._order = order
        self._sorted = SortedList()  # what an entity is sorted by, and its key
        self._entities: dict[EntityKey, tuple[QueuedEntityInfo, tuple[Any, EntityKey]]] = {}

    def __len__(self) -> int:
        return len(self._entities)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._entities

    def __iter__(self) -> Iterator[QueuedEntityInfo]:
        """In order."""
        for _, key in list(self._sorted):
            yield self._entities[key][0]

    def add(self, entity: QueuedEntityInfo) -> None:
        """Add an entity, or sort it anew."""
        key = entity.key
        self.delete(key)
        place = self._order(entity), key
        self._entities[key] = entity, place
        self._sorted.add(place)

    def get(self, key: EntityKey) -> QueuedEntityInfo | None:
        """The entity with this key."""
        found = self._entities.get(key)
        return found[0] if found is not None else None

    def first(self) -> QueuedEntityInfo | None:
        """The first entity."""
        return self._entities[self._sorted[0][1]][0] if self._sorted else None

    def pop(self) -> QueuedEntityInfo | None:
        """The first entity, which is taken out."""
        return self.delete(self._sorted[0][1]) if self._sorted else None

    def delete(self, key: EntityKey) -> QueuedEntityInfo | None:
        """The entity with this key, which is taken out; None when it is not there."""
        found = self._entities.pop(key, None)
        if found is None:
            return None
        self._sorted.remove(found[1])
        return found[0]
