"""Where components sleep until the server in their own process wakes them. ``dormant.py`` says what that is for.

All of them share one registration with the server, and get a context when they wake: another one that sleeps costs the start
of a cluster next to nothing.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.presence import ResourcePresence
from fakekube.client.resources import Resource
from fakekube.runtime.dormant import Dormant, Matters

if TYPE_CHECKING:
    from fakekube.apimachinery.presence import Cancel

Bed = tuple[Dormant, Resource, Matters | None]


class Dormitory:
    """The sleeping components of one manager."""

    def __init__(self, presence: ResourcePresence) -> None:
        self._presence = presence
        self._beds: dict[GroupResource, list[Bed]] = {}
        self._changed: dict[GroupResource, None] = {}
        self._cancel: Cancel | None = None

    def admit(self, guest: Dormant) -> None:
        """Let a component sleep. It has a look at once at what has changed already."""
        if self._cancel is None:
            self._cancel = self._presence.await_changes(self._wake)
        for each in guest.awaited:
            if isinstance(each, str):
                guest.await_owned(self._presence)
                continue
            resource, matters = (each, None) if isinstance(each, Resource) else each
            key = resource.group_resource
            if key in self._changed:
                guest.look(resource, matters, None)
            else:
                self._beds.setdefault(key, []).append((guest, resource, matters))

    def discharge(self, guest: Dormant) -> None:
        """Wake a component no more."""
        for resource, beds in self._beds.items():
            self._beds[resource] = [bed for bed in beds if bed[0] is not guest]

    def close(self) -> None:
        """Wake nobody any more."""
        self._beds.clear()
        if self._cancel is not None:
            self._cancel()

    def _wake(self, resource: GroupResource, since: int | None) -> None:
        self._changed[resource] = None
        for guest, named, matters in self._beds.pop(resource, ()):
            guest.look(named, matters, since)
