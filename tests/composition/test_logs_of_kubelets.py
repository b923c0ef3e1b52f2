"""What the API server is given of kubelets: lines of logs by all options, logs that are followed,
and what pods and nodes use.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame
from fakekube.apiserver.nodeproxy import LogOptions, Usage
from fakekube.composition.nodeagents import FollowedLog, NodeAgents, _waiting

LINES = [(1.5, "one"), (2.0, "zwei ä"), (3.0, "three")]
POD: dict[str, Any] = {"metadata": {"namespace": "a", "name": "p"}, "spec": {"nodeName": "n"}}


class Logs:
    """The logs of the container ``c`` of the pod ``a/p``, and ``previous`` of the run before."""

    def __init__(self, lines: Any = None, previous: Any = None) -> None:
        self.of = {False: LINES if lines is None else lines, True: previous}
        self.followed: list[Any] = []
        self.left = 0

    def lines(self, namespace: str, name: str, container: str, *, previous: bool) -> Any:
        return self.of[previous] if (namespace, name, container) == ("a", "p", "c") else None

    def follow(self, pod: Any, container: str, count: int, tell: Callable[[Any], None], end: Callable[[], None]) -> Any:
        self.followed.append((pod, container, count))
        self.tell, self.end = tell, end

        def leave() -> None:
            self.left += 1
        return leave


def agents(logs: Logs, **more: Any) -> NodeAgents:
    server = SimpleNamespace(logs=logs, **more)
    return NodeAgents(lambda: SimpleNamespace(server=server, clock=SimpleNamespace(time=lambda: 10.0)))


@pytest.mark.parametrize(("options", "text"), [
    ({}, "one\nzwei ä\nthree\n"), ({"tail_lines": 2}, "zwei ä\nthree\n"), ({"tail_lines": 0}, ""),
    ({"tail_lines": 9}, "one\nzwei ä\nthree\n"), ({"limit_bytes": 5}, "one\nz"), ({"limit_bytes": 0}, ""),
    ({"limit_bytes": 99}, "one\nzwei ä\nthree\n"), ({"since_time": 2.0}, "zwei ä\nthree\n"), ({"since_time": 2.5}, "three\n"),
    ({"since_time": 0.0}, "one\nzwei ä\nthree\n"), ({"since_seconds": 8}, "zwei ä\nthree\n"), ({"since_seconds": 7}, "three\n"),
    ({"since_seconds": 7, "since_time": 0.0}, "three\n"), ({"since_time": 2.0, "tail_lines": 1}, "three\n"),
    ({"timestamps": True, "tail_lines": 1}, "1970-01-01T00:00:03.000000000Z three\n"),
    ({"timestamps": True, "limit_bytes": 31}, "1970-01-01T00:00:01.500000000Z "),
    ({"previous": True}, "before\n"), ({"previous": True, "follow": True}, "before\n"),
])
async def test_lines_of_a_log(options: dict[str, Any], text: str) -> None:
    """Given a log, when it is read, then the lines that the options ask for are the answer, those
    at the edge of a time too; the log of a run before is not followed.
    """
    logs = Logs(previous=[(0.5, "before")])
    assert await agents(logs).logs(POD, "c", LogOptions(**options)) == text.encode()
    assert logs.followed == []


@pytest.mark.parametrize(("statuses", "told"), [
    (None, "ContainerCreating"), ([], "ContainerCreating"),
    ([{"name": "d", "state": {"waiting": {"reason": "X"}}}], "ContainerCreating"),
    ([{"name": "d", "state": {}}, {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}], "ImagePullBackOff"),
    ([{"name": "c", "state": {"waiting": {}}}], "ContainerCreating"),
    ([{"name": "c", "state": {"running": {}}}], "ContainerCreating"),
])
async def test_logs_that_have_not_begun(statuses: Any, told: str) -> None:
    """Given a container without a log, when it is read, then 400 says for what the container waits.
    """
    pod = {**POD, "status": {"containerStatuses": statuses}} if statuses is not None else POD
    assert _waiting(pod, "c") == told
    logs = Logs()
    logs.of[False] = None
    with pytest.raises(APIError) as refused:
        await agents(logs).logs(pod, "c", LogOptions())
    assert (refused.value.code, refused.value.message) == (400, f'container "c" in pod "p" is waiting to start: {told}')
    with pytest.raises(APIError) as refused:
        await agents(logs).logs(pod, "c", LogOptions(previous=True))
    assert refused.value.message == 'previous terminated container "c" in pod "p" not found'


class Sink:
    """Notes what comes, and its end."""

    def __init__(self) -> None:
        self.got, self.ended = list[str](), 0

    def send(self, frame: Frame) -> None:
        self.got.append(frame.data.decode())

    def end(self) -> None:
        self.ended += 1


async def followed(logs: Logs, **options: Any) -> tuple[Any, Sink]:
    stream, sink = await agents(logs).logs(POD, "c", LogOptions(follow=True, **options)), Sink()
    assert isinstance(stream, FollowedLog)
    stream.start(cast("Any", sink))
    return stream, sink


async def test_a_log_that_is_followed() -> None:
    """Given a log that is followed, when lines come, then each is sent as it is asked for; after
    its end, or when nobody wants more, nothing is.
    """
    logs = Logs()
    _, sink = await followed(logs, tail_lines=1, timestamps=True)
    assert logs.followed == [(POD, "c", 3)]
    logs.tell((4.0, "four"))
    logs.end()
    logs.tell((5.0, "five"))
    logs.end()
    assert (sink.got, sink.ended) == (["1970-01-01T00:00:03.000000000Z three\n", "1970-01-01T00:00:04.000000000Z four\n"], 1)
    assert logs.left >= 1
    logs = Logs()
    stream, sink = await followed(logs, since_seconds=7)
    stream.stop()
    logs.tell((6.0, "six"))
    logs.end()
    assert (sink.got, sink.ended, logs.left) == (["three\n"], 0, 2)


@pytest.mark.parametrize(("limit", "got", "followers"), [
    (4, ["one\n"], 0), (14, ["one\nzwei ä\n", "th"], 1), (12, ["one\nzwei ä\n"], 0), (0, [], 0),
    (99, ["one\nzwei ä\n", "three\n"], 1),
])
async def test_a_log_that_is_followed_to_a_limit(limit: int, got: list[str], followers: int) -> None:
    """Given a log that is followed up to some bytes, when they were sent, then it ends there, and
    is not followed where they were there already.
    """
    logs = Logs(LINES[:2])
    _, sink = await followed(logs, limit_bytes=limit)
    if logs.followed:
        logs.tell(LINES[2])
    assert (sink.got, sink.ended, len(logs.followed)) == (got, int(limit < 99), followers)
    if limit < 99 and followers:
        assert logs.left == 1


async def test_a_log_that_has_ended_when_it_is_followed() -> None:
    """Given a container that has ended, when its log is followed, then it ends, and is left."""
    class Ended(Logs):
        """Tells the end at once."""

        def follow(self, pod: Any, container: str, count: int, tell: Any, end: Callable[[], None]) -> Any:
            leave = super().follow(pod, container, count, tell, end)
            end()
            return leave

    logs = Ended()
    _, sink = await followed(logs)
    assert (sink.got, sink.ended, logs.left) == (["one\nzwei ä\nthree\n"], 1, 1)


async def test_what_is_used() -> None:
    """Given usage of pods and nodes, when it is asked for, then it is told; where it cannot be
    meant or nobody tells, there is none, and without a kubelet 503 is for metrics.
    """
    class Stats:
        """Of the pod ``a/p`` and the node ``n``; ``bad`` has an annotation that is none."""

        def of_pod(self, namespace: str, name: str) -> Any:
            if name == "bad":
                raise ValueError
            return {"c": (1, 2), "d": (3, 4)} if (namespace, name) == ("a", "p") else None

        def of_node(self, name: str) -> Any:
            if name == "bad":
                raise ValueError
            return (5, 6) if name == "n" else None

    known = agents(Logs(), stats=Stats())
    assert [known.pod_usage({"metadata": {"namespace": "a", "name": name}}) for name in ("p", "bad", "q")] == [
        {"c": Usage(1, 2), "d": Usage(3, 4)}, None, None]
    assert [known.node_usage(name) for name in ("n", "bad", "m")] == [Usage(5, 6), None, None]
    none = NodeAgents(lambda: None)
    for ask in (lambda: none.pod_usage(POD), lambda: none.node_usage("n")):
        with pytest.raises(APIError) as refused:
            ask()
        assert (refused.value.code, refused.value.reason) == (503, "ServiceUnavailable")


async def test_streams_of_a_kubelet() -> None:
    """Given a kubelet, when commands and ports are asked for, then it answers; without one it is
    told which node has none, and a port refuses.
    """
    def says(name: str) -> Any:
        async def function(given: Any) -> Any:
            return name, given
        return function

    known: Any = agents(
        Logs(), exec=SimpleNamespace(execute=says("execute"), attach=says("attach")),
        ports=SimpleNamespace(forward=says("forward")))
    options: Any = SimpleNamespace(pod=POD)
    assert [await known.execute(options), await known.attach(options), await known.forward(POD)] == [
        ("execute", options), ("attach", options), ("forward", POD)]
    none = NodeAgents(lambda: None)
    for ask in (none.execute(options), none.attach(options), none.forward(POD)):
        with pytest.raises(APIError) as refused:
            await ask
        assert (refused.value.code, refused.value.message) == (
            500, "Internal error occurred: error dialing backend: no agent runs on node n")
    with pytest.raises(ConnectionRefusedError):
        await none.ask(POD, 80, cast("Any", None))


@pytest.mark.parametrize(("stream", "closed"), [(None, 1), ("stream", 0), (OSError(), 1)])
async def test_a_port_of_a_pod(stream: Any, closed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a port of a pod, when it is asked, then its connection is closed after the answer, or
    the failure, and kept for an answer that goes on.
    """
    closings: list[int] = []

    async def close() -> None:
        closings.append(1)

    async def dial(pod: Any, port: int) -> Any:
        assert (pod, port) == (POD, 80)
        return SimpleNamespace(close=close)

    async def exchange(_connection: Any, request: Any) -> Any:
        if isinstance(stream, OSError):
            raise stream
        return SimpleNamespace(stream=stream, request=request)

    monkeypatch.setattr("fakekube.server.exchange.exchange", exchange)
    known, request = agents(Logs(), ports=SimpleNamespace(dial=dial)), cast("Any", "request")
    if isinstance(stream, OSError):
        with pytest.raises(OSError, match=r"^$"):
            await known.ask(POD, 80, request)
    else:
        assert cast("Any", await known.ask(POD, 80, request)).request == "request"
    assert len(closings) == closed
