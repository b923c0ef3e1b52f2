"""Pods in a bucket, read and watched without a server around them."""

from typing import Any

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Frame
from fakekube.endpoints.listoptions import parse_list_options
from fakekube.endpoints.read import ListResult, encode_list, list_objects
from fakekube.endpoints.watch import WatchStream
from fakekube.registry.kind import Conversion, Kind, Selectable
from fakekube.storage.memory import Bucket, Record, Storage
from fakekube.util.clock import ManualClock

POD = Kind(
    group="", version="v1", kind="Pod", plural="pods", singular="pod", namespaced=True,
    selectable=Selectable(
        labels=("spec.nodeName",), values=lambda tree: {"spec.nodeName": tree["spec"].get("nodeName", "")},
        aliases={"spec.host": "spec.nodeName"}, unknown="field label not supported: {label}"),
)
CONFIG_MAP = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps", singular="configmap", namespaced=True)
WIDGET = Kind(
    group="g.io", version="v1", kind="Widget", plural="widgets", singular="widget", namespaced=True, custom=True)


def to_other(tree: dict[str, Any]) -> dict[str, Any]:
    return {**tree, "apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": tree["spec"]["host"]}}


def from_stored(tree: dict[str, Any]) -> dict[str, Any]:
    return {**tree, "apiVersion": "other/v2", "spec": {"host": tree["spec"].get("nodeName", "")}}


OTHER = Kind(
    group="other", version="v2", kind="Pod", plural="pods", singular="pod", namespaced=True,
    selectable=Selectable(aliases={"spec.host": "spec.nodeName"}),  # as the storage knows it
    conversion=Conversion(GroupVersionKind("", "v1", "Pod"), to_other, from_stored),
)


class Sink:
    """Keeps the frames of a stream."""

    stream: WatchStream

    def __init__(self, leave_after: int = 0) -> None:
        self.frames: list[Frame] = []
        self.ended = 0
        self.leave_after = leave_after

    def send(self, frame: Frame) -> None:
        assert not self.ended, "nothing follows the end"
        self.frames.append(frame)
        if len(self.frames) == self.leave_after:
            self.stream.stop()

    def end(self) -> None:
        self.ended += 1

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every frame as a receiver in the same process gets it."""
        return [frame.tree for frame in self.frames]  # type: ignore[misc]

    @property
    def story(self) -> list[str]:
        """Type, name and revision of every event."""
        return [
            " ".join(filter(None, (event["type"], event["object"]["metadata"].get("name"),
                                   event["object"]["metadata"].get("resourceVersion"))))
            for event in self.events
        ]


class World:
    """A bucket of pods and a clock that stands still."""

    def __init__(self, kind: Kind = POD) -> None:
        self.kind, self.clock = kind, ManualClock()
        self.storage = Storage(check_trees=True)
        self.bucket: Bucket = self.storage.add_bucket(
            POD.group_resource, fields=POD.selectable.values, sort_keys=kind.custom)

    def make(self, name: str, namespace: str = "ns", *, node: str = "", **labels: str) -> Record:
        """Create a pod."""
        metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
        if labels:
            metadata["labels"] = labels
        spec = {"nodeName": node} if node else {}
        return self.bucket.create({"kind": self.kind.kind, "apiVersion": "v1", "metadata": metadata, "spec": spec})

    def change(self, name: str, namespace: str = "ns", *, node: str = "", **labels: str) -> Record:
        """Replace a pod's labels and node."""
        record = self.bucket.get(namespace, name)
        assert record is not None
        tree = record.copy_tree()
        tree["metadata"]["labels"] = labels
        tree["spec"] = {"nodeName": node} if node else {}
        return self.bucket.update(tree, record)

    def remove(self, name: str, namespace: str = "ns") -> Record:
        """Delete a pod."""
        record = self.bucket.get(namespace, name)
        assert record is not None
        return self.bucket.delete(record)

    async def read(self, namespace: str = "ns", **query: str) -> ListResult:
        """List with the query's options."""
        options = parse_list_options({name: [value] for name, value in query.items()}, self.kind, watch=False)
        return await list_objects(self.kind, self.bucket, namespace, options, self.clock)

    async def names(self, namespace: str = "ns", **query: str) -> list[str]:
        """The names that a list gives."""
        return [record.name for record in (await self.read(namespace, **query)).records]

    async def body(self, namespace: str = "ns", **query: str) -> bytes:
        """The bytes that a list gives."""
        return encode_list(self.kind, await self.read(namespace, **query))

    def watch(
        self, namespace: str = "ns", *, timeout_seconds: float = 3600, leave_after: int = 0, **options: Any,
    ) -> Sink:
        """Start a watch; options that are texts are query parameters, others go to the stream.

        A receiver that is to ``leave_after`` so many events stops the stream within the last of
        them.
        """
        query = {name: [value] for name, value in options.items() if isinstance(value, str)}
        own = {name: value for name, value in options.items() if not isinstance(value, str)}
        parsed = parse_list_options(query, self.kind, watch=True)
        sink = Sink(leave_after)
        stream = WatchStream(
            self.kind, self.bucket, namespace, parsed, self.clock, timeout_seconds=timeout_seconds, **own)
        sink.stream = stream
        stream.start(sink)
        return sink

    def pass_time(self, seconds: float) -> None:
        """Fire what is due in so many seconds, each timer at its own instant, lazy ones at the end.
        """
        until = self.clock.time() + seconds
        for _ in range(2):
            while (due := self.clock.next_due()) is not None and due <= until:
                self.clock.fire_next()
            self.clock.move_to(until)


def told(error: APIError) -> tuple[int, str, str]:
    """Code, reason and message of a failure."""
    return error.code, error.reason, error.message
