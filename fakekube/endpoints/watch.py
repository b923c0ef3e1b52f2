"""A watch: what is there if asked for, then every change, until its time is over or the receiver
leaves.

Events come straight from the commit, on the writer's stack: nothing is queued here. The frame of an
event is made by the first watcher that wants it and shared by all that show the same form. Who
cannot keep up is the sink's to cut.
Upstream: apiserver/pkg/endpoints/handlers/watch.go and storage/cacher/cache_watcher.go. Left out:
the increasing pace of bookmarks before the end of a streamed list, since here the list is whole at
once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Sink
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.listoptions import ListOptions, parse_resource_version
from fakekube.endpoints.read import FRESH_POLL_SECONDS, FRESH_WAIT_SECONDS, matcher, present, rendered, tree_of
from fakekube.registry.kind import Kind
from fakekube.storage.memory import Bucket, Compacted, Event, Record, Subscription
from fakekube.storage.record import EventType
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

BOOKMARK_EVERY_SECONDS = 60.0
BOOKMARK_BEFORE_END_SECONDS = 2.0
MIN_TIMEOUT_SECONDS = 1800.0  # of a watch that does not say; up to twice as long
SOMEBODY_WAITS_BELOW_SECONDS = 300.0
"""Informers ask for five minutes and more, and ask again when those are over: such a watch's end
must not pull virtual time forward. A shorter one is awaited by somebody.
"""
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

Render = Callable[[Tree], Tree]


def watch_timeout_seconds(options: ListOptions, rng: Rng) -> float:
    """How long a watch may last: as asked, else half an hour to an hour."""
    return float(options.timeout_seconds or 0) or rng.uniform(MIN_TIMEOUT_SECONDS, 2 * MIN_TIMEOUT_SECONDS)


class WatchStream:
    """A Stream of one kind's events in JSON, one a line."""

    def __init__(
        self, kind: Kind, bucket: Bucket, namespace: str, options: ListOptions, clock: Clock, *, timeout_seconds: float,
        empty: Callable[[], Tree] | None = None, render: Render | None = None, as_stored: bool = False,
    ) -> None:
        """Prepare a watch.

        ``options`` are those of a watch (``parse_list_options(..., watch=True)``),
        ``timeout_seconds`` how long it lasts. ``empty`` gives the kind's object without content,
        for bookmarks. ``render`` turns each object, in the kind's version, into what this one
        stream shows (a Table, its metadata); it must not change what it gets, and ends the stream
        by raising APIError. ``as_stored``: objects are sent in the version that is stored. Raises
        500 for a resourceVersion that is no number.
        """
        self._kind, self._bucket, self._clock = kind, bucket, clock
        self._since = parse_resource_version(options.resource_version)
        self._options, self._timeout_seconds = options, timeout_seconds
        if kind.namespaced and not namespace:
            namespace = options.exact_field("metadata.namespace") or ""
        self._namespace = namespace
        self._match = matcher(options)
        self._empty = empty
        self._render: Render | None = render
        if as_stored:
            kind = replace(kind, conversion=None)
            self._kind, self._render = kind, lambda tree: tree
        self._keys = {type_: f"{kind.gvk} {type_}" for type_ in ("ADDED", "MODIFIED", "DELETED", "LEFT")}
        self._sink: Sink | None = None
        self._subscription: Subscription | None = None
        self._timers: dict[str, Timer] = {}
        self._through: Callable[[Sink], Sink] | None = None
        self._replica: Callable[[], int] | None = None
        self.on_stop: Callable[[], None] | None = None

    def divert(self, through: Callable[[Sink], Sink]) -> None:
        """Let what this stream sends go through a sink in front of its receiver's, once, from now
        on.
        """
        if self._sink is None:
            self._through = through
        else:
            self._sink = through(self._sink)

    def lag(self, replica: Callable[[], int]) -> None:
        """Begin, as a replica does that has this version at the time."""
        self._replica = replica

    # the stream

    def start(self, sink: Sink) -> None:
        """Send what is due, then everything that happens until ``stop``."""
        self._sink = sink = sink if self._through is None else self._through(sink)
        clock, timeout = self._clock, self._timeout_seconds
        lazy = timeout >= SOMEBODY_WAITS_BELOW_SECONDS
        self._timers["end"] = clock.call_later(max(0.0, timeout), self._end, lazy=lazy)
        if self._options.allow_bookmarks:
            self._timers["bookmark"] = clock.call_later(BOOKMARK_EVERY_SECONDS, self._tick, lazy=True)
            if timeout > BOOKMARK_BEFORE_END_SECONDS:
                delay = timeout - BOOKMARK_BEFORE_END_SECONDS
                self._timers["last bookmark"] = clock.call_later(delay, self._send_bookmark, lazy=lazy)
        if self._options.send_initial_events:
            self._begin_with_list(clock.time() + FRESH_WAIT_SECONDS)
        else:
            self._begin()

    def stop(self) -> None:
        """The receiver is gone. May be called more than once."""
        self._sink = None
        if self._subscription is not None:
            self._subscription.cancel()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        on_stop, self.on_stop = self.on_stop, None
        if on_stop is not None:
            on_stop()

    def _end(self) -> None:
        sink = self._sink
        if sink is not None:
            self.stop()
            sink.end()

    def _closed(self) -> None:
        """The resource is no longer served; or its state gave way to another, in which this
        stream's version means nothing.
        """
        if self._bucket.retired:
            self._fail(errors.expired("the cluster was restored to another state"))
        else:
            self._end()

    def _fail(self, error: APIError) -> None:
        """The last event: what went wrong."""
        if self._sink is not None:
            self._sink.send(_frame("ERROR", error.status()))
            self._end()

    # where it begins

    def _begin(self) -> None:
        """Without a list, except for the plain watch from nothing of a server that knows no other.
        """
        since = self._since
        if not since:
            since = self._bucket.revision
            if self._replica is not None and self._replica() < since:
                self._begin_behind(self._replica())
                return
            if self._options.send_initial_events is None:
                self._send_list()
        self._subscribe(since)

    def _begin_with_list(self, deadline: float) -> None:
        """With a list at least as new as was asked for, and the mark that ends it."""
        bucket = self._bucket
        if self._replica is not None and self._replica() < bucket.revision:
            self._begin_behind(self._replica())
            return
        if self._since > bucket.revision:
            if self._clock.time() >= deadline:
                self._fail(errors.future_version(self._since, bucket.revision))
            else:
                again = self._clock.call_later(FRESH_POLL_SECONDS, self._begin_with_list, deadline)
                self._timers["fresh"] = again
            return
        self._send_list()
        if self._options.allow_bookmarks:
            self._send_bookmark(initial_events_end=True)
        self._subscribe(bucket.revision)

    def _begin_behind(self, revision: int) -> None:
        """With what was there at a revision, if a list is wanted; then all that came later.

        The list has ended with it, if that was new enough to be asked for.
        """
        wanted, marks = self._options.send_initial_events, self._options.allow_bookmarks
        if wanted is not False:
            try:
                then = self._bucket.at(revision)
            except Compacted as error:
                self._fail(errors.expired(f"too old resource version: {revision} ({error.oldest})"))
                return
            for record in then.page(self._namespace, match=self._match).records:
                self._send_record("ADDED", record)
        is_enough = bool(self._options.resource_version) and self._since <= revision
        if wanted and marks and is_enough:
            self._send_bookmark(revision, initial_events_end=True)
        self._subscribe(revision)
        if wanted and marks and not is_enough:
            self._send_bookmark(initial_events_end=True)

    def _send_list(self) -> None:
        for record in present(self._kind, self._bucket, self._namespace, self._options):
            if self._sink is None:
                return
            self._send_record("ADDED", record)

    def _subscribe(self, since: int) -> None:
        sink = self._sink
        if sink is None:
            return
        name = self._options.exact_field("metadata.name")
        field = ("metadata.name", name) if name else self._options.narrowest_field()
        try:
            self._subscription = self._bucket.subscribe(
                since, self._namespace, self._deliver, field=field, closed=self._closed)
        except Compacted as error:
            self._fail(errors.expired(f"too old resource version: {since} ({error.oldest})"))
            return
        if self._sink is not sink:  # stopped while the past was told
            self._subscription.cancel()

    # events

    def _deliver(self, event: Event) -> None:
        """One event of the bucket, as it looks through the selectors."""
        type_, match = event.type, self._match
        if match is not None:
            after = type_ != "DELETED" and match(event.record)
            before = event.previous is not None and match(event.previous)
            if after:
                type_ = "MODIFIED" if before else "ADDED"
            elif not before:
                return
            elif type_ != "DELETED":
                self._send_left(event)
                return
        sink = self._sink
        if sink is None:
            return
        if self._render is not None:
            self._send_record(type_, event.record)
            return
        frames, key = event.frames, self._keys[type_]
        frame = frames.get(key) if frames is not None else None
        if frame is None:
            frame = event.frame(key, lambda: self._record_frame(type_, event.record))
        sink.send(frame)

    def _send_left(self, event: Event) -> None:
        """The object no longer matches: to this watcher it is gone, with what it last saw and the
        new revision.
        """
        assert event.previous is not None, "what left was there"
        previous = event.previous

        def left() -> Tree:
            tree = tree_of(self._kind, previous)
            return {**tree, "metadata": {**tree["metadata"], "resourceVersion": str(event.revision)}}

        if self._render is not None:
            self._send_tree("DELETED", left())
        elif self._sink is not None:
            self._sink.send(event.frame(self._keys["LEFT"], lambda: _frame("DELETED", left())))

    def _send_record(self, type_: EventType, record: Record) -> None:
        if self._sink is None:
            return
        if self._render is None:
            self._sink.send(self._record_frame(type_, record))
        else:
            self._send_tree(type_, tree_of(self._kind, record))

    def _record_frame(self, type_: EventType, record: Record) -> Frame:
        kind = self._kind

        def data() -> bytes:
            return b'{"type":"%b","object":%b}\n' % (type_.encode(), rendered(kind, record))

        if kind.conversion is not None:
            return Frame(make_data=data)
        # that of a change which is told at once; by the time it is read there may be another
        held = record.held_tree
        return Frame(make_data=data, make_tree=lambda: {"type": type_, "object": held or record.tree()})

    def _send_tree(self, type_: str, tree: Tree) -> None:
        if self._sink is None:
            return
        if self._render is not None:
            try:
                tree = self._render(tree)
            except APIError:
                self._end()
                return
        self._sink.send(_frame(type_, tree))

    # bookmarks

    def _tick(self) -> None:
        self._send_bookmark()
        if self._sink is not None:
            self._timers["bookmark"] = self._clock.call_later(BOOKMARK_EVERY_SECONDS, self._tick, lazy=True)

    def _send_bookmark(self, revision: int | None = None, *, initial_events_end: bool = False) -> None:
        """How far the stream is; nothing while what was asked for still lies ahead."""
        revision = self._bucket.revision if revision is None else revision
        if revision < self._since:
            return
        metadata: Tree = {"resourceVersion": str(revision)}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        kind = self._kind
        empty = self._empty() if self._empty else {"kind": kind.kind, "apiVersion": kind.api_version}
        head: Tree = {"kind": empty["kind"], "apiVersion": empty["apiVersion"], "metadata": metadata}
        self._send_tree("BOOKMARK", head | {name: value for name, value in empty.items() if name not in head})


def _frame(type_: str, tree: Tree) -> Frame:
    """The frame of a tree that nobody changes any more."""
    event = {"type": type_, "object": tree}
    return Frame(make_data=lambda: orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE), make_tree=lambda: event)
