"""What happened, for those who come later: the retained history of all buckets.

One window for the whole storage, bounded in events and in bytes, since compaction is a statement about revisions and
those are shared. Each bucket has its own track, so that nobody reads past what concerns him. Upstream: etcd's
revisions with their compaction, and the cacher's watch_cache.go.

What is kept of a change is what it undid: the state before it, as bytes. The state after it is that before the object's next
change, or what the bucket holds now, so that no state is kept twice, and what is retained of an object that never changed is
no copy of it. An entry is a flat tuple of texts, bytes and numbers: Python's cyclic collector stops looking at such a tuple
as soon as it has seen it once, and a long history costs no pause.
"""

from collections import deque
from collections.abc import Iterator
from itertools import takewhile

from fakekube.apimachinery.causes import Acting, Cause
from fakekube.storage.record import Compacted, EventType

Entry = tuple[
    int, EventType, str, str, int, bytes | None, bytes | None,
    float | None, str, str, str, str, str | None, object, object, str,
]
"""Revision, type, namespace and name of a change; revision and bytes of the state before (0 and None: there was none); the
bytes of the last state when it is a deletion and that was another one; then the cause (its time is None when there is none)
and what acted (its component is None when nothing did), its key in two parts when it is a pair (else the second one is None).
"""

ENTRY_BYTES = 500
"""What an entry takes beside its states, about: the tuple, numbers, the path of a request and its share of the queues."""


def entry_of(
    revision: int, type_: EventType, key: tuple[str, str], before: tuple[int, bytes] | None, last: bytes | None,
    cause: Cause | None,
) -> Entry:
    """What is kept of a change."""
    namespace, name = key
    before_revision, before_data = before or (0, None)
    if cause is None:
        return (revision, type_, namespace, name, before_revision, before_data, last, None, "", "", "", "", None, None, None, "")
    time, method, path, user, user_agent, acting = cause
    if acting is None:
        return (revision, type_, namespace, name, before_revision, before_data, last,
                time, method, path, user, user_agent, None, None, None, "")
    component, work, acted_on = acting
    first, second = work if isinstance(work, tuple) and len(work) == 2 else (work, None)
    return (revision, type_, namespace, name, before_revision, before_data, last,
            time, method, path, user, user_agent, component, first, second, acted_on)


def cause_in(entry: Entry) -> Cause | None:
    """The cause of a change."""
    time, method, path, user, user_agent, component, first, second, acted_on = entry[7:]
    if time is None:
        return None
    work = first if second is None else (first, second)
    return Cause(time, method, path, user, user_agent, None if component is None else Acting(component, work, acted_on))


def size_of(entry: Entry) -> int:
    """How many bytes an entry takes, about."""
    return ENTRY_BYTES + len(entry[5] or b"") + len(entry[6] or b"")


class Track:
    """The retained entries of one bucket, oldest first. Forks share them until somebody adds to them or forgets one."""

    __slots__ = ("entries", "shared")

    def __init__(self, entries: "deque[Entry] | None" = None, *, shared: bool = False) -> None:
        self.entries: deque[Entry] = deque() if entries is None else entries
        self.shared = shared

    def own(self) -> deque[Entry]:
        """The entries, to be changed."""
        if self.shared:
            self.entries, self.shared = self.entries.copy(), False
        return self.entries

    def fork(self) -> "Track":
        """A track with the same entries."""
        self.shared = True
        return Track(self.entries, shared=True)


class EventLog:
    """The retained window: every event after ``compacted``, which is the oldest state that can be told."""

    def __init__(self, revision: int, max_events: int, max_bytes: int) -> None:
        self.compacted = self.begun = revision  # ``begun``: where it began; what lies between the two is forgotten
        self.max_events, self.max_bytes = max_events, max_bytes
        self._order: deque[Track] = deque()  # one entry an event: the track whose oldest event it is
        self._taken_over: list[Track] | None = None  # tracks whose events are not in the order yet
        self._bytes = 0

    def append(self, track: Track, entry: Entry) -> None:
        """Add the newest event, and forget the oldest ones that no longer fit."""
        if self._taken_over is not None:
            self._put_in_order()
        (track.own() if track.shared else track.entries).append(entry)
        self._order.append(track)
        self._bytes += size_of(entry)
        while len(self._order) > self.max_events or self._bytes > self.max_bytes:
            self._forget()

    def compact(self, revision: int) -> None:
        """Forget every event up to and including ``revision``."""
        if self._taken_over is not None:
            self._put_in_order()
        while self._order and self._order[0].entries[0][0] <= revision:
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
        marks = sorted((entry[0], number) for number, track in enumerate(tracks) for entry in track.entries)
        self._order = deque(tracks[number] for _, number in marks)
        self._bytes = sum(size_of(entry) for track in tracks for entry in track.entries)

    def _forget(self) -> None:
        entry = self._order.popleft().own().popleft()
        self._bytes -= size_of(entry)
        self.compacted = entry[0]

    def since(self, track: Track, revision: int) -> Iterator[Entry]:
        """What happened after a revision, newest first. Raises Compacted."""
        if revision < self.compacted:
            raise Compacted(self.compacted)
        return takewhile(lambda entry: entry[0] > revision, reversed(track.entries))
