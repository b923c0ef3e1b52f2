"""Functions of users that an event loop has to call, and that may be slow, or wait for that loop
themselves: how long they take, and calls that are waited for so long and no longer.
"""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Self


class TooSlow(Exception):
    """There was no answer in time."""


def answer_of(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What a function of a user returns or raises, a test's own failures included."""
    try:
        return call(), None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # whatever it is, it is the answer
        return None, error


class Stopwatch:
    """How many ``seconds`` its blocks took on the wall, and how many ``times`` there was one."""

    def __init__(self) -> None:
        self.seconds, self.times = 0.0, 0

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began
        self.times += 1


class AnsweringThread:
    """Makes calls, one after the other, in a thread of a ``name`` that nobody waits for in the end.

    After one that was too slow it takes no more. Not for use from several threads.
    """

    def __init__(self, name: str, patience_seconds: float) -> None:
        self._name, self._patience_seconds = name, patience_seconds
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._is_started = self._is_lost = False

    def call(self, call: Callable[[], Any]) -> Any:
        """What ``call()`` returns or raises. Raises TooSlow."""
        if not self._is_started:
            self._is_started = True
            threading.Thread(target=self._answer, name=self._name, daemon=True).start()
        if self._is_lost:
            raise TooSlow
        self._calls.put(call)
        try:
            answer, error = self._answers.get(timeout=self._patience_seconds)
        except Empty:
            self._is_lost = True
            raise TooSlow from None
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """Let the thread end, once it has nothing left to do."""
        self._calls.put(None)

    def _answer(self) -> None:
        while (call := self._calls.get()) is not None:
            self._answers.put(answer_of(call))
