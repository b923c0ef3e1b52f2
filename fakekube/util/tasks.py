"""Tasks that belong to an owner, and whose errors are never lost.

An asyncio task that is not awaited swallows its error and may be garbage-collected while it runs.
``Tasks`` keeps them, reports each failure to ``on_failure`` at once, and cancels those that still
run when it closes. Close it before the loop ends.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


@coroutine
def turn() -> Generator[None, None, None]:
    """Let everything that is ready on the event loop run once: what ``asyncio.sleep(0)`` does."""
    yield


def finish(coro: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns or raises that has nothing to wait for, without a loop's help.

    RuntimeError for one that waits; it has begun then, and is ended.
    """
    try:
        coro.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    coro.close()
    raise RuntimeError(f"{coro!r} waits for something")


def is_anything_ready() -> bool:
    """Whether the running loop has callbacks to run;

    True of a loop that does not tell. Sockets and timers do not count.
    """
    return bool(getattr(asyncio.get_running_loop(), "_ready", True))


class _Rest(Coroutine[Any, Any, None]):
    """What is left of a coroutine that has begun, for a task to go on with, or to be awaited.

    ``first`` is what it waits for since then; without one it has ended already. A task that is
    cancelled before its first turn throws at once, so that a coroutine around this one would never
    begin, and what is left here would never be told: it is a coroutine itself for that reason.
    """

    def __init__(self, coro: Coroutine[Any, Any, None]) -> None:
        self._coro = coro
        self.first: list[Any] = []
        self.ended = False

    def __await__(self) -> Generator[Any, Any, None]:
        yield from self

    def __iter__(self) -> "_Rest":
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """Go on to where it waits next."""
        if self.ended:
            raise StopIteration
        return self.first.pop() if self.first else self._coro.send(value)

    def throw(self, *thrown: Any) -> Any:
        """Raise an error where it waits; what it waits for is cancelled first, as by a task."""
        if self.ended:
            raise thrown[0]
        if self.first:
            future = self.first.pop()
            if isinstance(future, asyncio.Future) and future.cancel():
                return future
        return self._coro.throw(*thrown)

    def close(self) -> None:
        """End it where it waits."""
        self._coro.close()


def begun(coro: Coroutine[Any, Any, None]) -> Awaitable[None] | None:
    """Run a coroutine up to where it waits for something; what is to be awaited then, by the same
    task, and None where it has ended.

    What the first part raises is raised here.
    """
    try:
        first = coro.send(None)
    except StopIteration:
        return None
    rest = _Rest(coro)
    rest.first.append(first)
    return rest


class Tasks:
    """The tasks of one owner.

    ``on_failure`` gets the exception of every task that failed; without it failures are logged.
    Either way the first of them is raised by ``close``.
    """

    def __init__(self, on_failure: Callable[[BaseException], None] | None = None) -> None:
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._on_failure = on_failure
        self.failures: list[BaseException] = []

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, coro: Coroutine[Any, Any, T], name: str) -> "asyncio.Task[T]":
        """Run ``coro`` as a task on the running loop."""
        task = asyncio.get_running_loop().create_task(coro, name=name)
        self._tasks[task] = None
        task.add_done_callback(self._done)
        return task

    def spawn_eagerly(self, coro: Coroutine[Any, Any, None], name: str) -> None:
        """Run ``coro`` at once up to where it waits for something, and the rest as a task.

        What needs not wait is done when this returns, as in an eager task of Python 3.12: its
        ``current_task`` is the task that it would go on as. To be called in a task. What the first
        part raises is raised here.
        """
        loop = asyncio.get_running_loop()
        caller = asyncio.current_task()
        assert caller is not None, "only a task begins another eagerly"
        rest = _Rest(coro)
        task = self.spawn(rest, name)
        # https://docs.python.org/3/library/asyncio-extending.html#task-lifetime-support
        asyncio.tasks._leave_task(loop, caller)
        asyncio.tasks._enter_task(loop, task)
        try:
            rest.first.append(coro.send(None))
        except StopIteration:
            pass
        finally:
            rest.ended = not rest.first
            asyncio.tasks._leave_task(loop, task)
            asyncio.tasks._enter_task(loop, caller)

    def child(self) -> "Tasks":
        """Tasks of a part, which closes on its own; its failures go where these go."""
        return Tasks(self._on_failure)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        self.failures.append(error)
        if self._on_failure is not None:
            self._on_failure(error)
        else:
            log.error("task %s failed", task.get_name(), exc_info=error)

    async def finish(self, seconds: float) -> None:
        """Wait up to so many seconds, by the loop's time, for running tasks to end, and close."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)
        await self.close()

    async def close(self) -> None:
        """Cancel what runs and wait for its end.

        Raises the first failure, unless ``on_failure`` took it.
        """
        current = asyncio.current_task()
        while tasks := [task for task in self._tasks if task is not current]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await asyncio.sleep(0)  # done callbacks run in the next turn
        if self.failures and self._on_failure is None:
            raise self.failures[0]
