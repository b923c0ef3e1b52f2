"""Whether a server answers, and what of a request and of its answer is passed on."""

from typing import Any

import pytest

from fakekube.aggregator.availability import Condition, condition_of
from fakekube.aggregator.remote import Remote, ServiceRef, service_of
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.webhooks.services import Endpoint
from fakekube.webhooks.transport import NoAnswer
from tests.aggregator.parts import OneServer, handled, reached

URL = "https://it.handlers.fakekube.invalid:443/apis/g.example/v1"


class Objects:
    """A service and slices."""

    def __init__(self, service: Any = None, *slices: Any) -> None:
        self.service, self.slices = service, slices

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Any:
        return self.service if (group, resource, namespace, name) == ("", "services", "n", "s") else None

    def select(self, group: str, resource: str, namespace: str) -> list[Any]:
        return list(self.slices)


def service(type_: str = "ClusterIP", port: int = 8443, **more: str) -> Any:
    return {"spec": {"type": type_, "ports": [{"port": 1}, {"port": port, **more}]}}


def piece(*ready: bool | None, name: str = "", port: Any = 9, of: str = "s") -> Any:
    endpoints = [{"addresses": ["10.0.0.1"], **({} if each is None else {"conditions": {"ready": each}})} for each in ready]
    return {
        "metadata": {"labels": {"kubernetes.io/service-name": of}}, "endpoints": endpoints,
        "ports": [{"name": name, "port": port}]}


PASSED = Condition("True", "Passed", "all checks passed")
MISSING = 'endpointslices for service/s in "n" have no addresses with port name "{}"'


@pytest.mark.parametrize(("objects", "condition"), [
    (Objects(), Condition("False", "ServiceNotFound", 'service/s in "n" is not present')),
    (Objects(service("ExternalName")), PASSED),
    (Objects(service(port=2)), Condition("False", "ServicePortError", 'service/s in "n" is not listening on port 8443')),
    (Objects(service()), Condition("False", "EndpointsNotFound", 'cannot find endpointslices for service/s in "n"')),
    (Objects(service(), piece(True, of="t")),
     Condition("False", "EndpointsNotFound", 'cannot find endpointslices for service/s in "n"')),
    *((Objects(service(), each), Condition("False", "MissingEndpoints", MISSING.format(""))) for each in (
        piece(), piece(False, False), piece(True, name="x"), piece(True, port=None))),
    (Objects(service(name="p"), piece(True)), Condition("False", "MissingEndpoints", MISSING.format("p"))),
    (Objects(service(name="p"), piece(False), piece(False, None, name="p")), PASSED), (Objects(service(), piece(True)), PASSED),
])
async def test_what_is_wrong_with_a_service(objects: Objects, condition: Condition) -> None:
    """Given services and slices, when the condition is asked for, then what is wrong is told
    without asking anybody; where somebody has said where it listens, it does not count.
    """
    server = OneServer(sent=Response(200))
    assert await condition_of(reached(server), server, objects) == condition  # type: ignore[arg-type]
    assert len(server.calls) == (1 if condition == PASSED else 0)
    server.mapped = True
    assert await condition_of(reached(server), server, Objects()) == PASSED  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "problem"), [
    (Response(200), ""), (Response(299), ""), (Response(300), f"bad status from {URL}: 300"),
    (Response(199), f"bad status from {URL}: 199"), (NoAnswer("no route"), f'Get "{URL}": no route'),
    (TimeoutError(), f'Get "{URL}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'),
])
async def test_what_is_wrong_with_an_answer(answer: Any, problem: str) -> None:
    """Given answers of all sorts, when a server is asked, then the condition says which it was."""
    server = OneServer()
    server.pages["/apis/g.example/v1"] = answer
    message = f"failing or missing response from {URL}: {problem}"
    assert await condition_of(handled(server), server, Objects()) == (  # type: ignore[arg-type]
        Condition("False", "FailedDiscoveryCheck", message) if problem else PASSED)
    [asked] = server.asked
    assert (asked.method, asked.headers, asked.user) == (
        "GET", {"user-agent": "Go-http-client/1.1"}, UserInfo("system:kube-aggregator", ("system:masters",)))


async def test_where_nobody_listens() -> None:
    """Given a service that leads nowhere, and a Handler that is not there, then the condition says
    so.
    """
    server = OneServer()
    server.mapped, server.endpoint = True, None
    assert await condition_of(reached(server), server, Objects()) == (  # type: ignore[arg-type]
        Condition("False", "FailedDiscoveryCheck", "nobody there"))
    other = URL.replace("it.", "gone.")
    assert await condition_of(handled(server, name="gone"), server, Objects()) == (  # type: ignore[arg-type]
        Condition("False", "FailedDiscoveryCheck", (
            f'failing or missing response from {other}: Get "{other}": no handler gone is registered')))


