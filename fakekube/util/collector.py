"""The cyclic garbage collector of a process that fakekube has to itself.

Python's collector looks at all objects again whenever their number has grown by a quarter; with
10,000 pods each time is a pause of half a second. Our requests, reconciles and objects leave no
cycles (reference counts free them). So objects that survived their first collection are looked at
again only after an idle period, or at the latest after some minutes; then free memory is given back
to the system, too. Only ``fakekube serve`` uses that, and ``collected_by_run`` the parts of a
sweep: a library leaves its host's collector alone.
Upstream has Go's concurrent collector.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

YOUNG = 5_000
"""So many more objects than before make the collector look at the new ones: some milliseconds."""
OF_A_RUN = 100_000
"""So many more objects are left over in a run of hundreds of pods."""
NEVER = 1_000_000
LOOK_SECONDS = 5.0
MAX_BUSY_LOOKS = 120


CallLater = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


@contextmanager
def collected_by_run() -> Iterator[Callable[[], object]]:
    """For a block that runs something again and again; it gets what is to be called after each.

    So memory is free again before the next run, which is faster in the caches of the machine.
    The collector looks at nothing that exists before the block, and by itself only at the objects
    of a very large run.
    """
    threshold = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(OF_A_RUN, *threshold[1:])
    try:
        yield gc.collect
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


class PacedCollector:
    """Sets the process's collector from ``start`` to ``stop``.

    ``call_later`` is that of the event loop.
    """

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._timer: asyncio.TimerHandle | None = None
        self._threshold = gc.get_threshold()
        self._young_collections = self._busy_looks = 0

    def start(self) -> None:
        """Take over the collector; objects that exist now are not looked at any more."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, NEVER, NEVER)
        self._young_collections = _young_collections()
        self._arm()

    def stop(self) -> None:
        """Set the collector back to what it was before ``start``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        gc.set_threshold(*self._threshold)
        gc.unfreeze()

    def _arm(self) -> None:
        self._timer = self._call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Collect all when something happened, and nothing since the last look."""
        young = _young_collections()
        busy = young != self._young_collections
        self._young_collections = young
        if busy:
            self._busy_looks += 1
        if self._busy_looks and (not busy or self._busy_looks >= MAX_BUSY_LOOKS):
            self._busy_looks = 0
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            give_back()
        self._arm()


def _young_collections() -> int:
    collections: int = gc.get_stats()[0]["collections"]
    return collections


def give_back() -> bool:
    """Give free memory back to the system, where the C library can (glibc's malloc_trim).

    Returns whether it could.
    """
    import ctypes  # on demand: it takes a while to import

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return False
    trim(0)
    return True
