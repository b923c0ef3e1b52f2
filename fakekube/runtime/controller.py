"""The loop of a controller: a key from the queue, a reconcile, and again later when it failed.

Upstream: controller-runtime/pkg/internal/controller. One key is never reconciled twice at a time;
several workers only matter where the server is far away.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from inspect import isawaitable
from typing import Any

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import Resource
from fakekube.client.transport import TransportError
from fakekube.runtime import handlers
from fakekube.runtime.context import Context
from fakekube.runtime.handlers import Mapper
from fakekube.runtime.predicates import Predicate
from fakekube.runtime.reconcile import ExpectedError, Reconciler, Result, TerminalError, has_setup
from fakekube.util.clock import Clock
from fakekube.util.tasks import is_anything_ready, turn
from fakekube.workqueue.queue import QueueShutDown, WorkQueue
from fakekube.workqueue.ratelimit import RateLimiter

log = logging.getLogger(__name__)

UNTURNED_KEYS = 16
"""So many keys may be processed before the loop looks at its sockets, where nothing else is ready.
"""

Process = Callable[[Any], Awaitable[Result | None]]


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """Call an author's function that must not break its caller: what it returned, or None and what
    it raised.
    """
    try:
        return function(*arguments), None
    # whatever an author's code raises is told by the caller, in its own words
    except Exception as error:
        return None, error


async def attempt_async(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """The same for a function that may be async. A ConnectionError is the caller's own: it passes.
    """
    try:
        result = function(*arguments)
        return (await result if isawaitable(result) else result), None
    except ConnectionError:
        raise
    except Exception as error:  # as above
        return None, error


class Worker:
    """Processes the keys of a queue with one function, and remembers what fails.

    For components with queues of their own: ``Worker(ctx, queue, process).start()``.
    """

    def __init__(self, ctx: Context, queue: WorkQueue[Any], process: Process) -> None:
        self._ctx, self._queue = ctx, queue
        self._process = process if ctx.detector is None else ctx.detector.watched_process(queue.name, process)
        self.processed = 0
        # by key, the last one of those that still fail
        self.failures: dict[Any, BaseException] = {}
        ctx.explainers.append(self.explain)

    def start(self, workers: int = 1) -> None:
        """Work from now on, once the context's caches have synced."""
        for number in range(workers):
            self._ctx.tasks.spawn(self._run(), f"worker {self._queue.name} {number}")

    async def _run(self) -> None:
        await self._ctx.wait_for_sync()
        queue, activity = self._queue, self._ctx.activity
        task, unturned = asyncio.current_task(), 0
        assert task is not None, "a worker is a task"
        while True:
            try:
                await queue.wait()
            except QueueShutDown:
                return
            key = queue.take()
            activity.hand_over(task)
            try:
                await self._one(key)
            finally:
                activity.leave(task)
            queue.done(key)
            unturned += 1
            if queue and (unturned >= UNTURNED_KEYS or is_anything_ready()):
                await turn()  # in-process nothing else yields, and everybody should get a turn
                unturned = 0

    async def _one(self, key: Any) -> None:
        self.processed += 1
        try:
            result = await self._process(key)
        except TerminalError as error:
            self._failed(key, error)
            self._queue.forget(key)
        # whatever an author's code raises is retried, and never ends the worker
        except Exception as error:
            self._failed(key, error)
            self._queue.add_rate_limited(key)
        else:
            if self.failures:
                self.failures.pop(key, None)
            self._queue.forget(key)
            if result is not None and result.requeue_after is not None:
                self._queue.add_after(key, result.requeue_after.total_seconds(), daemon=result.daemon)

    def _failed(self, key: Any, error: Exception) -> None:
        self.failures[key] = error
        if isinstance(error, APIError) and errors.is_race(error):
            log.debug("%s: %s will be tried again: %s", self._queue.name, key, error)
        elif isinstance(error, ExpectedError):
            log.info("%s: %s will be tried again: %s", self._queue.name, key, error)
        elif isinstance(error, APIError | TransportError | TerminalError):
            log.warning("%s: %s failed: %s", self._queue.name, key, error)
        else:
            log.error("%s: %s failed", self._queue.name, key, exc_info=error)

    def explain(self) -> Iterator[str]:
        """Lines on what fails, for people."""
        for key, error in self.failures.items():
            yield f"{self._queue.name}: {key} failed {self._queue.num_requeues(key)} times: {error!r}"


class Controller:
    """One run of a declared controller.

    ``ctx``, ``queue``, ``worker`` and ``reconciler`` are there once it was started.
    """

    ctx: Context
    queue: WorkQueue[Any]
    worker: Worker
    reconciler: Reconciler

    def __init__(
        self, name: str, factory: Callable[[Context], Reconciler],
        sources: Sequence[tuple[Resource, Mapper, Predicate | None]], *, queue: str = "", workers: int = 1,
        limiter: Callable[[Clock], RateLimiter[Any]] | None = None, user_agent: str = "", user: UserInfo | None = None,
    ) -> None:
        self.name, self.user_agent, self.user = name, user_agent, user
        self._factory, self._sources, self._workers, self._limiter = factory, sources, workers, limiter
        self._queue_name = queue or name

    async def start(self, ctx: Context) -> None:
        """Register with the caches and start the workers."""
        self.ctx = ctx
        self.queue = ctx.queue(self._queue_name, limiter=self._limiter(ctx.clock) if self._limiter else None)
        self.reconciler = self._factory(ctx)
        for resource, mapper, predicate in self._sources:
            handlers.enqueue(ctx, resource, self.queue, mapper, predicate)
        self.worker = Worker(ctx, self.queue, self.reconciler.reconcile)
        self.worker.start(self._workers)
        if has_setup(self.reconciler):
            self.reconciler.setup(self.queue)

    async def stop(self) -> None:
        """Everything belongs to the context, which the manager closes."""
