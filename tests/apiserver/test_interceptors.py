"""Who stands around the answer to a request, and answers that break off."""

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.apiserver.apiserver import Serve
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import CONFIG_MAPS
from fakekube.client.transport import TransportError
from fakekube.endpoints.requestinfo import RequestInfo
from tests.apiserver.conftest import Api


async def test_the_first_interceptor_is_the_outermost(api: Api) -> None:
    """Given two interceptors / when a request comes / then the first sees it first, and the answer
    last; the endpoint answers between.
    """
    seen: list[str] = []

    def named(name: str) -> object:
        async def around(info: RequestInfo, request: Request, serve: Serve) -> Response:
            seen.append(f"{name} {info.verb} {info.resource}")
            response = await serve(info, request)
            seen.append(f"{name} {response.status}")
            return response
        return around

    api.server.interceptors = (named("outer"), named("inner"))  # type: ignore[assignment]  # functions are
    assert (await api("GET", "/api/v1/nodes")).status == 200
    assert seen == ["outer list nodes", "inner list nodes", "inner 200", "outer 200"]


async def test_an_interceptor_refuses_in_the_words_of_a_status(api: Api) -> None:
    """Given an interceptor that raises / when somebody writes / then a Status answers, and nothing
    was written.
    """
    async def refuse(info: RequestInfo, request: Request, serve: Serve) -> Response:
        if info.verb != "create":
            return await serve(info, request)
        info.fault = "no-room"
        raise errors.raw("etcdserver: mvcc: database space exceeded")

    api.server.interceptors = (refuse,)
    refused = await api("POST", "/api/v1/namespaces/t/configmaps", {"metadata": {"name": "a"}})
    assert (refused.status, refused.message) == (500, "etcdserver: mvcc: database space exceeded")
    assert (await api("GET", "/api/v1/namespaces/t/configmaps/a")).status == 404
    assert [entry.fault for entry in api.server.log][-2:] == ["no-room", ""]


@pytest.mark.parametrize(("cut", "words"), [(0, "EOF"), (5, "unexpected EOF")])
async def test_a_client_in_the_process_meets_a_broken_connection(api: Api, cut: int, words: str) -> None:
    """Given an answer that breaks off / when a client in this process asks / then it has no answer,
    whatever was committed.
    """
    async def broken(info: RequestInfo, request: Request, serve: Serve) -> Response:
        response = await serve(info, request) if info.verb == "create" else Response(404)
        response.cut = cut
        return response

    client = Client(InProcess(api.server), user_agent="test")
    api.server.interceptors = (broken,)
    with pytest.raises(TransportError, match=f"^{words}$"):
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
    with pytest.raises(TransportError, match=f"^{words}$"):
        await client.get(CONFIG_MAPS, "nobody", "default", missing_ok=True)
    api.server.interceptors = ()
    assert (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]["name"] == "a"
