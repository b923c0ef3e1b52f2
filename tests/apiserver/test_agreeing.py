"""Protocols that are agreed upon, names and paths of proxies, options of logs, and the version."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.ports import PortAnswer
from fakekube.apiserver import podlog, proxy, upgrade, version
from fakekube.apiserver.nodeproxy import LogOptions
from fakekube.endpoints.requestinfo import RequestInfo

WEBSOCKET = {"connection": "keep-alive, Upgrade", "upgrade": "WebSocket"}
SPDY = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}
CHANNELS, PORTS = ("", "channel.k8s.io", "v4.channel.k8s.io"), ("v4.channel.k8s.io", "channel.k8s.io")
TOKEN = "base64url.bearer.authorization.k8s.io.YQ"


def chosen(headers: dict[str, str], first: str = "v5.channel.k8s.io") -> upgrade.Chosen | Response:
    try:
        return upgrade.choose(Request("GET", "/", headers=headers), channels=CHANNELS, first=first, spdy=PORTS)
    except upgrade.Refused as refused:
        return refused.response


@pytest.mark.parametrize(("offered", "first", "protocol"), [
    (None, "v5.channel.k8s.io", ""), (TOKEN, "", ""), (f"{TOKEN}, v4.channel.k8s.io", "", "v4.channel.k8s.io"),
    ("v4.channel.k8s.io, v5.channel.k8s.io", "v5.channel.k8s.io", "v5.channel.k8s.io"),
    ("v5.channel.k8s.io,channel.k8s.io", "", "channel.k8s.io"), ("other, v4.channel.k8s.io", "x", "v4.channel.k8s.io"),
    ("other", "v5.channel.k8s.io", None),
])
def test_sub_protocols_of_websockets(offered: str | None, first: str, protocol: str | None) -> None:
    """Given what a WebSocket client offers / then the preferred one is spoken, else the first that
    is known, else 403 without a body.
    """
    headers = WEBSOCKET if offered is None else {**WEBSOCKET, "sec-websocket-protocol": offered}
    found = chosen(headers, first)
    if protocol is None:
        assert isinstance(found, Response)
        assert (found.status, found.body, found.content_type) == (403, b"", "")
        return
    assert found == upgrade.Chosen(protocol)
    assert isinstance(found, upgrade.Chosen)
    assert (found.response().status, found.response().headers) == (101, [])
    assert upgrade.offers(Request("GET", "/", headers=headers), protocol) is bool(protocol)


@pytest.mark.parametrize(("headers", "status", "text"), [
    (SPDY, 400, "header X-Stream-Protocol-Version does not exist in request with 2 headers"),
    ({**SPDY, "x-stream-protocol-version": " ,"}, 400, "header X-Stream-Protocol-Version contains [ ,], but no valid protocols"),
    ({**SPDY, "x-stream-protocol-version": "a, b"}, 403,
     "unable to negotiate protocol: client supports [a b], server accepts [v4.channel.k8s.io channel.k8s.io]"),
    ({"connection": "upgrade", "x-stream-protocol-version": "channel.k8s.io"}, 400, "missing upgrade headers in request"),
])
def test_spdy_that_cannot_be_spoken(headers: dict[str, str], status: int, text: str) -> None:
    """Given an old client whose headers say too little / then it is told in upstream's words."""
    found = chosen(headers)
    assert isinstance(found, Response)
    assert (found.status, found.body, found.content_type) == (
        status, f"unable to upgrade: {text}\n".encode(), "text/plain; charset=utf-8")
    accepted = [("X-Accepted-Stream-Protocol-Versions", name) for name in PORTS]
    assert found.headers == (accepted if status == 403 else [])


def test_spdy_that_is_agreed_upon() -> None:
    """Given an old client / then the first protocol that is known is told in the head of the 101;
    who asks for no upgrade gets 400.
    """
    found = chosen({**SPDY, "x-stream-protocol-version": "other, channel.k8s.io,v4.channel.k8s.io"})
    assert found == upgrade.Chosen("channel.k8s.io", spdy=True)
    assert isinstance(found, upgrade.Chosen)
    assert (found.response().status, found.response().headers) == (101, [
        ("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1"), ("X-Stream-Protocol-Version", "channel.k8s.io")])
    upgrade.check(Request("GET", "/", headers=SPDY))
    with pytest.raises(APIError, match="Upgrade request required"):
        upgrade.check(Request("GET", "/", headers={"connection": "close"}))
    assert not upgrade.wants_websocket(Request("GET", "/", headers={"upgrade": "websocket"}))
    assert not upgrade.wants_websocket(Request("GET", "/", headers={"connection": "upgrade", "upgrade": "h2c"}))


