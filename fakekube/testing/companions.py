"""Who runs beside a test: threads and processes that it started, which may be clients of its
cluster.

An operator that was started a moment ago has not connected yet, and the server cannot know that it
will. The test's process can: there is a thread, or a child process, that was not there when the
cluster started. A test that has none is alone, and what was requested is its own doing.
"""

import threading
from collections.abc import Iterable
from pathlib import Path

OUR_THREADS = "fakekube"
"""What the names of our own threads begin with."""

THREAD_SECONDS, PROCESS_SECONDS = 5.0, 10.0
"""How long it may take a new thread, and a new process, to connect: an interpreter has to start."""

TASKS = Path("/proc/self/task")
"""Where Linux lists the children of each thread. Elsewhere new processes are not seen."""


Companion = threading.Thread | int
"""A thread, or the number of a process."""


class Companions:
    """The threads and child processes that are younger than this object. Safe from any thread."""

    def __init__(self) -> None:
        self._older = self._present()
        self._seen: frozenset[Companion] = frozenset()

    def connect_seconds(self, without: Iterable[Companion] = ()) -> float:
        """How long those who are new since the last call may take to connect; 0 if nobody is.

        Those ``without`` count for nothing.
        """
        alive = self._alive() - {threading.current_thread(), *without}
        new, self._seen = alive - self._seen, self._seen | alive
        if any(isinstance(one, int) for one in new):
            return PROCESS_SECONDS
        return THREAD_SECONDS if new else 0.0

    def are_there(self) -> bool:
        """Whether any of those that were seen is still there."""
        return bool(self._alive() & self._seen)

    def _alive(self) -> "frozenset[Companion]":
        return self._present() - self._older

    def _present(self) -> "frozenset[Companion]":
        # threads themselves, since the number of one that has ended goes to the next
        threads = [thread for thread in threading.enumerate() if not thread.name.startswith(OUR_THREADS)]
        return frozenset([*threads, *_children()])


def _children() -> list[int]:
    found: list[int] = []
    for task in TASKS.glob("*/children"):
        try:
            found.extend(int(pid) for pid in task.read_text().split())
        except OSError:  # that thread has just ended
            continue
    return found
