"""One cache a resource, shared by all controllers, which tells handlers what changed.

Upstream: client-go/tools/cache/shared_informer.go, without its queue of deltas, its tombstones (a
handler gets the last known object) and its processors: handlers here are plain functions that put a
key into a queue and return.
"""

import asyncio
from collections.abc import Callable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.presence import Cancel, ResourcePresence
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import Indexer, IndexFunction
from fakekube.cache.lister import Lister
from fakekube.cache.mutation import MutationDetector, WatchedIndexer
from fakekube.cache.reflector import Reflector
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

OnAdd = Callable[[Tree], object]
OnUpdate = Callable[[Tree, Tree], object]
OnDelete = Callable[[Tree], object]


class Registration:
    """A handler's place at an informer."""

    __slots__ = ("_informer", "on_add", "on_delete", "on_update")

    def __init__(
        self, informer: "SharedInformer", on_add: OnAdd | None, on_update: OnUpdate | None, on_delete: OnDelete | None,
    ) -> None:
        self._informer = informer
        self.on_add, self.on_update, self.on_delete = on_add, on_update, on_delete

    def remove(self) -> None:
        """Tell this handler nothing any more."""
        self._informer.remove_handler(self)


class SharedInformer:
    """The cache of one resource.

    ``resync_seconds``: how often every object is told again as an update of itself; 0 for never.
    ``transform`` may return a smaller object to be kept in place of the one it gets, which it must
    not change. ``consistent`` as for ``Reflector``.
    """

    def __init__(
        self, client: Client, resource: Resource, *, clock: Clock, activity: Activity, rng: Rng, namespace: str = "",
        label_selector: str = "", field_selector: str = "", resync_seconds: float = 0,
        transform: Callable[[Tree], Tree] | None = None, detector: MutationDetector | None = None,
        watch_timeout_seconds: float | None = None, presence: ResourcePresence | None = None, consistent: bool = False,
    ) -> None:
        self.resource = resource
        self.whole = False  # somebody wants to see what came with the cluster, too
        self._presence = presence
        self._waiting: Cancel | None = None
        self.indexer = Indexer() if detector is None else WatchedIndexer(detector)
        self.lister = Lister(self.indexer)
        self.has_synced = False
        self.reflector = Reflector(
            client, resource, self, clock=clock, activity=activity, rng=rng, namespace=namespace,
            label_selector=label_selector, field_selector=field_selector, watch_timeout_seconds=watch_timeout_seconds,
            # a server in this process cuts no watch that would have to be resumed
            bookmarks=presence is None, consistent=consistent,
        )
        self._clock = clock
        self._resync_seconds, self._detector = resync_seconds, detector
        self._transform = transform if transform is None or detector is None else detector.watched_handler("", transform)
        self._handlers: list[Registration] = []
        self._on_add: tuple[OnAdd, ...] = ()
        self._on_update: tuple[OnUpdate, ...] = ()
        self._on_delete: tuple[OnDelete, ...] = ()
        self._synced: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None

    @property
    def resource_version(self) -> str:
        """The version that the cache has come to; empty before the first list."""
        return self.reflector.resource_version

    def has_reached(self, resource_version: str) -> bool:
        """Whether the cache shows what was written at a version, or later; for who must read their
        own writes.
        """
        return int(self.resource_version or 0) >= int(resource_version)

    def start(self, tasks: Tasks, since: int | None = None) -> None:
        """List and watch from now on, or as soon as there is anything to see; harmless when it does
        already.

        ``since`` is a version at which there was nothing: there is no need to list.
        """
        if self._task is not None or self._waiting is not None:
            return
        self._wait_or_begin(tasks, since)
        if self._resync_seconds:
            tasks.spawn(self._resync(), f"resync {self.resource}")

    def _wait_or_begin(self, tasks: Tasks, since: int | None) -> None:
        if self._presence is not None and since is None:
            self._waiting = self._presence.await_first(
                self.resource.group_resource, lambda since: self._begin(tasks, since), whole=self.whole)
        if self._waiting is None:
            self._begin(tasks, since)
        if self._waiting is not None or since is not None:
            self.replace([])

    def _begin(self, tasks: Tasks, since: int | None) -> None:
        self._waiting = None
        self._task = tasks.spawn(
            self.reflector.run("" if since is None else str(since)), f"informer {self.resource}")

    def want_whole(self, tasks: Tasks, since: int | None = None) -> None:
        """See what came with the cluster, too, whoever asked first; ``since`` as for ``start``."""
        if self.whole:
            return
        self.whole = True
        if self._waiting is not None:
            self.close()
            self.has_synced = False
            self._wait_or_begin(tasks, since)

    def close(self) -> None:
        """Wait for nothing any more; what runs ends with its tasks."""
        if self._waiting is not None:
            self._waiting()
            self._waiting = None

    async def wait_for_sync(self) -> None:
        """Return once the first list is in the cache and was told to the handlers."""
        if not self.has_synced:
            waiter = asyncio.get_running_loop().create_future()
            self._synced.append(waiter)
            await waiter

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by a function; what is there is indexed too."""
        self.indexer.add_index(name, function)

    def add_handler(
        self, on_add: OnAdd | None = None, on_update: OnUpdate | None = None, on_delete: OnDelete | None = None, *,
        component: str = "",
    ) -> Registration:
        """Tell these functions of every change: ``on_add(obj)``, ``on_update(old, new)``,
        ``on_delete(last)``.

        They run in the order of registration and must not await, block or change what they get: it
        is shared. What is in the cache already is told as added before this returns. ``component``
        is the name of the component that they belong to, for reports of changed objects.
        """
        if self._detector is not None:
            on_add, on_update, on_delete = (
                function and self._detector.watched_handler(component, function) for function in (on_add, on_update, on_delete))
        registration = Registration(self, on_add, on_update, on_delete)
        self._register(registration)
        if on_add is not None:
            for obj in list(self.indexer):
                on_add(obj)
        return registration

    def remove_handler(self, registration: Registration) -> None:
        """Forget a handler; harmless when it is forgotten already."""
        if registration in self._handlers:
            left = [handler for handler in self._handlers if handler is not registration]
            self._handlers, self._on_add, self._on_update, self._on_delete = [], (), (), ()
            for handler in left:
                self._register(handler)

    def _register(self, handler: Registration) -> None:
        """Tell one more; whoever goes through those that are there goes on with the same."""
        self._handlers = [*self._handlers, handler]
        if handler.on_add is not None:
            self._on_add = (*self._on_add, handler.on_add)
        if handler.on_update is not None:
            self._on_update = (*self._on_update, handler.on_update)
        if handler.on_delete is not None:
            self._on_delete = (*self._on_delete, handler.on_delete)

    def replace(self, items: list[Tree]) -> None:
        """Take a list: tell what is new, what changed and, at the end, what is gone."""
        seen: dict[ObjectKey, None] = {}
        for obj in items:
            seen[meta.key_of(obj)] = None
            self._store(obj)
        for key in self.indexer.all_keys():
            if key not in seen:
                self._drop(key, None)
        self.has_synced = True
        waiters, self._synced = self._synced, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def apply(self, event_type: str, obj: Tree) -> None:
        """Take one event of the watch."""
        if event_type == "DELETED":
            self._drop(meta.key_of(obj), obj)
        else:
            self._store(obj)

    def _store(self, obj: Tree) -> None:
        if self._transform is not None:
            obj = self._transform(obj)
        old = self.indexer.put(meta.key_of(obj), obj)
        if old is None:
            for on_add in self._on_add:
                on_add(obj)
            return
        for on_update in self._on_update:
            on_update(old, obj)

    def _drop(self, key: ObjectKey, last: Tree | None) -> None:
        old = self.indexer.remove(key)
        if old is None:
            return
        final = old if last is None else last
        for on_delete in self._on_delete:
            on_delete(final)

    async def _resync(self) -> None:
        while True:
            await self._clock.sleep(self._resync_seconds, daemon=True)
            for obj in list(self.indexer):
                for on_update in self._on_update:
                    on_update(obj, obj)

    def explain(self) -> Iterator[str]:
        """Lines on what is amiss, for people."""
        if not self.has_synced:
            yield f"informer {self.resource} has not synced {self.reflector.last_error}".rstrip()
