"""Calls to webhooks over real TLS: what is sent, and what is said of every kind of failure."""

import asyncio
import base64
from typing import Any

import pytest
from aiohttp import web

from fakekube.composition.webhookposts import WebhookPosts
from fakekube.util.rng import Rng
from fakekube.webhooks.client import CallError, ReviewKind, WebhookClient, url_of
from fakekube.webhooks.services import ServiceResolver
from tests.webhooks.servers import Authority, raw_server

REVIEW = ReviewKind(
    "admission.k8s.io/v1", "AdmissionReview", {("admission.k8s.io/v1beta1", "AdmissionReview"): "v1beta1.AdmissionReview"})
JSON, PARSE = {"Content-Type": "application/json"}, "couldn't get version/kind; json parse error: "
UNMARSHAL = (
    "json: cannot unmarshal {} into Go value of type struct {{ "
    r'APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }}')
SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:74"
TLS = "tls: failed to verify certificate: x509: "
GOOD = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}


class Objects:
    """Services and slices by name."""

    def __init__(self, services: dict[str, Any] | None = None, slices: list[Any] | None = None) -> None:
        self.services, self.slices = services or {}, slices or []

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Any:
        return self.services.get(name)

    def select(self, group: str, resource: str, namespace: str) -> list[Any]:
        return self.slices


async def called(
    config: dict[str, Any], *, seconds: int = 10, known: dict[str, str] | None = None, objects: Objects | None = None,
) -> Any:
    posts = WebhookPosts()
    client = WebhookClient(posts, ServiceResolver(known or {}, objects or Objects(), Rng()))
    try:
        return await client.call(config, {"request": {"uid": "u"}}, timeout_seconds=seconds, expected=REVIEW)
    finally:
        await posts.close()


async def refusal(config: dict[str, Any], **options: Any) -> str:
    with pytest.raises(CallError) as caught:
        await called(config, **options)
    return str(caught.value)


async def test_what_is_sent() -> None:
    """Given a webhook behind HTTPS, when it is called, then path, query and headers are upstream's.
    """
    seen: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request)
        assert await request.json() == {"request": {"uid": "u"}}
        return web.json_response(GOOD)

    authority = Authority()
    async with authority.serve(answer) as url:
        assert await called({"url": f"{url}/a//b/", "caBundle": authority.bundle}, seconds=7) == GOOD
    [request] = seen
    assert (request.method, request.path_qs) == ("POST", "/a/b?timeout=7s")
    told = {name: request.headers[name] for name in ("Accept", "Content-Type", "User-Agent")}
    assert told == {
        "Accept": "application/json, */*", "Content-Type": "application/json", "User-Agent": "kube-apiserver-admission"}


async def test_service_in_the_map() -> None:
    """Given a service whose server the user has named, when its webhook is called, then that server
    is, under the service's name."""
    hosts: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        hosts.append(request.headers["Host"] + request.path_qs)
        return web.json_response(GOOD)

    authority = Authority()
    config = {"service": {"namespace": "shop", "name": "hooks", "path": "/x", "port": 8443}, "caBundle": authority.bundle}
    async with authority.serve(answer, "hooks.shop.svc") as url:
        assert await called(config, known={"shop/hooks": url}) == GOOD
        assert await called(config, known={"shop/hooks": "https://127.0.0.1:1", "shop/hooks:8443": url}) == GOOD
    assert hosts == ["hooks.shop.svc:8443/x?timeout=10s"] * 2


async def test_service_of_the_cluster() -> None:
    """Given a Service with an EndpointSlice, when its webhook is called, then a ready endpoint is.
    """
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(GOOD)

    authority = Authority()
    config = {"service": {"namespace": "shop", "name": "hooks"}, "caBundle": authority.bundle}
    async with authority.serve(answer, "hooks.shop.svc") as url:
        port = int(url.rpartition(":")[2])
        endpoints = [{"addresses": ["127.0.0.9"], "conditions": {"ready": False}}, {"addresses": ["127.0.0.1"]}]
        piece = {"metadata": {"labels": {"kubernetes.io/service-name": "hooks"}}, "ports": [{"name": "https", "port": port}]}
        service = {"spec": {"type": "ClusterIP", "ports": [{"name": "https", "port": 443}]}}
        objects = Objects({"hooks": service}, [{**piece, "endpoints": endpoints}])
        assert await called(config, objects=objects) == GOOD
        empty = Objects({"hooks": service}, [{**piece, "endpoints": []}])
        start = 'Post "https://hooks.shop.svc:443/?timeout=10s": '
        assert await refusal(config, objects=empty) == start + 'no endpoints available for service "hooks"'
        assert await refusal(config) == start + 'service "hooks" not found'
        outside = Objects({"hooks": {"spec": {"type": "Odd"}}})
        assert await refusal(config, objects=outside) == start + 'unsupported service type "Odd"'
        config["service"]["port"] = 1
        assert (await refusal(config, objects=objects)).endswith(': no service port 1 found for service "hooks"')


