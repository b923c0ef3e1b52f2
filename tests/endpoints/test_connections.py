"""exec, attach and port-forward until the protocol changes: who is asked, what is agreed, what a
kubelet's refusal becomes.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.streams import (
    Command,
    CommandOptions,
    CommandSession,
    CommandStreams,
    Forward,
    NodeError,
    PortSession,
    StreamError,
    TerminalSize,
)
from fakekube.apiserver.nodeproxy import NoNodes
from fakekube.util.pipe import Pipe
from tests.apiserver.conftest import Api

V5, V4, TUNNEL = "v5.channel.k8s.io", "v4.channel.k8s.io", "SPDY/3.1+portforward.k8s.io"


class Nodes(NoNodes):
    """Remembers what was asked, and refuses if told to."""

    def __init__(self, refusal: NodeError | None = None) -> None:
        self.asked: list[Any] = []
        self._refusal = refusal

    async def execute(self, options: CommandOptions) -> Command:
        return self._answer(options)

    async def attach(self, options: CommandOptions) -> Command:
        return self._answer(options)

    async def forward(self, pod: Mapping[str, Any]) -> Forward:
        return self._answer(pod)

    def _answer(self, asked: Any) -> Any:
        self.asked.append(asked)
        if self._refusal is not None:
            raise self._refusal


@pytest.fixture
async def connected(api: Api) -> Api:
    """An API server with a pod that is on a node, and a kubelet there."""
    api.server.nodes = Nodes()
    await api("POST", "/api/v1/namespaces/t/pods", {
        "metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "x"}]}})
    return api


async def connect(api: Api, path: str, *protocols: str, method: str = "GET", **headers: str) -> Response:
    given = {"connection": "Upgrade", "upgrade": "websocket", **headers}
    if protocols:
        given["sec-websocket-protocol"] = ", ".join(protocols)
    path, _, query = path.partition("?")
    parameters: dict[str, list[str]] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        parameters.setdefault(name, []).append(value)
    return await api.server.handle(Request(method, f"/api/v1/namespaces/t/pods/{path}", parameters, given))


async def test_a_command_and_its_streams_reach_the_kubelet(connected: Api) -> None:
    """Given words and flags in a query / when a client connects / then the kubelet is asked for
    exactly that; with a terminal there is no standard error; ``false``, ``0`` and nothing are no.
    """
    response = await connect(connected, "p/exec?command=sh&command=-c&command=&stdin=true&stdout=1&stderr=1&tty=TRUE", V5)
    assert isinstance(response.session, CommandSession)
    assert (response.status, response.session.protocol) == (101, V5)
    await connect(connected, "p/attach?stdout=x&stdin=False&stderr=0", V4)
    first, second = connected.server.nodes.asked
    assert first[1:] == ("c", ("sh", "-c", ""), True, True, False, True)
    assert second[1:] == ("c", (), False, True, False, False)


@pytest.mark.parametrize(("path", "status", "text"), [
    ("p/exec?command=ls", 400, "you must specify at least 1 of stdin, stdout, stderr"),
    ("p/exec?stdout=1", 400, "you must specify at least 1 command for the container"),
    ("p/attach?x=1", 400, "you must specify at least 1 of stdin, stdout, stderr"),
    ("p/portforward?x=1", 400, 'query parameter "port" is required'),
    ("p/portforward?ports=80,0", 400, 'port "80,0" must be > 0'),
])
async def test_what_a_kubelet_cannot_do_is_told_in_its_words(connected: Api, path: str, status: int, text: str) -> None:
    """Given requests that lack something / when they come to the kubelet's checks / then its plain
    text comes back.
    """
    response = await connect(connected, path, V4)
    assert (response.status, response.body.decode(), response.content_type) == (status, text, "text/plain; charset=utf-8")


@pytest.mark.parametrize(("path", "protocols", "chosen"), [
    ("p/exec?command=x&stdout=1", (), ""), ("p/exec?command=x&stdout=1", ("soap", V4), V4),
    ("p/exec?command=x&stdout=1", (V4, V5), V5), ("p/attach?stdout=1", ("base64.channel.k8s.io",), "base64.channel.k8s.io"),
    ("p/portforward?ports=80", (V5, V4), V4), ("p/portforward?ports=80", (), ""), ("p/portforward?x=1", (TUNNEL,), TUNNEL),
])
async def test_the_first_protocol_that_both_know_is_chosen(
    connected: Api, path: str, protocols: tuple[str, ...], chosen: str) -> None:
    """Given what a client offers / when it connects / then the first that is known is spoken,
    version 5 before all others.
    """
    response = await connect(connected, path, *protocols)
    assert response.session is not None
    assert (response.status, response.session.protocol, response.session.spdy) == (101, chosen, False)


async def test_ports_come_one_by_one_or_together(connected: Api) -> None:
    """Given ports in any form / when a client connects / then all of them are meant."""
    response = await connect(connected, "p/portforward?ports=80,81&ports=82", V4)
    assert isinstance(response.session, PortSession)
    assert response.session.ports == (80, 81, 82)


async def test_spdy_is_agreed_upon_by_post(connected: Api) -> None:
    """Given an old client / when it asks for SPDY / then that is agreed, with the protocol that it
    named first and we know.
    """
    response = await connect(connected, "p/exec?command=x&stdout=1", method="POST", upgrade="SPDY/3.1",
                             **{"x-stream-protocol-version": "v5.channel.k8s.io, v4.channel.k8s.io"})
    assert response.session is not None
    assert (response.status, response.session.protocol, response.session.spdy) == (101, V4, True)
    assert ("Upgrade", "SPDY/3.1") in response.headers


async def test_a_refusal_of_the_kubelet_is_the_answer(connected: Api) -> None:
    """Given a container that does not run / when anybody connects / then the kubelet's answer comes
    before any protocol.
    """
    connected.server.nodes = Nodes(NodeError(500, 'container not found ("c")'))
    for path in ("p/exec?command=x&stdout=1", "p/attach?stdout=1", "p/portforward?ports=80"):
        response = await connect(connected, path, V5, V4)
        assert (response.status, response.body) == (500, b'container not found ("c")')


@pytest.mark.parametrize("gates", [{"ExtendWebSocketsToKubelet": False}])
async def test_before_kubelets_spoke_websocket_the_refusal_came_inside(connected: Api, gates: dict[str, bool]) -> None:
    """Given a release whose API server translates version 5 / when the kubelet refuses / then the
    connection is made, and the error channel has the refusal; other versions get it as before.
    """
    connected.server.nodes = Nodes(NodeError(500, 'container not found ("c")'))
    connected.server.cluster.gate = lambda name: gates.get(name, True)
    response = await connect(connected, "p/exec?command=x&stdout=1", V5)
    assert isinstance(response.session, CommandSession)

    async def drop(_: bytes) -> None:
        """Nobody listens."""

    with pytest.raises(StreamError, match=r'^unable to upgrade connection: container not found \("c"\)$'):
        await response.session.run(CommandStreams(Pipe(), drop, drop, TerminalSize()))
    assert (await connect(connected, "p/exec?command=x&stdout=1", V4)).status == 500


async def test_old_api_servers_do_not_know_what_came_later(connected: Api) -> None:
    """Given a release before version 5 and tunnels / when a client offers them / then it gets what
    was there, or a refusal.
    """
    connected.server.cluster.gate = lambda _: False
    path = "p/exec?command=x&stdout=1"
    response = await connect(connected, path, V5, V4)
    assert response.session is not None
    assert response.session.protocol == V4
    assert (await connect(connected, path, V5)).status == 403
    assert (await connect(connected, "p/portforward?ports=80", TUNNEL)).status == 403


async def test_a_node_without_a_kubelet_cannot_be_reached(connected: Api) -> None:
    """Given a cluster without a kubelet / when anybody connects / then the API server says that it
    reached nobody.
    """
    connected.server.nodes = NoNodes()
    for path in ("p/exec?command=x&stdout=1", "p/attach?stdout=1", "p/portforward?ports=80"):
        response = await connect(connected, path, V5, TUNNEL)
        assert response.status == 500
        assert b"error dialing backend: no agent runs on node n" in response.body
