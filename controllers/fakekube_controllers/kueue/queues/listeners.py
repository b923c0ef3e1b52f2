"""Who hears of what the queues do.

Upstream: broadcast and the update watchers of pkg/cache/queue/manager.go.
"""

from collections.abc import Callable

from fakekube.apimachinery.types import ReadOnlyTree

UpdateWatcher = Callable[[ReadOnlyTree | None, ReadOnlyTree | None], object]
"""Is told an object before and after a change."""


class Listeners:
    """Listeners hear that heads may be there, watchers of Workloads and Topologies that changed."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], object]] = []
        self._watchers: list[UpdateWatcher] = []
        self._topology_watchers: list[UpdateWatcher] = []

    def on_broadcast(self, listener: Callable[[], object]) -> None:
        """Call a function whenever a head may be there that was not, or may be admitted now."""
        self._listeners.append(listener)

    def broadcast(self) -> None:
        """Tell the listeners."""
        for listener in self._listeners:
            listener()

    def add_workload_update_watcher(self, watcher: UpdateWatcher) -> None:
        """Tell a function of changes that no event tells of."""
        self._watchers.append(watcher)

    def notify_workload_update_watchers(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """Tell the watchers."""
        for watcher in self._watchers:
            watcher(old, new)

    def add_topology_update_watcher(self, watcher: UpdateWatcher) -> None:
        """Tell a function of changes of Topologies."""
        self._topology_watchers.append(watcher)

    def notify_topology_update_watchers(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """Tell the watchers."""
        for watcher in self._topology_watchers:
            watcher(old, new)
