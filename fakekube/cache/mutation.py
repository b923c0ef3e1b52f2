"""Proof that nobody changes what is in a cache, and who did.

What a cache hands out is shared: by every controller, and in one process by the server itself,
which compares with it and answers from it. The detector remembers each object's bytes when it goes
into a cache. It notes which objects a reconcile or a handler was given, encodes those once more
when that ends, and all of them when the caches are closed: where the bytes differ, somebody changed
the object in place.

Upstream: client-go/tools/cache/mutation_detector.go, behind KUBE_CACHE_MUTATION_DETECTOR, which
compares everything with deep copies once a second and names neither the controller nor its key.
What is kept here costs an encoding of every object that comes in, of every one that leaves, and of
those that were handed out, a bounded number of them each time; the others are compared later, with
the names of all who were given them. Objects that were never handed out (a timer of a component
changes what a handler kept) are found without a name.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, TypeVar

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import Indexer
from fakekube.util.treediff import MISSING

T = TypeVar("T")

log = logging.getLogger(__name__)

COMPARED_AFTER_RECONCILE = 100
COMPARED_AFTER_HANDLER = 10
"""So many of the objects that a reconcile, or a handler, was given are compared when it ends; those
beyond wait.
"""

COMPARED_BESIDES = 10
"""So many of those that wait are compared each time that a reconcile ends."""

KEPT_AFTERWARDS = 256
"""So many objects that no cache holds any more are still known, for who keeps them a little longer.
"""

MAX_DIFFERENCES = 3
MAX_TEXT = 300


class CacheMutated(AssertionError):
    """Somebody changed an object that belongs to a cache.

    The text says which, where in it, and who did.
    """


class _Known:
    """An object of a cache, and what it looked like when it came in."""

    __slots__ = ("caches", "data", "obj", "readers")

    def __init__(self, obj: Tree) -> None:
        self.obj, self.data = obj, orjson.dumps(obj)
        self.caches = 0  # that hold it
        self.readers: dict[str, None] = {}  # who was given it since it was compared last


class _Watched:
    """A reconcile or a handler that runs: who that is, and what it was given."""

    __slots__ = ("bound", "detector", "handed", "who")

    def __init__(self, detector: "MutationDetector", who: str, bound: int) -> None:
        self.detector, self.who, self.bound = detector, who, bound
        self.handed: dict[int, Tree] = {}  # by identity: equal objects are many


_RUNNING: ContextVar[_Watched | None] = ContextVar("fakekube-watched", default=None)


class MutationDetector:
    """Knows what the caches of one manager hold.

    ``on_mutation`` gets a CacheMutated for the first object that was changed.

    Nothing is compared after that: the server writes on from what was changed, and other objects
    share parts with it.
    """

    def __init__(self, on_mutation: Callable[[CacheMutated], None]) -> None:
        self._on_mutation = on_mutation
        self._over = False
        # by identity of the object, which is held and so stays the only one of that identity
        self._known: dict[int, _Known] = {}
        self._left: deque[_Known] = deque()
        self._uncompared: dict[int, _Known] = {}
        self._running: dict[_Watched, None] = {}

    # what the caches tell

    def enter(self, obj: Tree) -> None:
        """An object goes into a cache."""
        if self._over:
            return
        known = self._known.get(id(obj))
        if known is None:
            known = self._known[id(obj)] = _Known(obj)
        known.caches += 1

    def leave(self, obj: Tree) -> None:
        """It is taken out of a cache, or replaced."""
        known = self._known.get(id(obj))
        if known is None:
            return  # it is over meanwhile
        known.caches -= 1
        if not known.caches:
            self._left.append(known)
            if len(self._left) > KEPT_AFTERWARDS:
                self._forget(self._left.popleft())

    def _forget(self, known: _Known) -> None:
        identity = id(known.obj)
        if not known.caches and self._known.get(identity) is known:
            self._compare(known)
            self._known.pop(identity, None)
            self._uncompared.pop(identity, None)

    def hand_out(self, objects: Iterable[Tree]) -> None:
        """Somebody reads these from a cache."""
        running = _RUNNING.get()
        if running is not None and running.detector is self:
            running.handed.update((id(obj), obj) for obj in objects)
            return
        acting = ACTING.get()
        who = "what runs outside of a reconcile"
        if acting is not None and acting.component:
            who = _name(acting.component, acting.key)
        for obj in objects:
            known = self._known.get(id(obj))
            if known is not None:
                known.readers[who] = None
                self._uncompared[id(obj)] = known

    # who is watched

    def watched_process(self, component: str, process: Callable[[Any], Awaitable[T]]) -> Callable[[Any], Awaitable[T]]:
        """A reconcile that is watched for what it does to cached objects."""
        async def watched(key: Any) -> T:
            with self._watch(_name(component, key), COMPARED_AFTER_RECONCILE):
                return await process(key)

        return watched

    def watched_handler(self, component: str, function: Callable[..., T]) -> Callable[..., T]:
        """A handler (or anything that is called with cached objects) that is watched in the same
        way.
        """
        name = component or getattr(function, "__qualname__", repr(function))

        def watched(*objects: Tree) -> T:
            last = objects[-1]
            who = f"the handler of {name} for {last.get('kind', 'object')} {meta.key_of(last)}"
            with self._watch(who, COMPARED_AFTER_HANDLER, objects):
                return function(*objects)

        return watched

    @contextmanager
    def _watch(self, who: str, bound: int, objects: tuple[Tree, ...] = ()) -> Iterator[None]:
        if self._over:
            yield
            return
        running = _Watched(self, who, bound)
        # an object that is in no cache (the last state of a deleted one) is known for as long as
        # the handler runs
        visiting = [_Known(obj) for obj in objects if id(obj) not in self._known]
        running.handed = {id(obj): obj for obj in objects if id(obj) in self._known}
        self._running[running] = None
        token = _RUNNING.set(running)
        try:
            yield
        finally:
            _RUNNING.reset(token)
            del self._running[running]
            for known in visiting:
                known.readers[who] = None
                self._compare(known)
            self._end(running)

    def _end(self, running: _Watched) -> None:
        """Compare what somebody was given, up to a bound, and then what others still have to be
        cleared of.
        """
        given = [known for identity in running.handed if (known := self._known.get(identity)) is not None]
        for known in given:
            known.readers[running.who] = None
        for known in given[:running.bound]:
            self._compare(known)
        for known in given[running.bound:]:
            self._uncompared[id(known.obj)] = known
        if running.bound == COMPARED_AFTER_RECONCILE:
            for known in list(islice(self._uncompared.values(), COMPARED_BESIDES)):
                self._compare(known)

    # proof

    def _compare(self, known: _Known) -> None:
        """Tell of an object that was changed."""
        self._uncompared.pop(id(known.obj), None)
        readers, known.readers = known.readers, {}
        if self._over or _encoded(known.obj) == known.data:
            return
        for running in self._running:
            if id(known.obj) in running.handed:
                readers[running.who] = None
        mutated = CacheMutated(_described(known, list(readers)))
        log.error("%s", mutated)
        self._on_mutation(mutated)
        self._end_all()

    def close(self) -> None:
        """Compare everything that is still known, and forget it: the caches are closed."""
        for known in list(self._known.values()):
            self._compare(known)
        self._end_all()

    def _end_all(self) -> None:
        self._over = True
        self._known.clear()
        self._left.clear()
        self._uncompared.clear()


class WatchedIndexer(Indexer):
    """An indexer that tells a detector what comes, what goes and what is handed out; going through
    it is its informer's own.
    """

    def __init__(self, detector: MutationDetector) -> None:
        super().__init__()
        self._detector = detector

    def get(self, namespace: str, name: str) -> Tree | None:
        """As an indexer does."""
        obj = super().get(namespace, name)
        if obj is not None:
            self._detector.hand_out((obj,))
        return obj

    def list(self, namespace: str = "") -> Iterable[Tree]:
        """As an indexer does."""
        objects = super().list(namespace)
        self._detector.hand_out(objects)
        return objects

    def by_index(self, index: str, value: str) -> Iterable[Tree]:
        """As an indexer does."""
        objects = super().by_index(index, value)
        self._detector.hand_out(objects)
        return objects

    def put(self, key: ObjectKey, obj: Tree) -> Tree | None:
        """As an indexer does."""
        self._detector.enter(obj)
        old = super().put(key, obj)
        if old is not None:
            self._detector.leave(old)
        return old

    def remove(self, key: ObjectKey) -> Tree | None:
        """As an indexer does."""
        old = super().remove(key)
        if old is not None:
            self._detector.leave(old)
        return old


def _name(component: str, key: object) -> str:
    return f"the controller {component} at {key}"


def _encoded(obj: Tree) -> bytes:
    """The bytes of an object; of one that is no JSON any more, something else than they were."""
    try:
        return orjson.dumps(obj)
    except TypeError:
        return orjson.dumps(obj, default=repr, option=orjson.OPT_NON_STR_KEYS) + b" is no JSON"


def _described(known: _Known, readers: list[str]) -> str:
    before = orjson.loads(known.data)
    differences = list(_differences(before, known.obj, ""))
    lines = [f"  {path}: {_shown(old)} -> {_shown(new)}" for path, old, new in differences[:MAX_DIFFERENCES]]
    if len(differences) > MAX_DIFFERENCES:
        lines.append(f"  and {len(differences) - MAX_DIFFERENCES} more")
    who = " or by ".join(readers) if readers else "somebody who kept it from before"
    return "\n".join([
        f"cached {before.get('kind', 'object')} {meta.key_of(before)} was changed by {who}:",
        *(lines or ["  the order of its fields"]),
        "What a lister, an index or a handler gives is shared and read-only: change a copy (copy.deepcopy, or client.get)",
    ])


def _differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The places where two trees differ, items of lists by their number: (path, before, after)."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(name, MISSING), after.get(name, MISSING), _below(path, name))
    elif isinstance(before, list) and isinstance(after, list):
        for number in range(max(len(before), len(after))):
            old = before[number] if number < len(before) else MISSING
            new = after[number] if number < len(after) else MISSING
            yield from _differences(old, new, f"{path}[{number}]")
    elif before != after or type(before) is not type(after):
        yield path, before, after


def _below(path: str, name: object) -> str:
    text = str(name)
    if not text.replace("-", "").replace("_", "").isalnum():
        return f"{path}[{text}]"
    return f"{path}.{text}" if path else text


def _shown(value: Any) -> str:
    if value is MISSING:
        return repr(value)
    text = orjson.dumps(value, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
