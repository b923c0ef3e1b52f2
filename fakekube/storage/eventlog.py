"""What happened, for those who come later: the retained history of all buckets.

One window for the whole storage, bounded in events and in bytes, since compaction is a statement about revisions and
those are shared. Each bucket has its own track, so that nobody reads past what concerns him. Upstream: etcd's
revisions with their compaction, and the cacher's watch_cache.go.
"""

from collections import deque
from itertools import takewhile

from fakekube.storage.record import Compacted, Event, Record

Overlay = dict[str, dict[str, Record | None]]
"""What differed from now at some revision: by namespace and name, the record of then, None when there was none."""


class Track:
    """The retained events of one bucket, oldest first. Forks share them until somebody adds to them or forgets one."""

    __slots__ = ("events", "shared")

    def __init__(self, events: "deque[Event] | None" = None, *, shared: bool = False) -> None:
        self.events: deque[Event] = deque() if events is None else events
        self.shared = shared

    def own(self) -> deque[Event]:
        """The events, to be changed."""
        if self.shared:
            self.events, self.shared = self.events.copy(), False
        return self.events

    def fork(self) -> "Track":
        """A track with the same events."""
        self.shared = True
        return Track(self.events, shared=True)


class EventLog:
    """The retained window: every event after ``compacted``, which is the oldest state that can be told."""

    def __init__(self, revision: int, max_events: int, max_bytes: int) -> None:
        self.compacted = self.begun = revision  # ``begun``: where it began; what lies between the two is forgotten
        self.max_events, self.max_bytes = max_events, max_bytes
        self._order: deque[Track] = deque()  # one entry an event: the track whose oldest event it is
        self._taken_over: list[Track] | None = None  # tracks whose events are not in the order yet
        self._bytes = 0

    def append(self, track: Track, event: Event) -> None:
        """Add the newest event, and forget the oldest ones that no longer fit."""
        if self._taken_over is not None:
            self._put_in_order()
        (track.own() if track.shared else track.events).append(event)
        self._order.append(track)
        self._bytes += len(event.record.data)
        while len(self._order) > self.max_events or self._bytes > self.max_bytes:
            self._forget()

    def compact(self, revision: int) -> None:
        """Forget every event up to and including ``revision``."""
        if self._taken_over is not None:
            self._put_in_order()
        while self._order and self._order[0].events[0].revision <= revision:
            self._forget()
        self.compacted = max(self.compacted, revision)

    def begin(self, revision: int) -> None:
        """Let the history begin here: what was before is nobody's business, and not missed."""
        self.compact(revision)
        self.begun = self.compacted

    def take_over(self, tracks: list[Track], compacted: int, begun: int) -> None:
        """Begin with a history that is there already: every event after ``compacted``, in a track a bucket.

        Which came first is worked out when somebody adds to it: a fork that only looks never pays for that.
        """
        assert not self._order, "there is a history already"
        self.compacted, self.begun, self._taken_over = compacted, begun, tracks

    def _put_in_order(self) -> None:
        tracks = self._taken_over or []
        self._taken_over = None
        marks = sorted((event.revision, number) for number, track in enumerate(tracks) for event in track.events)
        self._order = deque(tracks[number] for _, number in marks)
        self._bytes = sum(len(event.record.data) for track in tracks for event in track.events)

    def _forget(self) -> None:
        event = self._order.popleft().own().popleft()
        self._bytes -= len(event.record.data)
        self.compacted = event.revision

    def since(self, track: Track, revision: int) -> list[Event]:
        """The events after a revision, oldest first. Raises Compacted."""
        if revision < self.compacted:
            raise Compacted(self.compacted)
        events = list(takewhile(lambda event: event.revision > revision, reversed(track.events)))
        events.reverse()
        return events

    def overlay(self, track: Track, revision: int) -> Overlay:
        """How the bucket differed at a past revision. Raises Compacted."""
        result: Overlay = {}
        for event in reversed(self.since(track, revision)):
            record = event.record
            result.setdefault(record.namespace, {})[record.name] = event.previous
        return result
