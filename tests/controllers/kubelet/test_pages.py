"""The page that answers on ports where a server would listen."""

import re
from typing import Any

import orjson
import pytest

from fakekube.client.resources import SERVICES
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kubelet.server import pages
from tests.controllers.kubelet.machine import Machine
from tests.controllers.kubelet.streaming import PortClient, agents
from tests.controllers.kubelet.test_proxy import POD, SERVICE, ask, make_pod

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


def pod(*containers: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "web-0", "namespace": "default"}, "spec": {"containers": list(containers)}}


@pytest.mark.parametrize(("container", "port", "serves"), [
    ({"image": "x", "ports": [{"containerPort": 7}]}, 7, True),
    ({"image": "x", "ports": [{"containerPort": 7, "protocol": "UDP"}]}, 7, False),
    ({"image": "x", "ports": [{"containerPort": 7}]}, 8, False),
    ({"image": "nginx"}, 80, True), ({"image": "nginx"}, 81, False),
    ({"image": "host:5000/library/nginx:1.27@sha256:00"}, 80, True), ({"image": "mynginx"}, 80, False),
    ({"image": "nginx", "command": ["sleep", "1"]}, 80, False),
    ({"image": "nginx", "command": ["sleep", "1"], "ports": [{"containerPort": 80}]}, 80, True),
])
def test_where_a_server_would_listen(container: dict[str, Any], port: int, serves: bool) -> None:
    """Given a container, when a port is looked at, then a declared one and that of a known server's
    image would be served, no other.
    """
    found = pages.container_on(pod(container | {"name": "main"}), port)
    assert (found is not None) is serves


@pytest.fixture
async def web() -> Any:
    """A running pod whose container declares port 80."""
    async with Machine() as machine:
        await machine.run({"name": "main", "image": "busybox", "ports": [{"containerPort": 80}]}, restart_policy="Always")
        await machine.advance(2)
        yield machine


async def says(machine: Any, *sent: bytes, port: int = 80) -> bytes:
    """What comes back from a port until it ends."""
    client = PortClient(port)
    for data in sent:
        client.received.feed(data)
    client.received.end()
    await (await agents(machine).forward(await machine.pod()))(client.streams)
    return bytes(client.sent)


async def test_a_forwarded_port_answers_with_a_page(web: Any) -> None:
    """Given a declared port, when a request is sent to it in pieces, and two on one connection,
    then each is answered by a page that names the pod.
    """
    answer = await says(web, b"G", b"ET ", GET[4:], GET.replace(b"/a", b"/b"))
    first, second = re.findall(rb"HTTP/1\.1 200 .*?on_connect serves another\.</p>\n", answer, re.DOTALL)
    assert b"Hello from p<" in first
    assert b"path /a." in first
    assert b"path /b." in second
    assert b"Content-Length: " in first


@pytest.mark.parametrize(("sent", "begins", "page"), [
    (b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 ", False), (b"GET / HTTP/1.0\r\n\r\n", b"HTTP/1.1 200 ", True),
    (b"POST /<b> HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", b"HTTP/1.1 200 ", True),
    (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx", b"HTTP/1.1 100 ", True),
    (b"GET nonsense\r\n\r\n", b"HTTP/1.1 400 ", False), (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 ", False),
    (b"GET / HTTP/1.1\r\nHo", b"", False), (b"PING\r\n", b"PING\r\n", False), (b"GE", b"GE", False), (b"", b"", False),
])
async def test_what_is_sent_decides_what_comes(web: Any, sent: bytes, begins: bytes, page: bool) -> None:
    """Given a declared port, when requests of all kinds, broken ones, and what is no HTTP are sent,
    then a page, an error or the same comes back; what a client says is escaped.
    """
    answer = await says(web, sent)
    assert answer.startswith(begins)
    assert (b"<h1>" in answer) is page
    assert b"<b>" not in answer
    if not begins.startswith(b"HTTP"):
        assert answer == begins or answer.startswith(b"HTTP/1.1 400 ")


async def test_the_first_lesson_works() -> None:
    """Given a pod of nginx behind a service, without any callback, when pod and service are asked
    through their proxies, then a page comes; a port where nobody would listen refuses.
    """
    async with Cluster(nodes=1, clock="auto") as cluster:
        await make_pod(cluster, "web")
        await cluster.client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {
            "selector": {"app": "web"}, "ports": [{"port": 8080, "targetPort": 80}]}})
        await cluster.advance(5)
        for path in (f"{POD}/web/proxy/x", f"{POD}/web:80/proxy/x", f"{SERVICE}/s:8080/proxy/x"):
            answer = await ask(cluster, path)
            assert (answer.status, answer.content_type) == (200, "text/html; charset=utf-8")
            assert b"Pod default/web, container main (busybox),\nport 80, path /x." in answer.body
        refused = await ask(cluster, f"{POD}/web:81/proxy/")
        assert refused.status == 503
        assert orjson.loads(refused.body)["message"].endswith(":81: connect: connection refused")
