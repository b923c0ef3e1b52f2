"""What a page of another site can make a browser send, byte by byte: none of it reads, none of it
writes.
"""

import asyncio
import json
from urllib.parse import quote

import pytest

from .victim import SECRET, serve

MAPS, SECRETS, CLOCK = "/api/v1/namespaces/default/configmaps", "/api/v1/secrets", "/fakekube/v1/clock"
EXEC = "/api/v1/namespaces/default/pods/p/exec?command=id&stdout=1"
FORWARD = "/api/v1/namespaces/default/pods/p/portforward?ports=80"
EVIL = "http://evil.example"
MAP = json.dumps({"metadata": {"name": "written"}})
POD = json.dumps({"metadata": {"name": "w"}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
ADVANCE = '{"advance": "1h"}'
FORM, TEXT, JSON, MULTIPART = (
    "application/x-www-form-urlencoded", "text/plain", "application/json", "multipart/form-data; boundary=b")
WEBSOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "v5.channel.k8s.io"}
CROSS = {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"}
OLD = {"Referer": f"{EVIL}/"}
"""Of a browser that says nothing else of where a request comes from."""
REBOUND = {"host": "rebound.example"}

REQUESTS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "a form as text": ("POST", MAPS, {**CROSS, "Content-Type": TEXT}, MAP + "="),
    "a form of parts": ("POST", MAPS, {**CROSS, "Content-Type": MULTIPART}, f"--b\r\n\r\n{MAP}\r\n--b--"),
    "a form to the clock": ("POST", f"{CLOCK}?advance=1h", {**CROSS, "Content-Type": FORM}, "a=b"),
    "an empty form to the clock": ("POST", f"{CLOCK}?advance=1h", {**CROSS, "Content-Type": FORM}, ""),
    "a form to the clock of an old browser": ("POST", f"{CLOCK}?advance=1h", {**OLD, "Content-Type": FORM}, "a=b"),
    "an empty form to the clock of an old browser": ("POST", f"{CLOCK}?advance=1h", {**OLD, "Content-Type": FORM}, ""),
    "a form as text to the clock of an old browser": ("POST", CLOCK, {**OLD, "Content-Type": TEXT}, ADVANCE),
    "a form of an old browser": ("POST", MAPS, {**OLD, "Content-Type": FORM}, MAP),
    "a form as text of an old browser": ("POST", MAPS, {**OLD, "Content-Type": TEXT}, MAP),
    "a form of a sandbox": ("POST", MAPS, {"Origin": "null", "Content-Type": TEXT}, MAP),
    "fetch without cors as text": ("POST", MAPS, {**CROSS, "Sec-Fetch-Mode": "no-cors", "Content-Type": TEXT}, MAP),
    "fetch without a type": ("POST", MAPS, {**CROSS, "Sec-Fetch-Mode": "no-cors"}, MAP),
    "fetch without a type, origin alone": ("POST", MAPS, {"Origin": EVIL}, MAP),
    "fetch without a type of a pod": ("POST", "/api/v1/namespaces/default/pods", {"Origin": EVIL}, POD),
    "fetch without a type to the clock": ("POST", CLOCK, {"Origin": EVIL}, ADVANCE),
    "fetch without a body to the clock": ("POST", f"{CLOCK}?advance=1h", {"Origin": EVIL}, ""),
    "fetch with JSON": ("POST", MAPS, {**CROSS, "Content-Type": JSON}, MAP),
    "a question before a fetch": ("OPTIONS", MAPS, {**CROSS, "Access-Control-Request-Method": "POST"}, ""),
    "a deletion": ("DELETE", "/api/v1/namespaces/default/secrets/s", {"Origin": EVIL}, ""),
    "a patch": (
        "PATCH", "/api/v1/namespaces/default/secrets/s", {"Origin": EVIL, "Content-Type": "application/merge-patch+json"},
        '{"data": {"key": null}}'),
    "an image": ("GET", SECRETS, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, ""),
    "a script": ("GET", SECRETS, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script"}, ""),
    "a frame": ("GET", SECRETS, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, ""),
    "fetch to read": ("GET", SECRETS, CROSS, ""),
    "a snapshot": ("GET", "/fakekube/v1/snapshot", CROSS, ""),
    "a watch": ("GET", f"{SECRETS}?watch=true", CROSS, ""),
    "a watch by WebSocket": ("GET", f"{SECRETS}?watch=true", {**WEBSOCKET, "Origin": EVIL}, ""),
    "exec by WebSocket": ("GET", EXEC, {**WEBSOCKET, "Origin": EVIL}, ""),
    "exec by WebSocket of a sandbox": ("GET", EXEC, {**WEBSOCKET, "Origin": "null"}, ""),
    "port-forward by WebSocket": ("GET", FORWARD, {**WEBSOCKET, "Origin": EVIL}, ""),
    "exec by SPDY": ("POST", EXEC, {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "Origin": EVIL}, ""),
    "a rebound name, to read": ("GET", SECRETS, {**REBOUND, "Sec-Fetch-Site": "same-origin"}, ""),
    "a rebound name, to look": ("HEAD", SECRETS, REBOUND, ""),
    "a rebound name, to write": ("POST", MAPS, {
        **REBOUND, "Origin": "http://rebound.example", "Sec-Fetch-Site": "same-origin", "Content-Type": JSON}, MAP),
    "a rebound name, the clock": ("POST", CLOCK, {**REBOUND, "Content-Type": JSON}, ADVANCE),
    "a rebound name, a snapshot": ("GET", "/fakekube/v1/snapshot", REBOUND, ""),
    "a rebound name, exec": ("GET", EXEC, {**REBOUND, **WEBSOCKET, "Origin": "http://rebound.example"}, ""),
    "a name that begins like ours": ("GET", SECRETS, {"host": "localhost.evil.example"}, ""),
    "the address of all addresses": ("POST", MAPS, {"host": "0.0.0.0", "Origin": EVIL}, MAP),
    "smuggled behind a form": ("POST", MAPS, {"Origin": EVIL, "Content-Type": TEXT}, (
        f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(MAP)}\r\n\r\n{MAP}")),
}
"""Method, path, headers (``host`` where it is not the server's address), body."""


async def answers(host: str, port: int, data: bytes) -> bytes:
    """All that a server says to some bytes, until it closes or a last request of our own is
    answered.
    """
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(data + b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    async with asyncio.timeout(10):
        received = await reader.read()
    writer.close()
    return received


@pytest.mark.parametrize("name", REQUESTS)
async def test_pages_of_other_sites_neither_read_nor_write(name: str) -> None:
    """Given a served cluster with a Secret and a running pod / when a page of another site makes a
    browser send a request / then it is refused, nothing of the cluster is in the answer, and
    nothing has changed.
    """
    method, path, headers, body = REQUESTS[name]
    async with serve() as victim:
        host, port = victim.server.url.removeprefix("http://").split(":")
        lines = {"host": f"{host}:{port}", **headers, **({"Content-Length": str(len(body))} if body or method == "POST" else {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        received = await answers(host, int(port), f"{method} {path} HTTP/1.1\r\n{head}\r\n{body}".encode())
        await victim.cluster.settle()
        assert received.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 415 "))
        assert b"Access-Control-Allow" not in received
        assert SECRET.encode() not in received
        assert victim.changes == []


@pytest.mark.parametrize("name", ["fetch without a type", "fetch with JSON", "a deletion", "exec by WebSocket", "fetch to read"])
async def test_an_allowed_page_does(name: str) -> None:
    """Given a cluster that lets a site in / when its page sends the same / then it reads, or it
    writes.
    """
    method, path, headers, body = REQUESTS[name]
    async with serve(allow_origin=EVIL) as victim:
        host, port = victim.server.url.removeprefix("http://").split(":")
        lines = {"host": f"{host}:{port}", **headers, **({"Content-Length": str(len(body))} if body else {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        received = await answers(host, int(port), f"{method} {path} HTTP/1.1\r\n{head}\r\n{body}".encode())
        assert victim.changes != [] or SECRET.encode() in received


@pytest.mark.parametrize("text", [f"advance={quote('1h')}", "paused=true"])
async def test_a_query_alone_is_a_programs(text: str) -> None:
    """Given curl, which sends no Content-Type without a body / when it moves the clock by a query /
    then it is let.
    """
    async with serve() as victim:
        host, port = victim.server.url.removeprefix("http://").split(":")
        received = await answers(host, int(port), f"POST {CLOCK}?{text} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert b'"kind":"Clock"' in received
