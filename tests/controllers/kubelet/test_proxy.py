"""Proxies to pods, services and nodes: HTTP to whatever ``on_connect`` serves."""

import aiohttp
import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.client.resources import PODS, SERVICES
from fakekube.composition.cluster import Cluster

POD = "/api/v1/namespaces/default/pods"
SERVICE = "/api/v1/namespaces/default/services"


async def serve(connection):
    """An HTTP server on port 80, and one on 81 that misbehaves as its path says."""
    if connection.port not in (80, 81, 443):
        return False
    head = []
    while line := (await connection.read_line()).strip():
        head.append(line.decode())
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
    body = b""
    while len(body) < int(headers.get("content-length", 0)):
        body += await connection.read()
    if connection.port == 81:
        await misbehave(connection, path)
        return True
    told = orjson.dumps({"method": method, "path": path, "headers": headers, "body": body.decode(), "on": connection.port})
    answer = b"HTTP/1.1 201 Created\r\nContent-Type: application/x-told\r\nX-Own: yes\r\nContent-Length: %d\r\n\r\n" % len(told)
    await connection.write(answer + (b"" if method == "HEAD" else told))
    await connection.read()  # keeps it open, as servers do
    return True


async def misbehave(connection, path):
    """Answers of all kinds."""
    answers = {
        "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n",
        "/close": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
        "/continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "/moved": b"HTTP/1.1 302 Found\r\nLocation: /elsewhere/\r\nContent-Length: 0\r\n\r\n",
        "/far": b"HTTP/1.1 302 Found\r\nLocation: https://example.com/x\r\nContent-Length: 0\r\n\r\n",
        "/nonsense": b"hello\r\n\r\n", "/number": b"HTTP/1.1 abc OK\r\n\r\n",
        "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "/length": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc", "/header": b"HTTP/1.1 200 OK\r\nhello\r\n\r\n",
        "/cut": b"HTTP/1.1 200 OK\r\nContent-Le", "/chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    }
    if path == "/raise":
        raise RuntimeError("broken")
    if path == "/slow":
        await connection.write(b"HTTP/1.1 200 OK\r\n\r\none ")
        await connection.clock.sleep(60)
        await connection.write(b"two")
    await connection.write(answers.get(path, b""))


@pytest.fixture
async def cluster():
    async with Cluster(nodes=1, clock="auto", on_connect=serve) as cluster:
        await make_pod(cluster, "p")
        await make_pod(cluster, "bare", ports=())
        yield cluster


async def make_pod(cluster, name, ports=(80,), **labels):
    container = {"name": "main", "image": "busybox", "ports": [{"containerPort": port, "name": "web"} for port in ports]}
    metadata = {"name": name, "namespace": "default", "labels": {"app": name, **labels}}
    await cluster.client.create(PODS, {"metadata": metadata, "spec": {"containers": [container]}})

    async def ready():
        conditions = (await cluster.client.get(PODS, name, "default"))["status"].get("conditions") or ()
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    await cluster.run_until(ready)


async def ask(cluster, path, method="GET", body=b"", **headers):
    path, _, query = path.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    asked = {name: [value] for name, _, value in pairs}
    request = Request(method, path, asked, {"host": "here", **headers}, body, peer="10.1.1.1")
    return await cluster.apiserver.handle(request)


async def address(cluster, name="p"):
    return (await cluster.client.get(PODS, name, "default"))["status"]["podIP"]


@pytest.mark.parametrize(("name", "port"), [
    ("p", 80), ("p:80", 80), ("http:p:80", 80), ("https:p:443", 443), ("https:bare:", 443), ("bare", 80), ("p:http", 80)])
async def test_a_request_goes_to_a_pod(cluster, name, port):
    """Given a pod that serves HTTP, when it is asked through its proxy, then it hears all but what
    is the API server's, and what it says comes back.
    """
    answer = await ask(
        cluster, f"{POD}/{name}/proxy/a b/c?x=1%202", "POST", b"hello", authorization=f"Bearer {cluster.token}",
        accept="text/html", **{"x-mine": "1"})
    assert (answer.status, answer.content_type) == (201, "application/x-told")
    assert ("X-Own", "yes") in answer.headers
    told = orjson.loads(answer.body)
    assert (told["method"], told["path"], told["body"], told["on"]) == ("POST", "/a%20b/c?x=1%25202", "hello", port)
    heard = told["headers"]
    assert (heard["host"], heard["x-mine"], heard["x-forwarded-for"]) == ("here", "1", "10.1.1.1")
    assert heard["x-forwarded-uri"].endswith("/proxy/a%20b/c")
    assert "authorization" not in heard


async def test_a_path_without_a_slash_is_led_to_one(cluster):
    """Given a proxy's path with nothing below, when it is read, then 301 leads to the one with a
    slash; other methods go on.
    """
    for method in ("GET", "HEAD"):
        answer = await ask(cluster, f"{POD}/p/proxy?a=b", method)
        assert (answer.status, dict(answer.headers)["Location"], answer.body) == (301, f"{POD}/p/proxy/?a=b", b"")
    assert orjson.loads((await ask(cluster, f"{POD}/p/proxy", "POST")).body)["path"] == "/"
    assert orjson.loads((await ask(cluster, f"{POD}/p/proxy/")).body)["path"] == "/"
    assert orjson.loads((await ask(cluster, f"{POD}/p/proxy/x/")).body)["path"] == "/x/"
    assert (await ask(cluster, f"{POD}/p/proxy/", "HEAD")).body == b""


@pytest.mark.parametrize(("path", "status", "body"), [
    ("/chunks", 200, b"abcde"), ("/close", 200, b"until the end"), ("/continue", 204, b""), ("/moved", 302, b""),
])
async def test_answers_of_all_kinds_come_back(cluster, path, status, body):
    """Given answers whose end is told in each of HTTP's ways, when they are read, then they are
    whole.
    """
    answer = await ask(cluster, f"{POD}/p:81/proxy{path}")
    assert (answer.status, answer.body, answer.stream) == (status, body, None)
    if status == 302:
        assert dict(answer.headers)["Location"] == f"{POD}/p:81/proxy/elsewhere/"
        far = await ask(cluster, f"{POD}/p:81/proxy/far")
        assert dict(far.headers)["Location"] == "https://example.com/x"


BROKEN = "net/http: HTTP/1.x transport connection broken: "


@pytest.mark.parametrize(("name", "status", "text"), [
    ("p:9/proxy/", 503, "error trying to reach service: dial tcp {ip}:9: connect: connection refused"),
    ("p:x/proxy/", 503, "error trying to reach service: dial tcp: lookup tcp/x: unknown port"),
    ("p:70000/proxy/", 503, "error trying to reach service: dial tcp: address 70000: invalid port"),
    ("p:81/proxy/nothing", 503, "error trying to reach service: EOF"),
    ("p:81/proxy/short", 503, "error trying to reach service: unexpected EOF"),
    ("p:81/proxy/nonsense", 503, f'error trying to reach service: {BROKEN}malformed HTTP response "hello"'),
    ("p:81/proxy/number", 503, f'error trying to reach service: {BROKEN}malformed HTTP status code "abc"'),
    ("p:81/proxy/length", 503, f'error trying to reach service: {BROKEN}bad Content-Length "x"'),
    ("p:81/proxy/header", 503, f"error trying to reach service: {BROKEN}malformed MIME header line: hello"),
    ("p:81/proxy/cut", 503, "error trying to reach service: unexpected EOF"),
    ("p:81/proxy/chunk", 503, "error trying to reach service: invalid byte in chunk length"),
    ("p:81/proxy/raise", 503, "error trying to reach service: on_connect raised RuntimeError: broken"),
    ("nope/proxy/", 404, 'pods "nope" not found'),
    ("ftp:p:80/proxy/", 400, 'invalid pod request "ftp:p:80"'),
    ("p/proxy/?dryRun=All", 400, "dryRun is not supported"),
])
async def test_what_goes_wrong_is_told_as_upstream_does(cluster, name, status, text):
    """Given a pod that does not answer as it should, or none, when it is asked, then a Status says
    why.
    """
    answer = await ask(cluster, f"{POD}/{name}")
    assert (answer.status, orjson.loads(answer.body)["message"]) == (status, text.format(ip=await address(cluster)))


async def test_nobody_listens_where_no_callback_does():
    """Given a pod that declares no port, when it is asked, then the connection is refused."""
    async with Cluster(nodes=1, clock="auto") as cluster:
        await make_pod(cluster, "p", ports=())
        answer = await ask(cluster, f"{POD}/p/proxy/")
        assert answer.status == 503
        assert orjson.loads(answer.body)["message"].endswith(f"dial tcp {await address(cluster)}:80: connect: connection refused")


async def test_a_request_goes_to_a_service(cluster):
    """Given a service of one pod, when it is asked by any name of its port, then the pod answers;
    without endpoints none does.
    """
    await cluster.client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {
        "selector": {"app": "p"}, "ports": [{"name": "web", "port": 8080, "targetPort": "web"}]}})
    await cluster.advance(5)
    for name in ("s:web", "s:8080", "http:s:web", "https:s:8080"):
        answer = await ask(cluster, f"{SERVICE}/{name}/proxy/x")
        assert (answer.status, orjson.loads(answer.body)["path"]) == (201, "/x")
    for name, status, text in (
        ("s", 503, 'no endpoints available for service "s"'), ("s:81", 503, 'no service port 81 found for service "s"'),
        ("none", 503, 'no endpoints available for service "none"'), ("none:80", 404, 'services "none" not found'),
    ):
        answer = await ask(cluster, f"{SERVICE}/{name}/proxy/")
        assert (answer.status, orjson.loads(answer.body)["message"]) == (status, text)


