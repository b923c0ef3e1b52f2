"""Events: what happened to an object, for people to read. Recording never waits and never fails.

Upstream: client-go/tools/record/event.go (``Recorder.event``, what most controllers use) and
client-go/tools/events (``Recorder.report``, what the scheduler uses). One broadcaster serves all
recorders of a manager; it correlates Events and writes them in the background, and holds activity
until they are written.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from fakekube.apimachinery import times
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.correlator import Correlated, Correlator
from fakekube.client.event_series import FINISH_SECONDS, Series
from fakekube.client.resources import EVENTS, EVENTS_V1, Resource
from fakekube.client.transport import TransportError
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger(__name__)

MAX_TRIES = 12
RETRY_SECONDS = 10.0
MAX_NAME_LENGTH = 253

EventType = Literal["Normal", "Warning"]


def object_reference(obj: ReadOnlyTree, field_path: str = "") -> Tree:
    """An ObjectReference to an object, which must carry apiVersion and kind."""
    metadata = obj["metadata"]
    reference: Tree = {"kind": obj["kind"]}
    for key in ("namespace", "name", "uid"):
        if metadata.get(key):
            reference[key] = metadata[key]
    reference["apiVersion"] = obj["apiVersion"]
    if metadata.get("resourceVersion"):
        reference["resourceVersion"] = metadata["resourceVersion"]
    if field_path:
        reference["fieldPath"] = field_path
    return reference


class Recorder:
    """Records events as one component."""

    def __init__(
        self, broadcaster: "EventBroadcaster", client: Client, component: str, host: str,
        client_of: Callable[[str], Client] | None = None,
    ) -> None:
        self._broadcaster, self._client, self._client_of = broadcaster, client, client_of
        self.component, self.host = component, host

    def event(
        self, obj: ReadOnlyTree, type: EventType, reason: str, message: str, *,  # noqa: A002 - upstream's word
        field_path: str = "", annotations: dict[str, str] | None = None, host: str = "",
    ) -> None:
        """Record that something happened to ``obj``, which carries apiVersion and kind.

        ``reason`` is one CamelCase word for machines, ``message`` a sentence for people;
        ``field_path`` names a part, as ``spec.containers{main}``; ``host`` is used in place of the
        recorder's.
        """
        host = host or self.host
        reference = object_reference(obj, field_path)
        at = self._broadcaster.clock.time()
        now = times.format_time(at)
        client = self._client_of(host) if host and self._client_of is not None else self._client
        self._broadcaster.submit(client, {
            "kind": "Event", "apiVersion": "v1", "metadata": self._metadata(reference, annotations, at),
            "involvedObject": reference, "reason": reason, "message": message,
            "source": {"component": self.component, "host": host} if host else {"component": self.component},
            "firstTimestamp": now, "lastTimestamp": now, "count": 1, "type": type, "eventTime": None,
            "reportingComponent": self.component, "reportingInstance": host,
        })

    def report(
        self, obj: ReadOnlyTree, type: EventType, reason: str, action: str, note: str, *,  # noqa: A002
        related: ReadOnlyTree | None = None,
    ) -> None:
        """Record an Event of events.k8s.io: this component did ``action`` to ``obj``, and why.

        Repetitions become a series. ``related`` is another object that had a part in it.
        """
        reference = object_reference(obj)
        at = self._broadcaster.clock.time()
        event: Tree = {
            "kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": self._metadata(reference, None, at),
            "eventTime": times.format_micro_time(at), "reportingController": self.component,
            "reportingInstance": f"{self.component}-{self.host or 'fakekube'}", "action": action, "reason": reason,
            "regarding": reference, "note": note, "type": type,
        }
        if related is not None:
            event["related"] = object_reference(related)
        self._broadcaster.submit_series(self._client, event)

    def _metadata(self, reference: Tree, annotations: dict[str, str] | None, at: float) -> Tree:
        name = self._broadcaster.name_for(reference["name"], at)
        metadata: Tree = {"name": name, "namespace": reference.get("namespace", "default")}
        if annotations:
            metadata["annotations"] = annotations
        return metadata


class _Write(NamedTuple):
    client: Client
    resource: Resource
    event: Tree
    patch: Tree | None
    acting: Acting | None


class EventBroadcaster:
    """Writes what recorders record, in order."""

    def __init__(self, client: Client, *, clock: Clock, activity: Activity, rng: Rng, tasks: Tasks) -> None:
        self.clock = clock
        self._client, self._activity, self._rng, self._tasks = client, activity, rng, tasks
        self._correlator = Correlator(clock)
        self._series = Series(clock)
        self._queue: deque[_Write] = deque()
        self._writing = self._held = False
        self._last_nanos = 0

    def recorder(
        self, component: str, *, host: str = "", client: Client | None = None,
        client_of: Callable[[str], Client] | None = None,
    ) -> Recorder:
        """A recorder for one component; ``host`` is a kubelet's node, ``client_of`` gives the
        client of one.
        """
        return Recorder(self, client or self._client, component, host, client_of)

    def name_for(self, name: str, at: float) -> str:
        """``name.hex``, where the hex digits are the time ``at`` in nanoseconds.

        They are raised by one where virtual time stands still, so that names differ.
        """
        self._last_nanos = nanos = max(int(at * 1e9), self._last_nanos + 1)
        event_name = f"{name}.{nanos:x}"
        return event_name if len(event_name) <= MAX_NAME_LENGTH else self._rng.uid()

    def submit(self, client: Client, event: Tree) -> None:
        """Write an event in the background, as its correlation has it."""
        self._enqueue(client, EVENTS, self._correlator.correlate(event))

    def submit_series(self, client: Client, event: Tree) -> None:
        """Write an event of events.k8s.io in the background, or count it to its series."""
        if not self._series:
            self.clock.call_later(FINISH_SECONDS, self._finish_series, client, daemon=True)
        self._enqueue(client, EVENTS_V1, self._series.observe(event))

    def _finish_series(self, client: Client) -> None:
        for correlated in self._series.finish():
            self._enqueue(client, EVENTS_V1, correlated)
        if self._series:
            self.clock.call_later(FINISH_SECONDS, self._finish_series, client, daemon=True)

    def _enqueue(self, client: Client, resource: Resource, correlated: Correlated | None) -> None:
        if correlated is None:
            return
        self._queue.append(_Write(client, resource, *correlated, ACTING.get()))
        if not self._writing:
            self._writing = self._held = True
            self._activity.hold()
            self._tasks.spawn(self._write_all(), "events").add_done_callback(self._drop)

    async def _write_all(self) -> None:
        with self._activity.busy():
            self._drop()
            while self._queue:
                write = self._queue.popleft()
                ACTING.set(write.acting)
                await self._write(write)
            self._writing = False

    def _drop(self, task: "asyncio.Task[None] | None" = None) -> None:
        """Release the unit of activity that was taken for the task.

        A task that is cancelled before it starts cannot do so itself.
        """
        if self._held:
            self._held = False
            self._activity.release()
        if task is not None and task.cancelled():
            self._writing = False

    async def _write(self, write: _Write) -> None:
        for tries in range(MAX_TRIES):
            if tries:
                await self.clock.sleep(RETRY_SECONDS * (self._rng.uniform(0, 1) if tries == 1 else 1))
            try:
                await self._try(write)
            except APIError as error:  # a server that answers will not answer otherwise next time
                log.info("event %s was rejected: %s", write.event["metadata"]["name"], error)
                return
            except TransportError as error:
                log.info("event was not written, will be tried again: %s", error)
            else:
                return
        log.warning("event %s was not written, retry limit exceeded", write.event["metadata"]["name"])

    async def _try(self, write: _Write) -> None:
        client, resource, event, patch, _ = write
        metadata = event["metadata"]
        if patch is not None:
            try:
                await client.patch(resource, metadata["name"], metadata["namespace"], patch, type="strategic")
            except APIError as error:
                if error.code != 404:
                    raise
            else:
                return
        try:
            await client.create(resource, event, read_answer=False)
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise
            # Another broadcaster took the name: virtual time gave it the same instant.
            metadata["name"] = self.name_for((event.get("involvedObject") or event["regarding"])["name"], self.clock.time())
            await client.create(resource, event, read_answer=False)
