"""What the API server asks of kubelets, answered by the kubelet component, if it runs.

The API server sees a NodeProxy; the component is in another package, and neither knows the other.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery import errors, times
from fakekube.apimachinery.http import Frame, Response, Sink, Stream
from fakekube.apimachinery.ports import PortAnswer, PortRequest
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.nodeproxy import LogOptions, Usage, no_metrics, unreachable

if TYPE_CHECKING:
    from fakekube.apimachinery.streams import Command, CommandOptions, Dialled, Forward

Line = tuple[float, str]


class NodeAgents:
    """A NodeProxy. ``kubelet`` gives the component as it is at the time of a request, or None."""

    def __init__(self, kubelet: Callable[[], Any]) -> None:
        self._kubelet = kubelet

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """The lines that the options ask for. Raises APIError as a kubelet does."""
        meta, kubelet = pod["metadata"], self._kubelet()
        lines: list[Line] | None = None
        if kubelet is not None:
            lines = kubelet.server.logs.lines(meta["namespace"], meta["name"], container, previous=options.previous)
        if lines is None:
            if options.previous:
                raise errors.bad_request(
                    f'previous terminated container "{container}" in pod "{meta["name"]}" not found')
            raise errors.bad_request(
                f'container "{container}" in pod "{meta["name"]}" is waiting to start: {_waiting(pod, container)}')
        if options.since_seconds is not None:
            options = options._replace(since_time=kubelet.clock.time() - options.since_seconds)
        if not options.follow or options.previous:
            return _text(lines, options)
        return FollowedLog(kubelet.server.logs.follow, pod, container, lines, options)

    async def execute(self, options: "CommandOptions") -> "Command":
        """A command in a container. Raises NodeError, and APIError when no kubelet runs."""
        return await self._server(options.pod).exec.execute(options)  # type: ignore[no-any-return]

    async def attach(self, options: "CommandOptions") -> "Command":
        """What a container runs already. Raises like ``execute``."""
        return await self._server(options.pod).exec.attach(options)  # type: ignore[no-any-return]

    async def forward(self, pod: Tree) -> "Forward":
        """The way to a pod's ports. Raises like ``execute``."""
        return await self._server(pod).ports.forward(pod)  # type: ignore[no-any-return]

    async def ask(self, pod: Tree, port: int, request: PortRequest) -> PortAnswer:
        """Ask an HTTP server behind a port of a pod, on a connection of its own.

        Raises ConnectionRefusedError when nobody listens, BadAnswer, StreamError, ConnectionError.
        """
        kubelet = self._kubelet()
        if kubelet is None:
            raise ConnectionRefusedError
        from fakekube.server.exchange import exchange

        connection: Dialled = await kubelet.server.ports.dial(pod, port)
        kept = False
        try:
            answer = await exchange(connection, request)
            kept = answer.stream is not None
        finally:
            if not kept:
                await connection.close()
        return answer

    def node_page(self, name: str, path: str) -> Response | None:
        """What a kubelet answers itself: its health, and its pods. None where it is silent."""
        kubelet = self._kubelet()
        if kubelet is None or not kubelet.server.responds(name):
            return None
        if path.rstrip("/") == "/healthz":
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if path.rstrip("/") in ("/pods", "/runningpods"):
            pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": kubelet.server.pods_on(name)}
            return Response(200, orjson.dumps(pods))
        return Response(404, b"404 page not found\n", "text/plain; charset=utf-8")

    def pod_usage(self, pod: Mapping[str, Any]) -> Mapping[str, Usage] | None:
        """What each running container of a pod uses;

        None where the node is silent, or an annotation cannot be meant.
        """
        meta = pod["metadata"]
        try:
            used: dict[str, Any] | None = self._stats().of_pod(meta["namespace"], meta["name"])
        except ValueError:  # as a kubelet whose runtime answers nonsense, it tells nothing
            return None
        return {name: Usage(*of_it) for name, of_it in used.items()} if used is not None else None

    def node_usage(self, name: str) -> Usage | None:
        """What the pods of a node use together; None in the same cases."""
        try:
            used = self._stats().of_node(name)
        except ValueError:
            return None
        return Usage(*used) if used is not None else None

    def _stats(self) -> Any:
        kubelet = self._kubelet()
        if kubelet is None:
            raise no_metrics()
        return kubelet.server.stats

    def _server(self, pod: Any) -> Any:
        kubelet = self._kubelet()
        if kubelet is None:
            raise unreachable(pod)
        return kubelet.server


class FollowedLog:
    """A Stream of a log: what is there, then what comes.

    It ends with the container, or when enough bytes were sent.
    """

    def __init__(
        self, follow: Callable[..., Callable[[], None]], pod: Tree, container: str, lines: list[Line], options: LogOptions,
    ) -> None:
        self._follow, self._pod, self._container, self._lines, self._options = follow, pod, container, lines, options
        self._left = options.limit_bytes
        self._sink: Sink | None = None
        self._over = False
        self._leave: Callable[[], None] = lambda: None

    def start(self, sink: Sink) -> None:
        """Send what is there, and follow."""
        self._sink = sink
        self._send(_text(self._lines, self._options._replace(limit_bytes=None)))
        if not self._over:
            self._leave = self._follow(self._pod, self._container, len(self._lines), self._tell, self._end)
        if self._over:  # it was enough, or the container had ended
            self._leave()

    def stop(self) -> None:
        """Follow no longer."""
        self._sink, self._over = None, True
        self._leave()

    def _tell(self, line: Line) -> None:
        self._send(_text([line], LogOptions(timestamps=self._options.timestamps)))

    def _send(self, data: bytes) -> None:
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        if data and self._sink is not None:
            self._sink.send(Frame(data))
        if self._left == 0:
            self._end()

    def _end(self) -> None:
        sink = self._sink
        self.stop()
        if sink is not None:
            sink.end()


def _waiting(pod: Tree, container: str) -> str:
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status["name"] == container:
            reason: str = (status["state"].get("waiting") or {}).get("reason", "ContainerCreating")
            return reason
    return "ContainerCreating"


def _text(lines: list[Line], options: LogOptions) -> bytes:
    if options.since_time is not None:
        lines = [line for line in lines if line[0] >= (options.since_time or 0.0)]
    if options.tail_lines is not None:
        lines = lines[len(lines) - min(options.tail_lines, len(lines)):]
    text = "".join(f"{_stamp(at)} {line}\n" if options.timestamps else f"{line}\n" for at, line in lines)
    data = text.encode()
    return data if options.limit_bytes is None else data[: options.limit_bytes]


def _stamp(at: float) -> str:
    """The time in front of a line, in billionths of a second as the runtimes write it."""
    return times.format_micro_time(at).removesuffix("Z") + "000Z"