@pytest.mark.spec("API-163")
@pytest.mark.parametrize(("status", "headers", "body", "text"), [
    (500, {}, b"oh no", 'an error on the server ("oh no") has prevented the request from succeeding'),
    (500, JSON, b"{}",
     'an error on the server ("unknown") has prevented the request from succeeding'),
    (404, {}, b"x", "the server could not find the requested resource"),
    (403, {}, b"not you", "not you"),
    (418, {}, b"", "the server responded with the status code 418 but did not return more information"),
    (400, JSON, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"own words"}',
     "own words"),
    (200, JSON, b"",
     "0-length response with status code: 200 and content type: application/json"),
    (200, {}, b"<html>", PARSE + UNMARSHAL.format("string")),
    (200, {}, b"- a", PARSE + UNMARSHAL.format("array")),
    (200, {}, b"{<html>", PARSE + "invalid character '<' looking for beginning of object key string"),
    (200, {}, b'{"a":' * 20_000, PARSE + "invalid character '{' exceeded max depth"),
    (200, {}, b'{"kind":1}',
     PARSE + "json: cannot unmarshal number into Go struct field .kind of type string"),
    (200, {}, b'{"apiVersion":"admission.k8s.io/v1beta1"}',
     "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"),
    (200, {}, b'{"apiVersion":"a/v1","kind":"B"}',
     f'no kind "B" is registered for version "a/v1" in scheme "{SCHEME}"'),
])
async def test_answers_that_are_no_review(status: int, headers: dict[str, str], body: bytes, text: str) -> None:
    """Given a webhook that answers something else, when it is called, then the error reads as
    upstream's."""
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Content-Type": "text/plain", **headers}, body=body)

    authority = Authority()
    async with authority.serve(answer) as url:
        assert await refusal({"url": url, "caBundle": authority.bundle}) == text


async def test_no_connection() -> None:
    """Given addresses where nobody answers as a webhook does, when they are called, then the error
    is that of Go's client.
    """
    other = Authority()

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(GOOD)

    async def said(url: str, bundle: str = "") -> str:
        text = await refusal({"url": url, "caBundle": bundle or other.bundle})
        start = f'Post "{url}?timeout=10s": '
        assert text.startswith(start)
        return text.removeprefix(start)

    assert await said("https://127.0.0.1:1/x") == "dial tcp 127.0.0.1:1: connect: connection refused"
    assert await said("https://nowhere.invalid/x") == "dial tcp: lookup nowhere.invalid: no such host"
    authority = Authority()
    async with authority.serve(answer) as url:
        unknown = TLS + "certificate signed by unknown authority"
        assert await said(f"{url}/x") == unknown
        assert await said(f"{url}/x".replace("127.0.0.1", "localhost"), authority.bundle) == (
            TLS + "certificate is not valid for any names, but wanted to match localhost")
        broken = base64.b64encode(b"no certificate").decode()
        assert await said(f"{url}/x", broken) == "unable to load root certificates: unable to parse bytes as PEM block"
    async with authority.serve(answer, "hooks.shop.svc", "b.example") as url:
        assert await said(f"{url}/x", authority.bundle) == (
            TLS + "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs")
        assert await said(f"{url}/x".replace("127.0.0.1", "localhost"), authority.bundle) == (
            TLS + "certificate is valid for hooks.shop.svc, b.example, not localhost")
    async with raw_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert await said(f"https://127.0.0.1:{port}/x") == "http: server gave HTTP response to HTTPS client"


async def test_time_is_up() -> None:
    """Given a webhook that never answers, when its time is up, then it is that, whatever the
    cluster's clock says.
    """
    async def answer(request: web.Request) -> web.Response:
        await over.wait()
        return web.Response()

    authority, over = Authority(), asyncio.Event()
    async with authority.serve(answer) as url:
        assert await refusal({"url": url, "caBundle": authority.bundle}, seconds=1) == (
            f'Post "{url}/?timeout=1s": context deadline exceeded')
        over.set()


async def test_connection_that_broke_between_calls() -> None:
    """Given a server that closes connections after each answer without a word, when it is called
    twice, then the second call takes a new one."""
    connections = []

    async def answer(request: web.Request) -> web.Response:
        connections.append(request.transport)
        return web.json_response(GOOD)

    authority, posts = Authority(), WebhookPosts()
    client = WebhookClient(posts, ServiceResolver({}, Objects(), Rng()))
    async with authority.serve(answer) as url:
        for _ in range(2):
            config = {"url": url, "caBundle": authority.bundle}
            assert await client.call(config, b"{}", timeout_seconds=5, expected=REVIEW) == GOOD
            assert connections[-1] is not None
            connections[-1].abort()
    await posts.close()
    assert len(connections) == 2


async def test_asks_to_be_called_again() -> None:
    """Given a webhook that is busy once and says when to come back, when it is called, then it is
    called again."""
    answers = [web.Response(status=503, headers={"Retry-After": "0"}), web.json_response(GOOD)]

    async def answer(request: web.Request) -> web.Response:
        return answers.pop(0)

    authority = Authority()
    async with authority.serve(answer) as url:
        assert await called({"url": url, "caBundle": authority.bundle}) == GOOD
    assert not answers


async def test_huge_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a webhook that answers without end, when it is called, then it is cut off."""
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b" " * (1 << 20))
        except ConnectionError:
            return response

    authority = Authority()
    async with authority.serve(answer) as url:
        text = await refusal({"url": url, "caBundle": authority.bundle})
    assert text.endswith("http: response body is larger than 8388608 bytes")


@pytest.mark.parametrize(("config", "url"), [
    ({"url": "https://a.example"}, "https://a.example/?timeout=3s"),
    ({"url": "https://a.example:1/x/../y"}, "https://a.example:1/y?timeout=3s"),
    ({"url": "https://[::1]:1/a b"}, "https://[::1]:1/a%20b?timeout=3s"),
    ({"service": {"namespace": "n", "name": "s"}}, "https://s.n.svc:443/?timeout=3s"),
    ({"service": {"namespace": "n", "name": "s", "port": 8, "path": "/p/"}}, "https://s.n.svc:8/p?timeout=3s"),
])
def test_url(config: dict[str, Any], url: str) -> None:
    """Given a clientConfig, when its URL is made, then it is the one that upstream calls."""
    assert url_of(config, 3) == url
