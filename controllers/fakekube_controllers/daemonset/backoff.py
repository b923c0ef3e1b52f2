"""How long a node's failed daemon pod stays before it is replaced, so that nobody fights a kubelet
that rejects it.

Upstream: client-go/util/flowcontrol/backoff.go, as pkg/controller/daemon uses it.
"""

from collections.abc import Hashable

FIRST_SECONDS, LONGEST_SECONDS = 1.0, 900.0


class Backoff:
    """Waits by key that double from one failure to the next, and begin anew after a time without
    any.
    """

    def __init__(self) -> None:
        self._waits: dict[Hashable, tuple[float, float]] = {}  # how long, and since when

    def remaining_seconds(self, key: Hashable, now: float) -> float | None:
        """How long the key has to be left alone, all of its wait; None when it has not."""
        wait, since = self._waits.get(key, (0.0, now))
        return wait if now - since < wait else None

    def failed(self, key: Hashable, now: float) -> None:
        """One more failure."""
        self._waits = {k: entry for k, entry in self._waits.items() if now - entry[1] <= 2 * LONGEST_SECONDS}
        wait, _ = self._waits.get(key, (0.0, now))
        self._waits[key] = min(wait * 2 or FIRST_SECONDS, LONGEST_SECONDS), now
