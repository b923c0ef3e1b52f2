"""Fewer Events: a repeated Event is counted, many similar Events are combined, floods are dropped.

Upstream: client-go/tools/record/events_cache.go; its numbers and its text for combined Events.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from fakekube.apimachinery.types import Tree
from fakekube.util.clock import Clock

CACHE_ENTRIES = 4096
MAX_SIMILAR = 10
SIMILAR_INTERVAL_SECONDS = 600.0
SPAM_BURST = 25
SPAM_QPS = 1.0 / 300

V = TypeVar("V")


class _Recent(Generic[V]):
    """The most recently used entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, ...], V] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> V | None:
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: tuple[str, ...], entry: V) -> None:
        """Keep an entry under a key that was just asked for: it is the latest, or it is new."""
        self._entries[key] = entry
        if len(self._entries) > CACHE_ENTRIES:
            self._entries.popitem(last=False)


class Correlated(NamedTuple):
    """What to write: an Event, or, when it exists already, the patch that updates it."""

    event: Tree
    patch: Tree | None


@dataclass(slots=True)
class _Similar:
    last: float
    messages: dict[str, None] = field(default_factory=dict)


class _Seen(NamedTuple):
    name: str
    times: int
    first_timestamp: str


@dataclass(slots=True)
class _Tokens:
    left: float
    time: float


class Correlator:
    """Remembers recent Events, to count and combine them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._similar: _Recent[_Similar] = _Recent()
        self._seen: _Recent[_Seen] = _Recent()
        self._spam: _Recent[_Tokens] = _Recent()

    def correlate(self, event: Tree) -> Correlated | None:
        """What becomes of an event, which this may change; None when it is dropped."""
        source, now = _source_key(event), self._clock.time()
        event, key = self._aggregate(event, source, now)
        seen, metadata = self._seen.get(key), event["metadata"]
        patch = None
        if seen is not None:
            metadata["name"] = seen.name
            event["firstTimestamp"] = seen.first_timestamp
            event["count"] = seen.times + 1
            patch = {name: event[name] for name in ("count", "lastTimestamp", "message")}
        self._seen.put(key, _Seen(metadata["name"], event["count"], event["firstTimestamp"]))
        return Correlated(event, patch) if self._admit(source, now) else None

    def _aggregate(self, event: Tree, source: tuple[str, ...], now: float) -> tuple[Tree, tuple[str, ...]]:
        """The Event and its key, or the Event that combines all that differ by message only."""
        group, message = (*source, event["type"], event["reason"]), event["message"]
        similar = self._similar.get(group)
        if similar is None or now - similar.last > SIMILAR_INTERVAL_SECONDS:
            similar = _Similar(now)
            self._similar.put(group, similar)
        similar.messages[message] = None
        similar.last = now
        if len(similar.messages) < MAX_SIMILAR:
            return event, (*group, event["involvedObject"].get("fieldPath", ""), message)
        similar.messages.pop(next(iter(similar.messages)))
        return event | {"message": f"(combined from similar events): {message}"}, group

    def _admit(self, source: tuple[str, ...], now: float) -> bool:
        tokens = self._spam.get(source)
        if tokens is None:
            tokens = _Tokens(float(SPAM_BURST), now)
            self._spam.put(source, tokens)
        tokens.left = min(float(SPAM_BURST), tokens.left + (now - tokens.time) * SPAM_QPS)
        tokens.time = now
        if tokens.left < 1:
            return False
        tokens.left -= 1
        return True


def _source_key(event: Tree) -> tuple[str, ...]:
    source, involved = event["source"], event["involvedObject"]
    return (
        source.get("component", ""), source.get("host", ""), involved.get("kind", ""), involved.get("namespace", ""),
        involved.get("name", ""), involved.get("uid", ""), involved.get("apiVersion", ""),
    )
