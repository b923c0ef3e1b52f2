"""The store: one revision for all, a bucket for each resource, every change one synchronous step.

A commit checks what the caller saw, takes the next revision, stamps metadata.resourceVersion,
encodes the object once, appends to the event log and tells the subscribers. It never awaits, so
nothing can come between its parts, and every reader shares the encoded bytes; ``bucket.py`` makes
it. Upstream: apiserver/pkg/storage/etcd3/store.go with etcd behind it.

Trees that are given to a commit belong to the storage from then on: neither they nor anything in
them may be changed. Left out: leases, and transactions over several objects, which Kubernetes has
none of.
"""

from collections import deque
from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.bucket import Bucket
from fakekube.storage.encoding import Fields
from fakekube.storage.eventlog import EventLog
from fakekube.storage.ordering import MetadataOrder
from fakekube.storage.past import PastState
from fakekube.storage.record import Compacted, Event, Future, KeyExists, Page, Record, Stale
from fakekube.storage.trees import CheckedTreeCache, TreeCache
from fakekube.storage.watchcache import Subscribers, Subscription
from fakekube.util.memory import ENABLED

__all__ = [
    "Bucket", "Compacted", "Event", "Fields", "Future", "KeyExists", "Page", "PastState", "Record", "Stale", "Storage",
    "Subscription",
]

FIRST_REVISION = 1  # as a fresh etcd says


