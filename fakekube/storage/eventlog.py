"""The retained history of all buckets: for watches from a past revision, and for lists of one.

One window for the whole storage, bounded in events and in bytes, since compaction is a statement
about revisions and those are shared. Each bucket has its own track, so that no reader goes through
the changes of other resources. Upstream: etcd's revisions with their compaction, and the cacher's
watch_cache.go.

What an entry holds is in ``entry.py``, how the entries of a bucket are kept in ``track.py``. Sizes
count states as if they were not packed, so that what is forgotten, and when, does not depend on how
it is kept.
"""

from collections import deque
from collections.abc import Iterator
from itertools import takewhile

from fakekube.storage.entry import Entry, size_of
from fakekube.storage.record import Compacted
from fakekube.storage.track import Track


class EventLog:
    """The retained window: every event after ``compacted``, the oldest revision to be read."""

    def __init__(self, revision: int, max_events: int, max_bytes: int) -> None:
        # ``begun`` is where the history began; what lies between the two is forgotten
        self.compacted = self.begun = revision
        self.max_events, self.max_bytes = max_events, max_bytes
        self._order: deque[Track] = deque()  # the track of each event, oldest event first
        self._taken_over: list[Track] | None = None  # tracks whose events are not in ``_order`` yet
        self._bytes = 0

    def append(self, track: Track, entry: Entry) -> None:
        """Add the newest event, and forget the oldest ones that no longer fit."""
        if self._taken_over is not None:
            self._put_in_order()
        track.append(entry)
        self._order.append(track)
        self._bytes += size_of(entry)
        while len(self._order) > self.max_events or self._bytes > self.max_bytes:
            self._forget()

    def compact(self, revision: int) -> None:
        """Forget every event up to and including ``revision``."""
        if self._taken_over is not None:
            self._put_in_order()
        while self._order and self._order[0].oldest_revision <= revision:
            self._forget()
        self.compacted = max(self.compacted, revision)

    def begin(self, revision: int) -> None:
        """Let the history begin here: nothing before it is retained, nor reported as lost."""
        self.compact(revision)
        self.begun = self.compacted

    def take_over(self, tracks: list[Track], compacted: int, begun: int) -> None:
        """Begin with a history that is there already: every event after ``compacted``, by bucket.

        The order of all is worked out at the first write: a fork that is only read does without.
        """
        assert not self._order, "there is a history already"
        self.compacted, self.begun, self._taken_over = compacted, begun, tracks

    def _put_in_order(self) -> None:
        tracks = self._taken_over or []
        self._taken_over = None
        marks = sorted((revision, number, size) for number, track in enumerate(tracks) for revision, size in track.sizes())
        self._order = deque(tracks[number] for _, number, _ in marks)
        self._bytes = sum(size for _, _, size in marks)

    def _forget(self) -> None:
        self.compacted, size = self._order.popleft().forget()
        self._bytes -= size

    def since(self, track: Track, revision: int) -> Iterator[Entry]:
        """What happened after a revision, newest first. Raises Compacted."""
        if revision < self.compacted:
            raise Compacted(self.compacted)
        return takewhile(lambda entry: entry[0] > revision, track.newest_first())
