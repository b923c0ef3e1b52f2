"""What a kubelet does about servers that refuse, pods and nodes that are gone, and clients that
send little: each part alone.
"""

import io
from types import SimpleNamespace
from typing import Any

import pytest

import fakekube_controllers.kubelet as package
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.streams import StreamError
from fakekube.client.resources import LEASES, NODES
from fakekube.client.transport import TransportError
from fakekube.util.clock import ManualClock
from fakekube.util.pipe import Pipe
from fakekube_controllers.kubelet.node import agent
from fakekube_controllers.kubelet.node.agent import NodeAgent
from fakekube_controllers.kubelet.node.leases import NodeLeases
from fakekube_controllers.kubelet.pods.status_manager import StatusManager
from fakekube_controllers.kubelet.pods.workers import PodWorkers
from fakekube_controllers.kubelet.server import pages, ports
from fakekube_controllers.kubelet.server.exec import Exec
from fakekube_controllers.kubelet.server.logs import ContainerLogs
from fakekube_controllers.kubelet.server.port_connection import PortConnection
from fakekube_controllers.kubelet.server.ports import Ports
from fakekube_controllers.kubelet.server.process import Process
from fakekube_controllers.kubelet.staged import Staged
from fakekube_controllers.kubelet.stages import functions
from tests.controllers.kubelet.test_podrun import container


def test_what_the_package_does_not_have() -> None:
    """Given a name that the package does not have / then asking for it is the usual error."""
    with pytest.raises(AttributeError, match=r"^module 'fakekube_controllers.kubelet' has no attribute 'nope'$"):
        package.nope  # noqa: B018 - the access is what is tested


def test_a_container_that_has_not_started_is_not_reset() -> None:
    """Given a container that has not started / when all are to start anew / then it is as it was.
    """
    made: Any = container  # the helper has no types
    found = made()
    found.reset(5.0)
    assert (found.restart_count, found.attempt, found.started_at) == (0, 0, None)


class Server:
    """Refuses with codes or errors, one after the other, and remembers."""

    def __init__(self, *refusals: Any) -> None:
        self.refusals, self.asked = list(refusals), list[Any]()

    def of(self, _: str) -> "Server":
        """That of a node."""
        return self

    def _answer(self, verb: str, resource: Any, *rest: Any) -> None:
        self.asked.append((verb, resource.kind, *rest))
        refusal = self.refusals.pop(0) if self.refusals else 0
        if isinstance(refusal, Exception):
            raise refusal
        if refusal:
            raise APIError(refusal, "R", f"no {refusal}")

    async def create(self, resource: Any, _: Any) -> None:
        """Make it."""
        self._answer("create", resource)

    async def patch(self, resource: Any, name: str, *_: Any, **__: Any) -> None:
        """Change it."""
        self._answer("patch", resource, name)

    async def delete(self, resource: Any, name: str, *_: Any, **options: Any) -> None:
        """Delete it."""
        self._answer("delete", resource, name, options["grace_period_seconds"])


@pytest.mark.parametrize(("refusals", "tries", "raised"), [
    ((), 1, ""), ((409,), 2, ""),
    ((409,) * 4, 5, ""), ((409,) * 5, 5, "no 409"), ((409, 404), 2, "no 404"), ((500,), 1, "no 500")])
async def test_a_status_is_posted_five_times_at_most(refusals: Any, tries: int, raised: str) -> None:
    """Given others who write to a node at the same time / then its status is tried five times; any
    other refusal ends that.
    """
    made, server = object.__new__(NodeAgent), Server(*refusals)

    async def post(name: str) -> None:
        server._answer("post", NODES, name)

    made._try_post_status = post  # type: ignore[method-assign]
    try:
        await made._post_status("n")
        said = ""
    except APIError as error:
        said = error.message
    assert (said, len(server.asked)) == (raised, tries)


@pytest.mark.parametrize(("refusal", "registered", "raised"), [
    (0, True, ""), (409, True, ""), (403, None, "no 403"), (422, None, "no 422"),
    (401, False, ""), (429, False, ""), (500, False, ""),
    (503, False, ""), (504, False, ""), (502, None, "no 502"), (TransportError("gone"), False, "")])
async def test_which_refusals_of_a_node_stay(refusal: Any, registered: Any, raised: str) -> None:
    """Given a node to register / when it is there already, that is fine; when the server is not
    ready, it is tried again; any other refusal stays.
    """
    made: Any = object.__new__(NodeAgent)
    made._clients = Server(refusal)

    async def post(_: str) -> None:
        return

    made._post_status = post
    try:
        found, said = await made._register("n"), ""
    except APIError as error:
        found, said = None, error.message
    assert (found, said) == (registered, raised)


