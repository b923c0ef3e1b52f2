"""A cache whose server sends what has no sense waits and lists again; what a handler breaks is
told as the handler's.
"""

import logging
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import PODS
from fakekube.client.transport import TransportError
from tests.runtime import harness as harnesses
from tests.runtime.harness import WEBS

HARNESS: Any = harnesses.harness
WORLD: Any = harnesses.Harness
OBJECT = {"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "b", "uid": "u", "resourceVersion": "9"}}
NONSENSE = "reflector of webs.v1.example.com: webs.v1.example.com: the server sends what is no object"


class Answers:
    """A server that always sends one body."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def handle(self, _: Request) -> Response:
        return Response(200, self.body)


@pytest.mark.parametrize("frame", [
    b"{", b"[]", b"3", b"null", b"{}", b'{"type": "ADDED"}', b'{"type": "ADDED", "object": 3}',
    b'{"type": "MODIFIED", "object": {"kind": "Web"}}', b'{"type": "DELETED", "object": {"metadata": {"name": "b"}}}',
    b'{"object": {"metadata": {"resourceVersion": "3"}}}', b'{"type": "BOOKMARK", "object": {"metadata": {}}}',
    b'{"type": "ADDED", "object": {"metadata": {"name": [], "uid": "u", "resourceVersion": "4"}}}'])
async def test_events_of_a_watch(frame: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Given a cache that watches / when an event has no sense / then that is told once, and the
    cache lists again, and has what is there.
    """
    async with HARNESS() as world:
        informer = world.manager.informers.get(WEBS)
        await world.web("a")
        await world.start()
        (stream,) = world.server.streams
        with caplog.at_level(logging.INFO, "fakekube.cache.reflector"):
            stream.sink.send(Frame(frame))
            await world.driver.settle()
            assert caplog.messages == [NONSENSE]
            assert informer.reflector.last_error == NONSENSE.partition(": ")[2]
            await world.web("c")
            await world.driver.advance(5)
        assert caplog.messages == [NONSENSE]
        assert [each["metadata"]["name"] for each in informer.lister.list()] == ["a", "c"]
        assert informer.reflector.last_error == ""


async def test_an_error_that_a_watch_tells(caplog: pytest.LogCaptureFixture) -> None:
    """Given a cache that watches / when the server tells an error in the watch / then it is told as
    it is, and the cache lists again.
    """
    async with HARNESS() as world:
        informer = world.manager.informers.get(WEBS)
        await world.start()
        status = {"kind": "Status", "code": 500, "reason": "InternalError", "message": "broken"}
        with caplog.at_level(logging.INFO, "fakekube.cache.reflector"):
            world.server.streams[0].sink.send(Frame(orjson.dumps({"type": "ERROR", "object": status})))
            await world.driver.settle()
            assert informer.reflector.last_error == "broken"
            await world.driver.advance(5)
        assert caplog.messages == ["watch of webs.v1.example.com: broken", "reflector of webs.v1.example.com: broken"]
        assert informer.reflector.last_error == ""


@pytest.mark.parametrize("item", [
    {"kind": "Web"}, {"kind": "Web", "metadata": 3}, {"kind": "Web", "metadata": {"name": {}, "uid": "", "resourceVersion": ""}}])
async def test_items_of_a_list(item: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Given a server that lists what is no object / when a cache begins / then that is told, and it
    lists again until there is sense.
    """
    async with HARNESS() as world:
        world.server.objects["webs", "default", "x"] = item
        informer = world.manager.informers.get(WEBS)
        await world.manager.start()
        with caplog.at_level(logging.INFO, "fakekube.cache.reflector"):
            await world.driver.advance(0.5)
            assert caplog.messages == [NONSENSE]
            assert not informer.has_synced
            world.server.objects.clear()
            await world.driver.advance(5)
        assert informer.has_synced
        assert list(informer.lister.list()) == []


@pytest.mark.parametrize("first", [True, False])
async def test_what_a_handler_breaks_is_its_own(first: bool) -> None:
    """Given a handler that breaks on a good object of the list, or of an event / when the object
    comes / then what it raises is raised, and is not taken for nonsense.
    """
    world: Any = WORLD()
    if first:
        await world.web("a")

    def breaks(_: Any) -> None:
        raise KeyError("mine")

    world.manager.informers.get(WEBS).add_handler(breaks)
    await world.manager.start()
    if not first:
        await world.driver.settle()
        await world.web("a")
    with pytest.raises(KeyError, match=r"^'mine'$"):
        await world.driver.settle()
    await world.manager.stop()
    await world.tasks.close()


@pytest.mark.parametrize("body", [b"[]", b"3", b'{"items": 3}', b'{"items": [3]}', b'{"metadata": [1], "items": []}'])
async def test_lists_that_are_none(body: bytes) -> None:
    """Given a server whose list is none / when a client lists / then that is said of the resource.
    """
    with pytest.raises(TransportError) as failed:
        await Client(InProcess(Answers(body))).list(PODS)
    assert str(failed.value) == "pods: the answer is no list"


async def test_a_watch_that_is_none() -> None:
    """Given a server that answers a watch at once / when a client watches / then that is said."""
    with pytest.raises(TransportError) as failed:
        await Client(InProcess(Answers(b"{}"))).watch(PODS)
    assert str(failed.value) == "pods: the answer to a watch is no stream"