def test_what_each_side_knows() -> None:
    """Given commands, ports and logs / then the protocols are upstream's, in its order."""
    assert upgrade.COMMAND_CHANNELS == (
        "", "channel.k8s.io", "base64.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
    assert upgrade.COMMAND_SPDY == ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
    assert upgrade.PORT_CHANNELS == ("", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
    assert (upgrade.PORT_SPDY, upgrade.TUNNEL) == (("portforward.k8s.io",), "SPDY/3.1+portforward.k8s.io")
    assert (upgrade.LOG_CHANNELS, upgrade.V5) == (("", "binary.k8s.io", "base64.binary.k8s.io"), "v5.channel.k8s.io")


def failed(function: Any, *args: Any) -> Any:
    """What comes back, or code and text of the error."""
    try:
        return function(*args)
    except APIError as error:
        return error.code, error.message


@pytest.mark.parametrize(("text", "target"), [
    ("a", proxy.Target("", "a", "")), ("a:80", proxy.Target("", "a", "80")), ("http:a:", proxy.Target("http", "a", "")),
    ("https:a:web", proxy.Target("https", "a", "web")), (":a:1", proxy.Target("", "a", "1")),
    *((text, (400, f'invalid pod request "{text}"')) for text in ("", ":80", "ftp:a:1", "https::1", "a:b:c:d")),
])
def test_whom_a_name_means(text: str, target: Any) -> None:
    """Given names of proxies / then they are read as scheme, name and port, or refused."""
    assert failed(proxy._target, text, "pod") == target


UNREACHABLE = "error trying to reach service: "


@pytest.mark.parametrize(("scheme", "port", "number"), [
    ("", "", 80), ("http", "", 80), ("https", "", 443), ("", "1", 1), ("", "65535", 65535), ("", "http", 80), ("", "https", 443),
    ("", "65536", (503, f"{UNREACHABLE}dial tcp: address 65536: invalid port")),
    ("", "web", (503, f"{UNREACHABLE}dial tcp: lookup tcp/web: unknown port")),
])
def test_which_port_is_meant(scheme: str, port: str, number: Any) -> None:
    """Given ports by number, by name and none / then a number comes of it, or 503."""
    assert failed(proxy._number, scheme, port) == number


@pytest.mark.parametrize(("address", "allowed"), [
    ("10.0.0.1", True), ("fd00::1", True), ("127.0.0.1", False), ("::1", False), ("169.254.1.1", False), ("fe80::1", False),
    ("224.0.0.1", False), ("ff02::1", False), ("0.0.0.0", False), ("::", False), ("", False), ("web", False)])
def test_which_addresses_are_asked(address: str, allowed: bool) -> None:
    """Given addresses / then those of the machine itself and of groups are not asked."""
    assert proxy._is_allowed(address) is allowed


def info(path: str) -> RequestInfo:
    found = RequestInfo(path, "get")
    found.parts = path.split("/")
    return found


@pytest.mark.parametrize(("below", "slash", "path"), [
    ("", False, ""), ("", True, "/"), ("a", False, "/a"), ("a/b", True, "/a/b/"), ("a/../b", False, "/b"),
    ("a//b", False, "/a/b")])
def test_what_follows_a_proxys_name(below: str, slash: bool, path: str) -> None:
    """Given paths below a proxy / then they are cleaned, and a slash at the end stays."""
    whole = f"pods/p/proxy/{below}" if below else "pods/p/proxy"
    assert proxy._path_below(info(whole), Request("GET", f"/x/{whole}{'/' if slash else ''}")) == path


BASE = "/api/v1/namespaces/t/pods/p/proxy"


@pytest.mark.parametrize(("location", "moved"), [
    ("/b?c=d#e", f"{BASE}/b?c=d#e"), ("http://10.0.0.1/b", f"{BASE}/b"), ("http://10.0.0.1:81/b", f"{BASE}/b"),
    ("http://here.example/b", f"{BASE}/b"), (f"{BASE}/b", f"{BASE}/b"),
    *((text, text) for text in ("b", "http://other.example/b", "http://10.0.0.2:81/b", "https://10.0.0.1x/b")),
])
def test_where_a_redirect_leads(location: str, moved: str) -> None:
    """Given redirects / then those to the same server go by way of the proxy."""
    request = Request("GET", f"{BASE}/a", headers={"host": "here.example"})
    answer = PortAnswer(302, [("location", location), ("date", "x"), ("keep-alive", "x"), ("content-type", "a/b"),
        ("x-own", "1")], b"b")
    found = proxy._passed_on(answer, "10.0.0.1", "/a", request)
    assert (found.status, found.body, found.content_type) == (302, b"b", "a/b")
    assert found.headers == [("Location", moved), ("X-Own", "1")]


KEPT_BACK = ["authorization", "connection", "content-length", "keep-alive", "proxy-authenticate", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-uri", "impersonate-user"]


@pytest.mark.parametrize(("method", "body", "length"), [
    ("GET", b"", None), ("GET", b"x", "1"), ("POST", b"", "0"), ("PUT", b"", "0"), ("PATCH", b"", "0"), ("DELETE", b"", None)])
def test_what_goes_on_to_a_port(method: str, body: bytes, length: str | None) -> None:
    """Given a request / then what is for this server alone stays, and who asks is told."""
    headers = {**dict.fromkeys(KEPT_BACK, "secret"), "accept-encoding": "gzip", "x-forwarded-for": "1.1.1.1"}
    request = Request(method, f"{BASE}/a b", query={"q": ["1", "2"]}, headers=headers, body=body, peer="2.2.2.2")
    sent = proxy._passed_to("/a b", "10.0.0.1", request)
    assert (sent.method, sent.target, sent.body) == (method, "/a%20b?q=1&q=2", body)
    assert sent.headers == [
        ("Host", "10.0.0.1"), ("Accept-Encoding", "gzip"), ("X-Forwarded-For", "1.1.1.1, 2.2.2.2"),
        ("X-Forwarded-Uri", f"{BASE}/a%20b"), *([] if length is None else [("Content-Length", length)])]
    alone = proxy._passed_to("/", "10.0.0.1", Request("GET", "/x", headers={"host": "h"}))
    assert alone.headers == [("Host", "h"), ("X-Forwarded-Uri", "/x")]


def options(**query: str) -> Any:
    return failed(podlog._options, Request("GET", "/", query={name: [value] for name, value in query.items()}), "p")


@pytest.mark.parametrize(("query", "found"), [
    ({}, LogOptions()), ({"follow": "true", "previous": "1", "timestamps": "true"}, LogOptions(True, True, True)),
    ({"tailLines": "0", "limitBytes": "1", "sinceSeconds": "1"}, LogOptions(tail_lines=0, limit_bytes=1, since_seconds=1)),
    ({"sinceTime": "1970-01-01T00:00:05Z"}, LogOptions(since_time=5.0)),
    ({"tailLines": "-1"}, "tailLines: Invalid value: -1: must be greater than or equal to 0"),
    ({"limitBytes": "0"}, "limitBytes: Invalid value: 0: must be greater than 0"),
    ({"sinceSeconds": "0"}, "sinceSeconds: Invalid value: 0: must be greater than 0"),
    ({"stream": "x"}, "stream: Forbidden: may not be specified"),
    ({"sinceSeconds": "0", "sinceTime": "x"}, "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"),
    ({"tailLines": "-1", "limitBytes": "0"},
     "[tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]"),
])
def test_options_of_logs(query: dict[str, str], found: Any) -> None:
    """Given options / then they are read, or 422 names what is wrong with them."""
    assert options(**query) == ((422, f'PodLogOptions "p" is invalid: {found}') if isinstance(found, str) else found)


SPEC = {"initContainers": [{"name": "i"}], "containers": [{"name": "a"}, {"name": "b"}], "ephemeralContainers": [{"name": "e"}]}


@pytest.mark.parametrize(("spec", "asked", "container"), [
    ({"containers": [{"name": "a"}], "initContainers": [{"name": "i"}]}, "", "a"), *((SPEC, name, name) for name in "iabe"),
    (SPEC, "", (400, "a container name must be specified for pod p, choose one of: [i a b]")),
    (SPEC, "x", (400, "container x is not valid for pod p")),
])
def test_which_container_is_meant(spec: Any, asked: str, container: Any) -> None:
    """Given a pod and a name or none / then one container is meant, or 400 says why not."""
    assert failed(podlog.chosen_container, {"metadata": {"name": "p"}, "spec": spec}, asked) == container


@pytest.mark.parametrize(("release", "more"), [
    ("1.32", {}), ("1.33", {"emulationMajor": "1", "emulationMinor": "33", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "32"}),
    ("1.99", {"emulationMajor": "1", "emulationMinor": "99", "minCompatibilityMajor": "1", "minCompatibilityMinor": "98"})])
def test_the_version(release: str, more: dict[str, str]) -> None:
    """Given releases before and since emulation / then the document says which it is."""
    found = version.info(release)
    assert {name: found[name] for name in found if name not in ("gitVersion", "gitCommit")} == {
        "major": "1", "minor": release.partition(".")[2], **more, "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "go1.26.0", "compiler": "gc", "platform": "linux/amd64"}
    assert found["gitVersion"].rpartition(".")[0] == f"v{release}"
    assert len(found["gitCommit"]) == 40
    if release == "1.99":
        assert found["gitVersion"] == "v1.99.0"


UPGRADING = (501, "upgrading a connection through a proxy is not served")


@pytest.mark.parametrize(("method", "slash", "values", "answer"), [
    ("GET", True, {"headers": SPDY}, UPGRADING),
    ("GET", True, {"headers": {"connection": "keep-alive, UPGRADE"}}, UPGRADING),
    ("GET", True, {"headers": {"connection": "close"}}, None), ("POST", False, {}, None),
    ("GET", False, {"query": {"a b": ["1"]}}, [("Location", f"{BASE}/?a+b=1")]), ("HEAD", False, {}, [("Location", f"{BASE}/")]),
])
def test_how_a_proxy_begins(method: str, slash: bool, values: dict[str, Any], answer: Any) -> None:
    """Given upgrades and paths without a slash / then the first are refused, and who
    reads is led to the path with one.
    """
    request = Request(method, f"{BASE}/" if slash else BASE, **values)
    found = failed(proxy._begin, info("pods/p/proxy"), request)
    assert (found.headers if isinstance(found, Response) else found) == answer
    assert not isinstance(found, Response) or (found.status, found.content_type) == (301, "")
