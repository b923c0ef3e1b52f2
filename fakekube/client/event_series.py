"""Repetitions of an event of events.k8s.io, counted as a series.

Upstream: client-go/tools/events/event_broadcaster.go.

The first repetition is written at once, further ones are counted and written when the series ends.
Left out: writing series that go on for more than half an hour in between.
"""

from collections.abc import Iterator

from fakekube.apimachinery import times
from fakekube.apimachinery.types import Tree
from fakekube.client.correlator import Correlated
from fakekube.util.clock import Clock
from fakekube.util.jsonbytes import encode_to_keep

FINISH_SECONDS = 360.0


class _Entry:
    __slots__ = ("count", "event", "last")

    def __init__(self, event: Tree, last: float) -> None:
        self.event, self.count, self.last = event, 1, last


class Series:
    """The events of late, by all that makes them the same: everything but note and time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[bytes, _Entry] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def observe(self, event: Tree) -> Correlated | None:
        """What to write for an event; None when it is only counted."""
        now = self._clock.time()
        key = encode_to_keep([event[name] for name in (
            "type", "action", "reason", "reportingController", "reportingInstance", "regarding",
        )] + [event.get("related")])
        entry = self._entries.get(key)
        if entry is None:
            self._entries[key] = _Entry(event, now)
            return Correlated(event, None)
        entry.count += 1
        entry.last = now
        return self._written(entry) if entry.count == 2 else None

    def finish(self) -> Iterator[Correlated]:
        """Forget what was not observed for a while; what remains to be written of it."""
        before = self._clock.time() - FINISH_SECONDS
        for key, entry in list(self._entries.items()):
            if entry.last <= before:
                del self._entries[key]
                if entry.count > 2:
                    yield self._written(entry)

    def _written(self, entry: _Entry) -> Correlated:
        series = {"count": entry.count, "lastObservedTime": times.format_micro_time(entry.last)}
        return Correlated({**entry.event, "series": series}, {"series": series})