class Storage:
    """All objects of one cluster.

    ``max_events`` and ``max_bytes`` bound the retained history, ``hot_trees`` the number of much
    used objects that stay decoded; 0 keeps none at all, which is also so when memos are switched
    off. ``plain_events`` is how many of the latest changes of a resource are kept as they are;
    older ones are packed. ``check_trees`` is for tests: every use of a shared tree proves that
    nobody changed it.
    """

    def __init__(
        self, *, max_events: int = 100_000, max_bytes: int = 128 << 20, hot_trees: int = 500,
        plain_events: int = 2_000, check_trees: bool = False,
    ) -> None:
        self.revision = FIRST_REVISION
        self.log = EventLog(FIRST_REVISION, max_events, max_bytes)
        # states before the first of these revisions are refused, whatever is retained, and watches
        # from before the second
        self.oldest_readable = self.oldest_watchable = 0
        self.plain_events = plain_events
        self.trees = CheckedTreeCache(hot_trees) if check_trees else TreeCache(hot_trees if ENABLED else 0)
        self.metadata_order = MetadataOrder()
        self._buckets: dict[GroupResource, Bucket] = {}
        self._committing = False
        # what to call for a record that fits, see ``await_record``
        self.sought: dict[Callable[[], None], Callable[[Record], bool]] = {}
        self.on_retire: dict[Callable[[], None], None] = {}  # what to call when another takes the place
        self._afterwards: deque[Callable[[], None]] = deque()
        self._following = False

    def add_bucket(self, resource: GroupResource, *, fields: Fields | None, sort_keys: bool = False) -> "Bucket":
        """A place for the objects of a resource that has none yet.

        ``fields(tree)`` gives an object's selectable texts, None when there are none. ``sort_keys``
        encodes custom resources as upstream prints them: keys sorted at every level, list items
        whole.
        """
        assert resource not in self._buckets, f"{resource} has a bucket already, with fields of its own"
        bucket = self._buckets[resource] = Bucket(self, resource, fields, sort_keys=sort_keys)
        return bucket

    def bucket(self, resource: GroupResource) -> "Bucket":
        """The objects of a resource that has a bucket. Raises KeyError."""
        return self._buckets[resource]

    def begin(self, revision: int) -> None:
        """Let the history begin here, at a revision.

        Objects that are older than that come by ``Bucket.keep``.
        """
        assert not self._buckets, "there is a history already"
        self.revision = revision
        self.log.begin(revision)

    def has(self, resource: GroupResource) -> bool:
        """Whether a resource has a bucket already."""
        return resource in self._buckets

    def drop_bucket(self, resource: GroupResource) -> None:
        """Forget a resource whose objects are gone, and end its subscriptions.

        Another resource may be served under its name later.
        """
        bucket = self._buckets.pop(resource, None)
        if bucket is not None:
            assert not len(bucket), f"{resource} still has objects"
            bucket.dropped = True
            bucket.close()

    @property
    def buckets(self) -> tuple["Bucket", ...]:
        """Every bucket so far, in the order in which they were added."""
        return tuple(self._buckets.values())

    def compact(self, revision: int | None = None) -> None:
        """Forget the history up to a revision, by default all of it: older reads and watches find
        it gone.
        """
        revision = self.revision if revision is None else revision
        assert revision <= self.revision, "cannot compact the future"
        self.log.compact(revision)

    def expire(self, revision: int, *, watches: bool = False) -> None:
        """Let reads of the states before a revision be refused; the history itself stays.

        ``watches`` from before it are refused, too.
        """
        self.oldest_readable = max(self.oldest_readable, revision)
        if watches:
            self.oldest_watchable = self.oldest_readable

    def fork(self) -> "Storage":
        """A storage of its own in the same state, history included, without subscriptions.

        Records are shared for good, since they never change; namespaces and indexes until either
        side writes into them. So a fork costs what the buckets and the history cost to list, and no
        copy of any object.
        """
        other = Storage(
            max_events=self.log.max_events, max_bytes=self.log.max_bytes, plain_events=self.plain_events)
        other.trees = type(self.trees)(self.trees.capacity)
        other.revision, other.oldest_readable = self.revision, self.oldest_readable
        other.oldest_watchable = self.oldest_watchable
        for resource, bucket in self._buckets.items():
            other._buckets[resource] = bucket.fork(other)
        other.log.take_over([bucket.track for bucket in other._buckets.values()], self.log.compacted, self.log.begun)
        return other

    def adopt(self, bucket: "Bucket") -> None:
        """Hold the objects of another storage's bucket, too, as a fork of that storage would."""
        assert not self.has(bucket.resource), f"{bucket.resource} has objects of its own"
        self._buckets[bucket.resource] = bucket.fork(self)

    def retire(self) -> None:
        """End every subscription as one whose history is gone: another state takes the place of
        this one.
        """
        for bucket in self._buckets.values():
            bucket.retired = True
            bucket.close()
        for retired in tuple(self.on_retire):
            retired()

    def await_record(self, fits: Callable[[Record], bool], wake: Callable[[], None]) -> Callable[[], object] | None:
        """Call ``wake()`` once, as soon as a record that fits is stored, in whatever bucket; None
        when there is one already.

        What is returned cancels that. ``wake`` must be quick and may not write.
        """
        if any(fits(record) for bucket in self._buckets.values() for record in bucket.all()):
            return None
        self.sought[wake] = fits
        return lambda: self.sought.pop(wake, None)

    def _tell_of_found(self, record: Record) -> None:
        for wake in [wake for wake, fits in self.sought.items() if fits(record)]:
            del self.sought[wake]
            wake()

    def tell(self, subscribers: Subscribers, event: Event) -> None:
        """Tell of an event whoever wants to know. For buckets."""
        self._committing = True
        try:
            subscribers.deliver(event)
            if self.sought:
                self._tell_of_found(event.record)
        finally:
            self._committing = False
        if self._afterwards and not self._following:
            self._follow()

    def afterwards(self, call: Callable[[], None]) -> None:
        """Call once everybody has been told of the present commit; ``call`` may write.

        For subscribers that answer a write with one of their own. What was written first returns
        to its writer when all such calls, and those that their writes lead to, are through.
        """
        self._afterwards.append(call)

    def _follow(self) -> None:
        self._following = True
        try:
            while self._afterwards:
                self._afterwards.popleft()()
        finally:
            self._following = False

    def next_revision(self) -> int:
        """The revision of the commit that is being made. For buckets."""
        assert not self._committing, "a subscriber may not write: others would see the events in the wrong order"
        return self.revision + 1