async def test_a_kubelet_answers_for_its_node(cluster):
    """Given a node, when its kubelet is asked, then it is well and tells its pods; other ports, and
    a silent node, refuse.
    """
    node = "/api/v1/nodes/node-0/proxy"
    assert (await ask(cluster, f"{node}/healthz")).body == b"ok"
    pods = orjson.loads((await ask(cluster, "/api/v1/nodes/node-0:10250/proxy/pods")).body)
    assert sorted(pod["metadata"]["name"] for pod in pods["items"]) == ["bare", "p"]
    assert (await ask(cluster, f"{node}/else")).status == 404
    assert (await ask(cluster, node)).status == 301
    refused = await ask(cluster, "/api/v1/nodes/node-0:9100/proxy/")
    assert orjson.loads(refused.body)["message"].endswith(":9100: connect: connection refused")
    with pytest.raises(APIError, match='nodes "nope" not found'):
        await cluster.client.request("GET", "/api/v1/nodes/nope/proxy/healthz")
    await cluster.node("node-0").stop_kubelet()
    await cluster.settle()
    assert (await ask(cluster, f"{node}/healthz")).status == 503


async def test_an_answer_that_takes_its_time_is_a_stream_on_the_clusters_clock(cluster):
    """Given a server that writes, and again a minute later, when it is asked over HTTP, then each
    piece comes when it does.
    """
    server = await cluster.serve()
    before = cluster.clock.time()
    async with aiohttp.ClientSession() as http, http.get(f"{server.url}{POD}/p:81/proxy/slow") as answer:
        assert answer.status == 200
        assert await answer.text() == "one two"
    assert cluster.clock.time() - before >= 60
