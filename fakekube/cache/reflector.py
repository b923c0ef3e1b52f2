"""Keeps a target equal to what the server holds: list once, then watch, resume, and list again
after a 410.

Upstream: client-go/tools/cache/reflector.go. What comes over the watch is queued and taken up in
the next turn of the loop, all at once: a cache is always a little behind its server, here too. Left
out: paged lists, watch-list streaming.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.client.transport import TransportError
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

log = logging.getLogger(__name__)

BACKOFF_SECONDS = 0.8
MAX_BACKOFF_SECONDS = 30.0
BACKOFF_RESET_SECONDS = 120.0
SHORT_WATCH_SECONDS = 1.0
# further ones do not pull virtual time: a resource that is not served may never be
DAEMON_TRIES = 8
MISFITS = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
"""What is raised by who meets something that has not the form of an object, or by a defect."""


class Target(Protocol):
    """What a reflector fills."""

    def replace(self, items: list[Tree]) -> None:
        """These are all objects there are."""

    def apply(self, event_type: str, obj: Tree) -> None:
        """One object was ADDED, MODIFIED or DELETED."""


class Reflector:
    """Lists and watches one resource into a target, until its task is cancelled.

    ``watch_timeout_seconds``: how long one watch lasts, at least, and at most twice as long; None
    leaves it to the server. ``bookmarks``: whether to be told now and then of a version to resume
    from. ``consistent``: whether what is listed first is what the server holds; else a cache of it
    may answer, which may be behind. ``on_missing`` is told when the server does not know the
    resource; ``is_optional``: that it does not know it yet is nothing to warn of.
    """

    on_missing: Callable[[], None] | None = None
    is_optional = False

    def __init__(
        self, client: Client, resource: Resource, target: Target, *, clock: Clock, activity: Activity, rng: Rng,
        namespace: str = "", label_selector: str = "", field_selector: str = "",
        watch_timeout_seconds: float | None = None, bookmarks: bool = True, consistent: bool = False,
    ) -> None:
        self.client, self.resource, self.target = client, resource, target
        self.namespace, self.label_selector, self.field_selector = namespace, label_selector, field_selector
        self.resource_version = ""
        self.last_error = ""
        self._watch_timeout_seconds, self._bookmarks, self._consistent = watch_timeout_seconds, bookmarks, consistent
        self._clock, self._activity, self._rng = clock, activity, rng
        self._delay_seconds, self._failed_at, self._tries = BACKOFF_SECONDS, 0.0, 0
        self._waiter: asyncio.Future[None] | None = None

    async def run(self, since: str = "") -> None:
        """List and watch for ever; ``since`` is a version whose state the target has already."""
        expired = False
        self.resource_version = since
        while True:
            try:
                if not since:
                    with self._activity.busy():
                        await self._list("" if expired or self._consistent else "0")
                expired, since = False, ""
                while not expired:
                    expired = await self._watch()
            except (APIError, TransportError) as error:
                expired = isinstance(error, APIError) and error.code in (410, 504)
                is_missing = isinstance(error, APIError) and error.code == 404
                # a kind may go with its definition, and does not come back by asking for it
                is_known = is_missing and (self.last_error == str(error) or self._is_awaited)
                self.last_error = str(error)
                log.log(logging.DEBUG if is_known else logging.WARNING, "reflector of %s: %s", self.resource, error)
                if is_missing and self.on_missing is not None:
                    self.on_missing()
                if self.resource_version or is_missing:
                    await self._back_off()
                else:  # workers wait for the first list, with keys in their queues: time has to pass for it
                    with self._activity.sleeping():
                        await self._back_off()

    @property
    def _is_awaited(self) -> bool:
        """Whether the resource may come later, and was never there."""
        return self.is_optional and not self.resource_version

    async def _list(self, resource_version: str) -> None:
        result = await self.client.list(
            self.resource, self.namespace, label_selector=self.label_selector, field_selector=self.field_selector,
            resource_version=resource_version,
        )
        self.resource_version, self.last_error = result.resource_version, ""
        ACTING.set(None)
        try:
            self.target.replace(result.items)
        except MISFITS as error:
            if all(map(meta.is_object, result.items)):
                raise
            raise self._nonsense() from error

    async def _watch(self) -> bool:
        """One watch, to its end. True when the version is too old to go on from."""
        timeout_seconds = None
        if self._watch_timeout_seconds is not None:
            timeout_seconds = int(self._watch_timeout_seconds * self._rng.uniform(1, 2))
        started = self._clock.time()
        inbox = _Inbox(self._activity, self._take_up)
        stream = await self.client.open_watch(
            self.resource, inbox, self.namespace, label_selector=self.label_selector,
            field_selector=self.field_selector, resource_version=self.resource_version, allow_bookmarks=self._bookmarks,
            timeout_seconds=timeout_seconds,
        )
        try:
            inbox.start()
            expired = await inbox.finished
        finally:
            stream.stop()
            inbox.close()
        if inbox.received <= expired and self._clock.time() - started < SHORT_WATCH_SECONDS:
            await self._back_off()  # it told nothing but that
        return expired

    def _nonsense(self) -> TransportError:
        """What is made of the answer of a server behind ours, which may send anything."""
        return TransportError(f"{self.resource}: the server sends what is no object")

    def _take_up(self, frame: Frame) -> bool:
        """One event of a watch. False when the version is too old to go on from."""
        try:
            event = frame.tree
        except ValueError as error:
            raise self._nonsense() from error
        if not isinstance(event, dict):
            raise self._nonsense()
        try:
            return self._take_up_event(event)
        except MISFITS as error:
            if event.get("type") in ("ADDED", "MODIFIED", "DELETED") and meta.is_object(event.get("object")):
                raise
            raise self._nonsense() from error

    def _take_up_event(self, event: Tree) -> bool:
        event_type, obj = event["type"], event["object"]
        if event_type == "ERROR":
            error = APIError.from_status(obj, 500)
            log.info("watch of %s: %s", self.resource, error)
            if error.code == 410:
                return False
            raise error
        version = self.resource_version = obj["metadata"]["resourceVersion"]
        if event_type != "BOOKMARK":
            self._activity.note_progress()
            ACTING.set(Acting("", None, version))
            self.target.apply(event_type, obj)
        return True

    async def _back_off(self) -> None:
        now = self._clock.time()
        if now - self._failed_at > BACKOFF_RESET_SECONDS:
            self._delay_seconds, self._tries = BACKOFF_SECONDS, 0
        self._failed_at = now
        self._tries += 1
        delay_seconds = self._delay_seconds * self._rng.uniform(1, 2)
        self._delay_seconds = min(self._delay_seconds * 2, MAX_BACKOFF_SECONDS)
        self._waiter = asyncio.get_running_loop().create_future()
        timer = self._clock.call_later(delay_seconds, self.poke, daemon=self._tries > DAEMON_TRIES)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def poke(self) -> None:
        """Try again now, if it is waiting to try again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class _Inbox:
    """Frames on their way to ``take_up``, by a callback of the loop; while there are any, it holds
    one unit of activity.

    ``finished`` says how the watch ended: whether its version is too old to go on from, for which
    ``take_up`` answers False. What it raises is raised there, too.
    """

    __slots__ = ("_activity", "_closed", "_context", "_ended", "_frames", "_held", "_loop", "_take_up", "finished", "received")

    def __init__(self, activity: Activity, take_up: Callable[[Frame], bool]) -> None:
        self._activity, self._take_up = activity, take_up
        self._frames: deque[Frame] = deque()
        self._loop = asyncio.get_running_loop()
        # of the reflector; before it is there, nothing is taken up
        self._context: Context | None = None
        self._ended = self._closed = self._held = False
        self.finished: asyncio.Future[bool] = self._loop.create_future()
        self.received = 0

    def start(self) -> None:
        """Take up what has come already, and from now on what comes in each turn of the loop."""
        self._context = copy_context()
        self._deliver()

    def send(self, frame: Frame) -> None:
        if not self._closed:
            self._frames.append(frame)
            if not self._held:
                self._wake()

    def end(self) -> None:
        self._ended = True
        if not self._held and not self._closed:
            self._wake()

    def _wake(self) -> None:
        self._held = True
        self._activity.hold()
        if self._context is not None:
            self._loop.call_soon(self._deliver, context=self._context)

    def _deliver(self) -> None:
        with self:
            frames = self._frames
            while frames:
                self.received += 1
                if not self._take_up(frames.popleft()):
                    self._finish(expired=True)
                    return
            if self._ended:
                self._finish(expired=False)
            elif self._held:
                self._held = False
                self._activity.release()

    def _finish(self, *, expired: bool) -> None:
        self._frames.clear()
        if not self.finished.done():
            self.finished.set_result(expired)

    def __enter__(self) -> None:
        """What happens in the block concerns whoever waits for ``finished``."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._frames.clear()
        if not self.finished.done():
            self.finished.set_exception(error)
        return True

    def close(self) -> None:
        self._closed = True
        self._frames.clear()
        if self._held:
            self._held = False
            self._activity.release()