@pytest.mark.parametrize(("code", "registered", "raised"), [(409, False, ""), (404, None, "no 404"), (503, False, "")])
async def test_a_node_whose_status_is_not_taken_is_registered_again(code: int, registered: Any, raised: str) -> None:
    """Given a node that is there / when its status is refused for a while / then it is tried again;
    any other refusal stays.
    """
    async def post(_: str) -> None:
        raise APIError(code, "R", f"no {code}")

    made: Any = object.__new__(NodeAgent)
    made._clients, made._post_status = Server(), post
    try:
        found, said = await made._register("n"), ""
    except APIError as error:
        found, said = None, error.message
    assert (found, said) == (registered, raised)


async def test_a_registration_is_tried_later_and_later() -> None:
    """Given a server that is not ready / then a node is registered after 0.1 s, 0.2 s and so on, up
    to seven; after enough tries nobody has to wait for it.
    """
    waits: list[Any] = []

    async def sleep(seconds: float, *, daemon: bool) -> None:
        waits.append((round(seconds, 3), daemon))

    async def register(_: str) -> bool:
        return len(waits) == 9 + agent.DAEMON_TRIES

    made: Any = object.__new__(NodeAgent)
    made._clock, made._register = SimpleNamespace(sleep=sleep), register
    made._activity = SimpleNamespace(busy=lambda: io.BytesIO())
    await made._register_later("n")
    seconds = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 7.0, 7.0]
    assert [each for each, _ in waits[:9]] == seconds
    assert [daemon for _, daemon in waits] == [False] * (agent.DAEMON_TRIES + 1) + [True] * 8


@pytest.mark.parametrize(("node", "refusals", "asked", "raised"), [
    (None, (), [], ""), ({"metadata": {"name": "n", "uid": "u"}}, (), ["patch"], ""),
    ({"metadata": {"name": "n", "uid": "u"}}, (404,), ["patch", "create"], ""),
    ({"metadata": {"name": "n", "uid": "u"}}, (403,), ["patch"], "no 403")])
async def test_a_lease_is_renewed_or_made(node: Any, refusals: Any, asked: list[str], raised: str) -> None:
    """Given a node / then its lease is renewed, or made where it is gone; none of a node that is.
    """
    made: Any = object.__new__(NodeLeases)
    made._clients, made._clock = Server(*refusals), ManualClock()
    made._ctx = SimpleNamespace(lister=lambda _: SimpleNamespace(get=lambda *_: node))
    try:
        await made._renew("n")
        said = ""
    except APIError as error:
        said = error.message
    assert (said, [each[:2] for each in made._clients.asked]) == (raised, [(verb, LEASES.kind) for verb in asked])


POD: Any = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1"}, "spec": {"nodeName": "n1", "containers": []}}


@pytest.mark.parametrize(("code", "deleting", "raised", "asked"), [
    (0, True, "", 1), (0, False, "", 0), (409, True, "", 1), (404, True, "no 404", 1), (500, True, "no 500", 1)])
async def test_a_pod_that_is_another_one_is_not_removed(code: int, deleting: bool, raised: str, asked: int) -> None:
    """Given a pod that is to go for good / when another one has its name, that is no error; any
    other refusal is, and one that is not being deleted stays.
    """
    server: Any = Server(code)
    made = StatusManager(server, SimpleNamespace(), observed_generation=False, removal_seconds=0)  # type: ignore[arg-type]
    of = {**POD, "metadata": {**POD["metadata"], **({"deletionTimestamp": "x"} if deleting else {})}}
    try:
        await made.remove(of)
        said = ""
    except APIError as error:
        said = error.message
    assert (said, server.asked) == (raised, [("delete", "Pod", "p", 0)] * asked)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_ended_before_it_was_seen_is_not_run(phase: str) -> None:
    """Given a pod that has finished, of which the kubelet knows nothing / then it is not run, and
    goes if it is to.
    """
    gone: list[Any] = []

    async def remove(of: Any) -> None:
        gone.append(of)

    made: Any = object.__new__(PodWorkers)
    of = {**POD, "status": {"phase": phase}}
    made._pods = SimpleNamespace(get=lambda *_: of)
    made._modes, made._clock = SimpleNamespace(is_stopped=lambda _: False), ManualClock()
    made._runs = SimpleNamespace(
        live={}, has_ended=lambda _: False, checkpoints=SimpleNamespace(has_run=lambda _: False))
    made._staged, made._status = SimpleNamespace(take=lambda _: False), SimpleNamespace(remove=remove)
    await made._sync(SimpleNamespace(namespace="n", name="p"))
    assert gone == [of]


