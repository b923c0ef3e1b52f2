"""Logs over WebSocket, as browsers and the conformance tests read them."""

from base64 import b64decode
from collections.abc import AsyncIterator

import aiohttp
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from tests.aiohttp_servers import Http, Serving
from tests.controllers.kubelet.machine import Machine, container

LOG = "/api/v1/namespaces/default/pods/p/log"


@pytest.fixture
async def machine() -> AsyncIterator[Machine]:
    """A node with a pod that has said one thing, and will say another in ten seconds."""
    async with Machine() as machine:
        await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two"))
        await machine.advance(1)
        yield machine


@pytest.fixture
async def http(machine: Machine, aiohttp_client: AiohttpClient) -> Http:
    return await aiohttp_client(Serving(await machine.cluster.serve()))


@pytest.mark.spec("API-136")
@pytest.mark.parametrize("protocols", [(), ("binary.k8s.io",)])
async def test_a_log_comes_as_messages(http: Http, protocols: tuple[str, ...]) -> None:
    """Given a log / when it is asked for over WebSocket / then an empty message says that it is
    there, then it comes as bytes, and the connection is closed well.
    """
    async with http.ws_connect(LOG, protocols=protocols) as socket:
        assert socket.protocol == (protocols[0] if protocols else None)
        assert [message.data async for message in socket] == [b"", b"one\n"]
    assert socket.close_code == 1000


async def test_a_followed_log_comes_as_it_is_written(http: Http, machine: Machine) -> None:
    """Given a log that is followed in base64 / when time passes / then each line is a message of
    text.
    """
    async with http.ws_connect(f"{LOG}?follow=true", protocols=("base64.binary.k8s.io",)) as socket:
        said = [b64decode(await socket.receive_str(timeout=5)) for _ in range(2)]
        await machine.advance(20)
        said += [b64decode(message.data) async for message in socket]
    assert said == [b"", b"one\n", b"two\n"]


@pytest.mark.parametrize(("query", "protocols", "status"), [
    ("", ("v4.channel.k8s.io",), 403), ("?container=nope", (), 400), ("?tailLines=-1", (), 422), ("?previous=true", (), 400)])
async def test_what_is_refused_is_refused_before_the_change(
    http: Http, query: str, protocols: tuple[str, ...], status: int) -> None:
    """Given a protocol for channels, or a request that is wrong / when it comes over WebSocket /
    then it is refused in HTTP.
    """
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await http.ws_connect(LOG + query, protocols=protocols)
    assert caught.value.status == status


@pytest.mark.parametrize("headers", [
    {}, {"Sec-WebSocket-Version": "13"}, {"Sec-WebSocket-Key": "short", "Sec-WebSocket-Version": "13"},
    {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "99"},
])
@pytest.mark.parametrize("path", [LOG, LOG.replace("log", "exec?command=ls&stdout=1")])
async def test_a_broken_handshake_is_a_bad_request(http: Http, path: str, headers: dict[str, str]) -> None:
    """Given an upgrade without what WebSocket needs / when it comes / then it is a 400, for streams
    and sessions alike.
    """
    async with http.get(path, headers={"Connection": "Upgrade", "Upgrade": "websocket", **headers}) as answer:
        assert answer.status == 400
