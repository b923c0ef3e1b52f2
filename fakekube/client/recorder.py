"""Events: what happened to an object, for people to read. Recording never waits and never fails.

Upstream: client-go/tools/record/event.go. One broadcaster serves all recorders of a manager; it correlates and
writes in the background, and holds activity until it is done. Left out: the events.k8s.io flavour with its series.
"""

import logging
from collections import deque
from typing import Literal

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ReadOnlyTree
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.correlator import Correlated, Correlator
from fakekube.client.resources import EVENTS
from fakekube.client.transport import TransportError
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

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

    def __init__(self, broadcaster: "EventBroadcaster", client: Client, component: str, host: str) -> None:
        self._broadcaster, self._client = broadcaster, client
        self.component, self.host = component, host

    def event(
        self, obj: ReadOnlyTree, type: EventType, reason: str, message: str, *,  # noqa: A002 - upstream's word
        field_path: str = "", annotations: dict[str, str] | None = None,
    ) -> None:
        """Record that something happened to ``obj``, which carries apiVersion and kind.

        ``reason`` is one CamelCase word for machines, ``message`` a sentence for people; ``field_path`` names a part,
        as ``spec.containers{main}``.
        """
        broadcaster = self._broadcaster
        reference = object_reference(obj, field_path)
        now = f"{broadcaster.clock.now():%Y-%m-%dT%H:%M:%SZ}"
        metadata: Tree = {
            "name": broadcaster.name_for(reference["name"]), "namespace": reference.get("namespace", "default"),
        }
        if annotations:
            metadata["annotations"] = annotations
        source = {"component": self.component} | ({"host": self.host} if self.host else {})
        broadcaster.submit(self._client, {
            "kind": "Event", "apiVersion": "v1", "metadata": metadata, "involvedObject": reference, "reason": reason,
            "message": message, "source": source, "firstTimestamp": now, "lastTimestamp": now, "count": 1, "type": type,
            "eventTime": None, "reportingComponent": self.component, "reportingInstance": self.host,
        })


class EventBroadcaster:
    """Writes what recorders record, in order."""

    def __init__(self, client: Client, *, clock: Clock, activity: Activity, rng: Rng, tasks: Tasks) -> None:
        self.clock = clock
        self._client, self._activity, self._rng, self._tasks = client, activity, rng, tasks
        self._correlator = Correlator(clock)
        self._queue: deque[tuple[Client, Tree]] = deque()
        self._writing = False
        self._last_nanos = 0

    def recorder(self, component: str, *, host: str = "", client: Client | None = None) -> Recorder:
        """A recorder for one component; ``host`` is a kubelet's node."""
        return Recorder(self, client or self._client, component, host)

    def name_for(self, name: str) -> str:
        """``name.hex``, where the hex digits are the time in nanoseconds, moved on where time stands still."""
        self._last_nanos = max(int(self.clock.time() * 1e9), self._last_nanos + 1)
        event_name = f"{name}.{self._last_nanos:x}"
        return event_name if len(event_name) <= MAX_NAME_LENGTH else self._rng.uid()

    def submit(self, client: Client, event: Tree) -> None:
        """Write an event in the background."""
        self._queue.append((client, event))
        if not self._writing:
            self._writing = True
            self._activity.hold()
            self._tasks.spawn(self._write_all(), "events")

    async def _write_all(self) -> None:
        self._activity.release()
        with self._activity.busy():
            try:
                while self._queue:
                    client, event = self._queue.popleft()
                    correlated = self._correlator.correlate(event)
                    if correlated is not None:
                        await self._write(client, correlated)
            finally:
                self._writing = False

    async def _write(self, client: Client, correlated: Correlated) -> None:
        for tries in range(MAX_TRIES):
            try:
                await self._try(client, correlated)
            except APIError as error:  # a server that answers will not answer otherwise next time
                log.info("event %s was rejected: %s", correlated.event["metadata"]["name"], error)
                return
            except TransportError as error:
                log.info("event was not written, will be tried again: %s", error)
            else:
                return
            await self.clock.sleep(RETRY_SECONDS * (self._rng.uniform(0, 1) if tries == 0 else 1))
        log.warning("event was not written, retry limit exceeded: %s", correlated.event["message"])

    async def _try(self, client: Client, correlated: Correlated) -> None:
        event, patch = correlated
        metadata = event["metadata"]
        if patch is not None:
            try:
                await client.patch(EVENTS, metadata["name"], metadata["namespace"], patch, type="strategic")
            except APIError as error:
                if error.code != 404:
                    raise
            else:
                return
        try:
            await client.create(EVENTS, event)
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise
            # Another broadcaster took the name: virtual time gave it the same instant.
            metadata["name"] = self.name_for(event["involvedObject"]["name"])
            await client.create(EVENTS, event)