def test_names_of_a_version() -> None:
    """Given versions of a group and of none, then paths, names and URLs are upstream's."""
    server = OneServer()
    remote, core = reached(server), Remote("", "v1", ServiceRef("n", "s", 1, b"", False), server, sends_uid=True)
    assert (remote.name, remote.path, remote.document_name) == ("v1.g.example", "/apis/g.example/v1", "apis/g.example/v1")
    assert (core.path, core.document_name) == ("/api/v1", "api/v1")
    assert (remote.is_handler, handled(server).is_handler) == (False, True)
    assert (remote.url("/x"), handled(server).url("/x")) == (
        "https://10.0.0.1:443/x", "https://it.handlers.fakekube.invalid:443/x")
    server.endpoint = Endpoint("h:1", True)
    assert remote.url("/x") == "http://h:1/x"
    spec = {"service": {"namespace": "n", "name": "s", "port": 8}, "caBundle": "Y2E=", "insecureSkipTLSVerify": True}
    assert service_of(spec) == ServiceRef("n", "s", 8, b"ca", True)
    assert service_of({"service": {}}) == ServiceRef("", "", 443, b"", False)


KEPT_BACK = ["accept-encoding", "authorization", "connection", "content-length", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-host",
    "x-forwarded-proto", "impersonate-user", "x-remote-user", "x-remote-group"]
USER = UserInfo("ann", ("a", "b"), "u-1", {"b/ü": ("2",), "a": ("1", "3")})


async def test_what_is_sent() -> None:
    """Given a client's request, when it is passed on, then what is for this server alone stays, and
    the server is told of the user, the client and the path.
    """
    server = OneServer(sent=Response(200, b"x", "a/b"))
    headers = {**dict.fromkeys(KEPT_BACK, "secret"), "accept": "a/b", "x-my-header": "1", "x-forwarded-for": "1.1.1.1, 2.2.2.2"}
    request = Request(
        "PUT", "/apis/g.example/v1/a b", query={"z": ["1"], "a": ["2", "3"]}, headers=headers, body=b"body", user=USER,
        peer="3.3.3.3")
    await reached(server).pass_on(request, streams=True)
    [call] = server.calls
    assert call.headers == [
        ("Accept", "a/b"), ("X-My-Header", "1"), ("X-Forwarded-For", "1.1.1.1, 2.2.2.2, 3.3.3.3"),
        ("X-Forwarded-Host", "10.0.0.1:443"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Uri", "/apis/g.example/v1/a%20b"),
        ("X-Remote-User", "ann"), ("X-Remote-Uid", "u-1"), ("X-Remote-Group", "a"), ("X-Remote-Group", "b"),
        ("X-Remote-Extra-a", "1"), ("X-Remote-Extra-a", "3"), ("X-Remote-Extra-b%2F%C3%BC", "2")]
    assert (call.method, call.url, call.body) == ("PUT", "https://10.0.0.1:443/apis/g.example/v1/a%20b?a=2&a=3&z=1", b"body")
    assert (call.server_name, call.ca_bundle, call.is_insecure, call.streams) == ("s.n.svc", b"ca", True, True)
    await reached(server, sends_uid=False).pass_on(Request("GET", "/x", user=USER), streams=False)
    assert ("X-Remote-Uid", "u-1") not in server.calls[1].headers
    assert server.calls[1].headers[0] == ("X-Forwarded-For", "127.0.0.1")
    assert (server.calls[1].url, server.calls[1].streams) == ("https://10.0.0.1:443/x", False)


@pytest.mark.parametrize(("hops", "passes"), [(15, True), (16, False)])
async def test_a_circle_of_proxies(hops: int, passes: bool) -> None:
    """Given a request that has come through many proxies, then after sixteen it goes no further."""
    server = OneServer(sent=Response(200))
    request = Request("GET", "/x", headers={"x-forwarded-for": ",".join(["1.1.1.1"] * hops)})
    if passes:
        assert (await reached(server).pass_on(request, streams=False)).status == 200
        return
    with pytest.raises(NoAnswer, match=r"^stopped after 16 proxies$"):
        await reached(server).pass_on(request, streams=False)


NOT_PASSED_ON = ["Audit-Id", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Date", "Keep-Alive",
    "Proxy-Authenticate", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Access-Control-Allow-Origin"]


@pytest.mark.parametrize(("status", "headers", "expected"), [
    (200, [], Response(200, b"x", "a/b", [("X-Own", "1"), ("Location", "/y")])),
    (299, [], Response(299, b"x", "a/b", [("X-Own", "1"), ("Location", "/y")])),
    *((status, [], Response(
        502, b"the backend attempted to redirect this request, which is not permitted", "text/plain; charset=utf-8"))
      for status in (300, 399)),
    (400, [], Response(400, b"x", "a/b", [("X-Own", "1"), ("Location", "/y")])),
])
async def test_what_comes_back(status: int, headers: Any, expected: Response) -> None:
    """Given an answer, when it is passed on, then what this server says itself is left out, and no
    redirect is.
    """
    told = [*((name, "x") for name in NOT_PASSED_ON), ("X-Own", "1"), ("Location", "/y"), *headers]
    server = OneServer(sent=Response(status, b"x", "a/b", told))
    found = await reached(server).pass_on(Request("GET", "/x"), streams=False)
    assert (found.status, found.body, found.content_type, found.headers) == (
        expected.status, expected.body, expected.content_type, expected.headers)
