"""A queue that holds each key once, and delays and backs off on a clock.

Upstream: client-go/util/workqueue (queue.go, delaying_queue.go, rate_limiting_queue.go), there
three types that wrap each other; here one, because nobody uses the inner ones. Left out: drain on
shutdown, fairness by priority, of the metrics all but what is counted here.
"""

import asyncio
from collections import deque
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fakekube.apimachinery.causes import ACTING, Acting, revision_acted_on
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.workqueue.ratelimit import RateLimiter, default_rate_limiter

if TYPE_CHECKING:
    from fakekube.util.choices import Choices
    from fakekube.util.timers import Timer

DAEMON_TRIES = 15
"""So many tries in a row, five minutes of them, are to be waited for.

More of them come when time passes anyway.
"""

K = TypeVar("K", bound=Hashable)


class QueueShutDown(Exception):
    """The queue takes and gives nothing any more."""


class WorkQueue(Generic[K]):
    """Keys that wait for a worker; every key in it holds a unit of activity.

    ``limiter`` decides how long ``add_rate_limited`` delays a key. ``choices`` say, where there are
    any, which key is next and which of the workers that wait takes it.
    """

    def __init__(
        self, clock: Clock, activity: Activity, *, limiter: RateLimiter[K] | None = None, name: str = "",
        choices: "Choices | None" = None,
    ) -> None:
        self.name = name
        self._clock, self._activity = clock, activity
        self._limiter: RateLimiter[K] = limiter or default_rate_limiter(clock)
        # Invariant: a key in _queue is in _dirty and not in _processing. A key that is dirty and
        # processing waits for done() to enter _queue.
        self._queue: deque[K] = deque() if choices is None else _chosen(choices, f"keys of {name}")
        self._dirty: dict[K, str] = {}  # with the version that brought each here last
        self._processing: set[K] = set()
        self._waiting: dict[K, Timer] = {}
        self._getters: deque[asyncio.Future[None]] = deque() if choices is None else _chosen(choices, f"workers of {name}")
        self._shut_down = False
        self.taken = 0  # how many keys were given to workers so far
        self.added = self.retried = 0  # since the metrics were read last

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def is_shut_down(self) -> bool:
        """Whether ``shut_down`` was called."""
        return self._shut_down

    def add(self, key: K) -> None:
        """Mark a key as in need of processing."""
        self._add(key, revision_acted_on())

    def _add(self, key: K, revision: str) -> None:
        if self._shut_down:
            return
        dirty = self._dirty
        known = len(dirty)
        dirty[key] = revision
        if len(dirty) == known:
            return
        self.added += 1
        if key not in self._processing:
            self._push(key)

    def _push(self, key: K) -> None:
        self._queue.append(key)
        self._activity.hold()
        if self._getters:
            self._push_on()

    async def get(self) -> K:
        """The next key, which the caller gives back with ``done``. Raises QueueShutDown.

        The key's unit of activity is dropped; who processes it takes one before it awaits anything.
        From here on the calling task acts on what brought the key here.
        """
        await self.wait()
        self._activity.release()
        return self.take()

    async def wait(self) -> None:
        """Return once there is a key to be taken; at once, without yielding, when there is one.

        Raises QueueShutDown.
        """
        while not self._queue:
            if self._shut_down:
                raise QueueShutDown(self.name)
            getter = asyncio.get_running_loop().create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if self._queue and getter.done() and not getter.cancelled():
                    self._push_on()
                raise

    def take(self) -> K:
        """The next key, as ``get`` gives it when there is one; its unit of activity is the caller's
        from now on.
        """
        key = self._queue.popleft()
        self._processing.add(key)
        self.taken += 1
        ACTING.set(Acting(self.name, key, self._dirty.pop(key)))
        return key

    def _push_on(self) -> None:
        """Wake a getter; also in place of one that was cancelled after its wake-up."""
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                break

    def done(self, key: K) -> None:
        """The key has been processed; if it was added meanwhile, it queues again."""
        self._processing.discard(key)
        if key in self._dirty and not self._shut_down:
            self._push(key)

    def add_after(self, key: K, delay_seconds: float, *, daemon: bool = False) -> None:
        """Add a key after so many seconds. Of several delays the earliest counts.

        ``daemon``: the delay never pulls virtual time forward by itself; for what recurs for ever.
        """
        if self._shut_down:
            return
        if delay_seconds <= 0:
            self.add(key)
            return
        self._add_at(key, self._clock.time() + delay_seconds, daemon=daemon)

    def add_when_quiet(self, key: K, real_seconds: float) -> None:
        """Add a key once nothing else is in flight; after so many seconds where time is real.

        For a key that changes so often at one instant that what it stands for is better read once.
        """
        if not self._shut_down and key not in self._dirty:
            seconds = real_seconds if self._clock.passes_while_busy else 0
            self._add_at(key, self._clock.time() + seconds, daemon=False)

    def _add_at(self, key: K, when: float, *, daemon: bool) -> None:
        waiting = self._waiting.get(key)
        if waiting is not None:
            if waiting.when <= when and (daemon or not waiting.daemon):
                waiting.args = key, revision_acted_on()
                return
            waiting.cancel()
            when = min(when, waiting.when)
        self._waiting[key] = self._clock.call_at(when, self._ready, key, revision_acted_on(), daemon=daemon)

    def _ready(self, key: K, revision: str) -> None:
        self._waiting.pop(key, None)
        self._add(key, revision)

    def withdraw(self, key: K) -> None:
        """Forget a key's delay, if it has one: the reconcile that runs now decides anew when the
        next one is.
        """
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()

    def add_rate_limited(self, key: K) -> None:
        """Add a key when the limiter says that it may be tried again.

        A key that has failed very often pulls virtual time no more.
        """
        self.retried += 1
        delay_seconds = self._limiter.when(key)
        self.add_after(key, delay_seconds, daemon=self._limiter.num_requeues(key) > DAEMON_TRIES)

    def forget(self, key: K) -> None:
        """The key is fine: its back-off starts anew."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """How often the key was added rate limited since it was last forgotten."""
        return self._limiter.num_requeues(key)

    def shut_down(self) -> None:
        """Drop what waits, take nothing more, and raise QueueShutDown in those who wait for a key.
        """
        self._shut_down = True
        for _ in range(len(self._queue)):
            self._activity.release()
        self._queue.clear()
        self._dirty.clear()
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        self._getters.clear()

    def explain(self) -> Iterator[str]:
        """Lines on what is in the queue, for people."""
        if self._queue or self._processing:
            yield f"{self.name}: {len(self._queue)} queued, {len(self._processing)} in work"
        for key, timer in list(self._waiting.items())[:10]:
            tries = self.num_requeues(key)
            retry = f" after {tries} failures" if tries else ""
            yield f"{self.name}: {key} again in {timer.when - self._clock.time():g} s{retry}"


def _chosen(choices: "Choices", name: str) -> "deque[Any]":
    from fakekube.util.choices import ChosenDeque

    return ChosenDeque(choices, name)