def test_a_pod_that_does_not_run_has_neither_commands_nor_logs() -> None:
    """Given a pod without a run / then no container of it runs, and whoever follows its log is at
    the end.
    """
    runs = SimpleNamespace(find_for_change=lambda _: None)
    made: Any = object.__new__(Exec)
    made._runs = runs
    assert made._running(SimpleNamespace(pod=POD, container="c")) == (None, None)
    logs: Any = object.__new__(ContainerLogs)
    logs._runs = runs
    ended: list[str] = []
    stop = logs.follow(POD, "c", 0, ended.append, lambda: ended.append("end"))
    assert (ended, stop()) == (["end"], None)


class Client:
    """Sends pieces, and keeps what comes back."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces, self.received, self.pod = list(pieces), b"", POD
        self.port = 80

    async def read(self) -> bytes:
        """The next piece."""
        return self.pieces.pop(0) if self.pieces else b""

    async def write(self, data: bytes) -> None:
        """Keep it."""
        self.received += data


@pytest.mark.parametrize(("pieces", "is_http", "received"), [
    ((b"G", b"E", b"T / HTTP/1.1\r\nHost: x\r\n\r\n"), True, b""), ((b"G", b"E"), False, b"GE"), ((b"GE", b"M"), False, b"GEM"),
    ((b"hello", b" you"), False, b"hello you"), ((), False, b"")])
async def test_a_page_tells_http_by_its_first_bytes(pieces: Any, is_http: bool, received: bytes) -> None:
    """Given a client that sends its first bytes one by one / then it gets a page if they are HTTP,
    and else what it has sent.
    """
    client: Any = Client(*pieces)
    await pages.serve(client, {"name": "c", "image": "nginx"})
    assert client.received.startswith(b"HTTP/1.1 ") is is_http
    assert is_http or client.received == received


def test_connections_end_with_the_component() -> None:
    """Given open connections / when the component stops / then all are hung up."""
    ended: list[str] = []
    made: Any = object.__new__(Ports)
    made._open = dict.fromkeys([_Connection("a", ended), _Connection("b", ended)])
    made.close()
    assert ended == ["a", "b"]


class _Connection:
    def __init__(self, name: str, ended: list[str]) -> None:
        self.name, self.ended = name, ended

    def hang_up(self) -> None:
        """End."""
        self.ended.append(self.name)


async def test_a_process_sleeps_by_the_clusters_clock() -> None:
    """Given a process / when it sleeps / then the cluster's clock does."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    made: Any = object.__new__(Process)
    made.clock = SimpleNamespace(sleep=sleep)
    await made.sleep(2.5)
    assert slept == [2.5]


def test_no_manifests_are_none() -> None:
    """Given no manifests / when they are added / then nothing changes; a node that goes is
    forgotten where Stages play.
    """
    made: Any = object.__new__(Staged)
    made.add([])
    made._player = None
    made._node_gone(POD)
    forgotten: list[Any] = []
    made._player = SimpleNamespace(forget=lambda *what: forgotten.append(what))
    made._node_gone(POD)
    made.forget(POD)
    assert forgotten == [("Node", POD), ("Pod", POD)]


def test_what_is_no_expression_matches_nothing() -> None:
    """Given patterns / then one that is no expression is in no text."""
    assert [functions._matches(pattern, "abc") for pattern in ("b", "^b", "(", "")] == [True, False, False, True]


async def test_a_connection_to_a_pod_that_ends_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a connection to a port / when its pod runs no longer / then it breaks off; its lines
    are read until then, and then what the server failed with is raised.
    """
    async def no_longer(_: Any, __: Any, ___: Any, serving: Any, ____: Any) -> None:
        serving.close()

    def opening(*what: Any) -> str:
        opened.append(what)
        return "connection"

    opened: list[Any] = []
    monkeypatch.setattr(ports, "while_running", no_longer)
    monkeypatch.setattr(ports, "PortConnection", opening)
    made: Any = object.__new__(Ports)
    made._any_running, made._on_connect = lambda _: "running", lambda _: None
    made._logs, made._clock, made._activity, made._open = None, ManualClock(), None, {}
    assert await made.dial(POD, 80) == "connection"
    assert made._open == {"connection": None}
    with pytest.raises(StreamError, match=r"^EOF$"):
        await opened[0][2](SimpleNamespace(port=80))
    connection: Any = object.__new__(PortConnection)
    connection._answered, connection._failure = Pipe(), ConnectionRefusedError("nobody")
    connection._answered.feed(b"one\ntwo")
    connection._answered.end()
    assert [await connection.read_line(), await connection.read_line()] == [b"one\n", b"two"]
    with pytest.raises(ConnectionRefusedError, match=r"^nobody$"):
        await connection.read_line()
