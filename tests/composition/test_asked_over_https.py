"""The webhooks and the conversions of an add-on, asked over HTTPS as another cluster asks them."""

import base64
import ssl
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import aiohttp
import orjson
import pytest
import trustme

from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.http import Request, Response
from fakekube.composition import webhookserver
from fakekube.composition.apiserviceserver import APIServiceServer
from fakekube.composition.options import OptionError
from fakekube.composition.webhookserver import WebhookServer
from fakekube.runtime.addon import AggregatedAPI, Webhook

KIND = {"group": "g", "version": "v", "kind": "K"}
ASKED = {"uid": "u", "kind": KIND, "resource": {"resource": "ks"}, "operation": "CREATE", "object": {"x": 1}}


class Client:
    """Takes what is written."""

    async def apply(self, _: Any) -> None:
        """It is there."""

    async def delete(self, *_: Any, missing_ok: bool) -> None:
        """It is gone."""


def refuse(request: AdmissionRequest) -> None:
    raise Denied(f"not {request.operation}", code=403)


def add(request: AdmissionRequest) -> None:
    request.object["y"] = 2


def convert(obj: Any, wanted: str) -> Any:
    return {"apiVersion": wanted, "half": obj["size"] / 2}


@pytest.fixture
async def ask() -> AsyncIterator[Any]:
    """Posts to a server of two webhooks and a conversion; the status, and the body as a tree or a
    text.
    """
    hooks = [Webhook(refuse, ("pods",)), Webhook(add, ("pods",), mutating=True, name="add.x.dev")]
    async with WebhookServer(
        cast("Any", Client()), hooks, {"ws.x.dev": convert}, find=lambda _: None, host="127.0.0.1",
    ) as server:
        config = server.conversion("ws.x.dev")
        trust = ssl.create_default_context(cadata=base64.b64decode(config["caBundle"]).decode())
        async with aiohttp.ClientSession() as session:
            async def post(path: str, body: Any) -> tuple[int, Any]:
                url = config["url"].removesuffix("/convert/ws.x.dev") + path
                data = body if isinstance(body, bytes) else orjson.dumps(body)
                async with session.post(url, data=data, ssl=trust) as answer:
                    text = await answer.read()
                    return answer.status, orjson.loads(text) if answer.content_type == "application/json" else text.decode()

            yield post


def review(request: Any) -> dict[str, Any]:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


@pytest.mark.parametrize(("path", "response"), [
    ("/refuse", {"uid": "u", "allowed": False, "status": {"message": "not CREATE", "code": 403}}),
    ("/add.x.dev", {"uid": "u", "allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(
        b'[{"op":"add","path":"/y","value":2}]').decode()})])
async def test_an_admission_review(ask: Any, path: str, response: Any) -> None:
    """Given webhooks / when a review is posted to one / then it is answered with a review of the
    same version that has what the function decided.
    """
    assert await ask(path, review(ASKED)) == (
        200, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", {}, {"request": ASKED}, review(None), review({}),
    review({**ASKED, "kind": "K"}), review({name: value for name, value in ASKED.items() if name != "uid"})])
async def test_what_is_no_review(ask: Any, body: Any) -> None:
    """Given a body that is no review / when it is posted / then that is said, as a bad request."""
    assert await ask("/refuse", body) == (400, "no AdmissionReview")


@pytest.mark.parametrize("path", ["/other", "/convert/ws.y.dev", "/convert/ws.x.dev/more", "/refuse/more"])
async def test_where_nobody_answers(ask: Any, path: str) -> None:
    """Given a path that leads to no function / when something is posted there / then it is 404."""
    assert await ask(path, review(ASKED)) == (404, "404: Not Found")


def conversion(objects: Any, **more: Any) -> dict[str, Any]:
    request = {"uid": "u", "desiredAPIVersion": "x.dev/v2", "objects": objects, **more}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


@pytest.mark.parametrize(("objects", "response"), [
    ([], {"uid": "u", "convertedObjects": [], "result": {"status": "Success"}}),
    ([{"size": 4}, {"size": 1}], {
        "uid": "u", "convertedObjects": [{"apiVersion": "x.dev/v2", "half": 2.0}, {"apiVersion": "x.dev/v2", "half": 0.5}],
        "result": {"status": "Success"}}),
    ([{"size": 4}, {}], {"uid": "u", "result": {"status": "Failure", "message": "KeyError: 'size'"}}),
    ([{"size": None}], {"uid": "u", "result": {
        "status": "Failure", "message": "TypeError: unsupported operand type(s) for /: 'NoneType' and 'int'"}})])
async def test_a_conversion(ask: Any, objects: Any, response: Any) -> None:
    """Given a conversion / when objects are posted / then all come back converted, or it is told
    why one of them is none that the function knows.
    """
    assert await ask("/convert/ws.x.dev", conversion(objects)) == (
        200, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response})


@pytest.mark.parametrize("body", [b"", b"[]", {}, {"request": None}, {"request": {"uid": "u", "objects": []}},
    {"request": {"uid": "u", "desiredAPIVersion": "x.dev/v2"}},
    {"apiVersion": "v1", "kind": "K", "request": {"uid": "u", "objects": []}},
    {"request": {"uid": "u", "objects": [], "desiredAPIVersion": "x.dev/v2"}}])
async def test_what_is_no_conversion(ask: Any, body: Any) -> None:
    """Given a body that asks for no conversion / when it is posted / then that is said."""
    assert await ask("/convert/ws.x.dev", body) == (400, "no ConversionReview")


def test_servers_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an installation without trustme / when webhooks are to be served / then the extra is
    named.
    """
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(OptionError) as refused:
        webhookserver.certificate("127.0.0.1")
    assert str(refused.value) == "what a cluster asks needs the extra tls: pip install 'fakekube[tls]'"


async def test_apis_ask_for_certificates_of_the_front_proxy() -> None:
    """Given a cluster that publishes the authority of its front proxy / when an API is served /
    then who has a certificate of it is answered, and who has none is refused.
    """
    authority = trustme.CA()

    class Publishing(Client):
        async def get(self, *_: Any, missing_ok: bool) -> Any:
            return {"data": {"requestheader-client-ca-file": authority.cert_pem.bytes().decode()}}

    class Answers:
        async def handle(self, _: Request) -> Response:
            return Response(200, b"answered")

    api = AggregatedAPI("v1.x.dev", Answers())
    async with APIServiceServer(cast("Any", Publishing()), [api], lambda _: None, host="127.0.0.1") as served:
        assert served._server is not None
        url = f"https://127.0.0.1:{served._server.port}/apis/x.dev/v1"
        bundle = base64.b64decode(served._bundle).decode()
        without, having = ssl.create_default_context(cadata=bundle), ssl.create_default_context(cadata=bundle)
        authority.issue_cert("front-proxy").configure_cert(having)
        async with aiohttp.ClientSession() as session:
            async with session.get(url, ssl=having) as answer:
                assert (answer.status, await answer.read()) == (200, b"answered")
            with pytest.raises(aiohttp.ClientError):
                await session.get(url, ssl=without)
