"""Conversations on clusters that refuse namespaces or watches, and streams of all namespaces."""

from collections.abc import Callable

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Handler, Request, Response, UserInfo
from fakekube.client.resources import CONFIG_MAPS
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


async def test_a_watch_that_was_refused() -> None:
    """Given a watch that was refused where it was recorded / when the cluster there takes it / then
    the codes differ, and the stream is ended.
    """
    async def refused_watch(cluster: Cluster) -> None:
        with pytest.raises(APIError, match="forbidden"):
            await cluster.client.with_options(user=UserInfo("ann")).watch(CONFIG_MAPS, "default")

    conversation = await recorded(refused_watch, authorization_mode="RBAC", controllers="namespace,serviceaccount")
    async with Cluster(nodes=0, clock="auto", controllers="namespace,serviceaccount") as cluster:
        result = await played(conversation, cluster)
        (difference,) = told(result)
        assert difference.startswith('code: 403 "configmaps is forbidden: ')
        assert difference.endswith(" recorded, 200 there")
        assert [watch.info.path for watch in cluster.apiserver.services.watches if "verify" in watch.info.namespace] == []
