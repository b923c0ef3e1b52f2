"""Conversations on clusters that refuse namespaces or watches, and streams of all namespaces."""

from collections.abc import Callable

import orjson

from fakekube import Cluster
from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.client.resources import CONFIG_MAPS, PODS
from tests.recording.test_playing import played, recorded, told

NO = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "no room", "code": 507}


class Refusing:
    """Refuses some requests."""

    def __init__(self, handler: Handler, refuses: Callable[[Request], bool], answer: Response) -> None:
        self._handler, self._refuses, self._answer = handler, refuses, answer

    async def handle(self, request: Request) -> Response:
        return self._answer if self._refuses(request) else await self._handler.handle(request)


def refused() -> Response:
    return Response(507, orjson.dumps(NO))


async def watching(cluster: Cluster) -> None:
    """A watch of all namespaces, that sees an object of two."""
    client = cluster.client
    async with await client.watch(CONFIG_MAPS, field_selector="metadata.name=a") as events:
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
        assert (await anext(events)).type == "ADDED"


async def test_a_watch_that_is_refused() -> None:
    """Given a watch / when the cluster there answers it at once / then its code and message are
    what differs.
    """
    conversation = await recorded(watching, controllers="namespace,serviceaccount")
    async with Cluster(nodes=0, clock="auto", controllers="namespace,serviceaccount") as cluster:
        result = await played(conversation, cluster, lambda handler: Refusing(
            handler, lambda request: request.flag("watch"), refused()))
        assert told(result) == ["code: 200 recorded, 507 no room there"]


async def test_a_watch_of_all_namespaces() -> None:
    """Given a watch of all namespaces / when others write there, too / then only what is in our
    namespaces is compared.
    """
    conversation = await recorded(watching, controllers="namespace,serviceaccount")
    async with Cluster(nodes=0, clock="auto", controllers="namespace,serviceaccount") as cluster:
        class Busy(Refusing):
            async def handle(self, request: Request) -> Response:
                if request.method == "POST" and request.path.endswith("/configmaps"):
                    await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
                return await super().handle(request)

        result = await played(conversation, cluster, lambda handler: Busy(handler, lambda _: False, refused()))
        assert told(result) == []


async def test_a_namespace_that_cannot_be_made() -> None:
    """Given a conversation / when the cluster there makes no namespace for it / then that is an
    error which says why.
    """
    conversation = await recorded(watching, controllers="namespace,serviceaccount")
    async with Cluster(nodes=0, clock="auto", controllers="namespace,serviceaccount") as cluster:
        result = await played(conversation, cluster, lambda handler: Refusing(
            handler, lambda request: request.method == "POST" and request.path == "/api/v1/namespaces", refused()))
    assert result.failure == "the namespace fakekube-verify-x0-default could not be made: 507 no room"
    assert (result.outcomes, result.left) == ([], [])


async def test_a_log_that_is_followed() -> None:
    """Given a log that is followed / when it is played / then its stream is ended, and not compared
    with a body.
    """
    async def follow(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        await cluster.advance(5)
        response = await client.request("GET", "/api/v1/namespaces/default/pods/p/log", query={"follow": ["true"]})
        assert response.stream is not None
        response.stream.stop()

    conversation = await recorded(follow)
    async with Cluster(nodes=1, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert told(result) == []
