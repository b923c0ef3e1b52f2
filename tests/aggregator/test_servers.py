"""Versions of API groups that a server on a port answers, behind a URL or a Service."""

import asyncio
import base64
import json
from typing import Any

import pytest

from fakekube.aggregator import apiservices, availability, documents
from fakekube.apimachinery.http import Frame, Request
from fakekube.apimachinery.types import Tree
from fakekube.composition import aggregatedservers
from fakekube.composition.cluster import Cluster
from tests.aggregator.servers import API_SERVICES, FISCHER, LIST, NAME, PATH, FishServer
from tests.aggregator.test_handlers import ask, available, read, row
from tests.apiserver.conftest import Receiver

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "fish", "namespace": "sea"}}
SEA = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sea"}}


class Awaited(Receiver):
    """Says when it has so many events, or the end."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.reached, self._count = asyncio.Event(), count

    def send(self, frame: Frame) -> None:
        super().send(frame)
        if len(self.events) == self._count:
            self.reached.set()

    def end(self) -> None:
        super().end()
        self.reached.set()


def apiservice(**fields: Any) -> Tree:
    spec = {"group": "wardle.dev", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10,
            "service": {"namespace": "sea", "name": "fish"}}
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": NAME}, "spec": spec | fields}


def slice_of(name: str, **fields: Any) -> Tree:
    labels = {"kubernetes.io/service-name": "fish"}
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": {
        "name": name, "namespace": "sea", "labels": labels}, "endpoints": [], "ports": []} | fields


async def test_a_server_behind_a_service() -> None:
    """Given a server over HTTPS and a map that says where its service listens / when an APIService
    with its authority names the service / then requests, watches and documents come from there, and
    it is told who asks.
    """
    async with FishServer() as server, Cluster(controllers="", webhook_services={"sea/fish": server.url}) as cluster:
        await cluster.load([apiservice(caBundle=base64.b64encode(server.ca_bundle).decode())])
        await cluster.settle()
        assert await available(cluster) == ("True", "Passed", "all checks passed")
        assert (await row(cluster))[0]["resources"][0]["resource"] == "fischers"
        request = Request("GET", f"{PATH}/fischers", {"b": ["2"], "a": ["1", " x"]}, {
            "accept": "application/json", "x-remote-group": "evil", "impersonate-user": "robin", "impersonate-uid": "u",
            "impersonate-group": "g", "impersonate-extra-scopes%2fa": "read", "authorization": f"Bearer {cluster.token}"})
        answer = await cluster.apiserver.handle(request)
        assert (answer.status, json.loads(answer.body)) == (200, LIST)
        method, path, headers, _ = server.asked[-1]
        assert (method, path) == ("GET", f"{PATH}/fischers?a=1&a=+x&b=2")
        assert sorted(each for each in headers if each[0].startswith(("X-Remote", "Auth"))) == [
            ("X-Remote-Extra-scopes%2Fa", "read"), ("X-Remote-Group", "g"),
            ("X-Remote-Group", "system:authenticated"), ("X-Remote-Uid", "u"),
            ("X-Remote-User", "robin")]
        found = dict(headers)
        host = server.url.removeprefix("https://")
        assert (found["Host"], found["X-Forwarded-Host"], found["X-Forwarded-Uri"]) == (host, host, f"{PATH}/fischers")


async def test_a_watch_comes_through() -> None:
    """Given a server that answers a watch over HTTPS / when a client watches / then events come as
    they are sent, and the watch ends with the APIService.
    """
    async with FishServer() as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url, ca_bundle=server.ca_bundle)
        await cluster.settle()
        answer = await cluster.apiserver.handle(Request("GET", f"{PATH}/fischers", {"watch": ["true"]}))
        assert answer.stream is not None
        receiver = Awaited(2)
        answer.stream.start(receiver)
        await asyncio.wait_for(receiver.reached.wait(), 10)
        assert [event["object"]["metadata"]["name"] for event in receiver.events] == ["anna", "bert"]
        await ask(cluster, f"{API_SERVICES}/{NAME}", "DELETE")
        assert receiver.ended


async def test_a_server_that_knows_no_watches() -> None:
    """Given a server that answers a watch like a list, without an end of line / when a client
    watches / then all of it comes.
    """
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        answer = await cluster.apiserver.handle(Request("GET", f"{PATH}/fischers", {"watch": ["true"], "ignored": ["1"]}))
        assert answer.stream is not None
        receiver = Awaited(1)
        answer.stream.start(receiver)
        await asyncio.wait_for(receiver.reached.wait(), 10)
        assert receiver.events == [LIST]


async def test_bodies_and_answers_are_passed_on() -> None:
    """Given a server / when a client posts / then body, status and headers are passed on; a
    redirect is not, and a connection that breaks is 503.
    """
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        answer = await ask(cluster, f"{PATH}/echo", "POST", body=b"hello", content_type="text/plain")
        assert (answer.status, answer.body, dict(answer.headers)["X-Own"]) == (201, b"hello", "1")
        answer = await ask(cluster, f"{PATH}/elsewhere")
        assert answer.status == 502
        answer = await ask(cluster, f"{PATH}/cut")
        assert (answer.status, answer.body) == (503, b"error trying to reach service: EOF\n")
        answer = await ask(cluster, f"{PATH}/namespaces/default/fischers/anna")
        assert json.loads(answer.body) == FISCHER


@pytest.mark.parametrize(("fields", "told"), [
    ({}, "tls: failed to verify certificate: x509: certificate signed by unknown authority"),
    ({"caBundle": "own"}, "tls: failed to verify certificate: x509: certificate is valid for other, not fish.sea.svc"),
    ({"insecureSkipTLSVerify": True}, ""),
])
async def test_certificates_are_looked_at(fields: Tree, told: str) -> None:
    """Given a server with a certificate for another name / when it is checked / then what is wrong
    with the certificate is told as upstream does, unless any will do.
    """
    async with FishServer(names=("other",)) as server, Cluster(
            controllers="", webhook_services={"sea/fish": server.url}) as cluster:
        if "caBundle" in fields:
            fields = {"caBundle": base64.b64encode(server.ca_bundle).decode()}
        await cluster.load([apiservice(**fields)])
        await cluster.settle()
        url = f"{server.url}{PATH}"
        wanted = f'failing or missing response from {url}: Get "{url}": {told}' if told else "all checks passed"
        assert (await available(cluster))[2] == wanted


async def test_the_api_server_shows_who_it_is() -> None:
    """Given a cluster with TLS / when it asks a server that wants a certificate of its authority /
    then it shows one of the name that the ConfigMap for such servers has.
    """
    cluster = Cluster(controllers="", tls=True)
    async with FishServer(asks_certificate=cluster.root_ca) as server, cluster:
        cluster.aggregate(NAME, server.url, ca_bundle=server.ca_bundle)
        await cluster.settle()
        assert (await available(cluster))[0] == "True"
        subject = {key: value for each in server.certificates[-1]["subject"] for key, value in each}
        published = await read(cluster, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")
        assert json.loads(published["data"]["requestheader-allowed-names"]) == [subject["commonName"]]


async def test_what_is_wrong_with_a_service() -> None:
    """Given an APIService / when its service, the port and the endpoints come one after the other /
    then the condition says what is still missing, at once each time.
    """
    async with Cluster(controllers="") as cluster:
        await cluster.load([SEA, apiservice()])
        await cluster.settle()
        assert await available(cluster) == ("False", "ServiceNotFound", 'service/fish in "sea" is not present')
        await cluster.load([SERVICE | {"spec": {"ports": [{"port": 80, "name": "web"}]}}])
        await cluster.settle()
        assert await available(cluster) == (
            "False", "ServicePortError", 'service/fish in "sea" is not listening on port 443')
        ports = [{"port": 80, "name": "web"}, {"port": 443, "name": "https"}]
        await cluster.load([SERVICE | {"spec": {"ports": ports}}])
        await cluster.settle()
        assert await available(cluster) == (
            "False", "EndpointsNotFound", 'cannot find endpointslices for service/fish in "sea"')
        await cluster.load([slice_of("a", ports=[{"port": 1, "name": "https"}])])
        await cluster.settle()
        assert await available(cluster) == (
            "False", "MissingEndpoints", 'endpointslices for service/fish in "sea" have no addresses with port name "https"')
        assert (await ask(cluster, PATH)).body == b"service unavailable\n"


async def test_a_service_of_an_external_name_is_dialled_by_it() -> None:
    """Given a service of type ExternalName / when an APIService names it with a port / then that
    name is called.
    """
    async with FishServer() as server, Cluster(controllers="") as cluster:
        name = {"type": "ExternalName", "externalName": "127.0.0.1"}
        service = {"namespace": "sea", "name": "fish", "port": server.port}
        await cluster.load([SEA, SERVICE | {"spec": name}, apiservice(service=service, insecureSkipTLSVerify=True)])
        await cluster.settle()
        assert await available(cluster) == ("True", "Passed", "all checks passed")


async def test_a_server_that_dies_and_comes_back() -> None:
    """Given a server that is available / when it dies / then requests get 503 with the reason, and
    from the next check on without being tried; when it is back / then it is available again.
    """
    async with Cluster(controllers="") as cluster:
        async with FishServer(plain=True) as server:
            cluster.aggregate(NAME, server.url)
            await cluster.settle()
            assert (await ask(cluster, f"{PATH}/fischers")).status == 200
        refused = f"dial tcp 127.0.0.1:{server.port}: connect: connection refused"
        answer = await ask(cluster, f"{PATH}/fischers")
        assert (answer.status, answer.body) == (503, f"error trying to reach service: {refused}\n".encode())
        await cluster.advance(31)
        url = f"{server.url}{PATH}"
        assert await available(cluster) == (
            "False", "FailedDiscoveryCheck", f'failing or missing response from {url}: Get "{url}": {refused}')
        assert (await ask(cluster, f"{PATH}/fischers")).body == b"service unavailable\n"
        async with FishServer(plain=True, port=server.port):
            await cluster.advance(31)
            assert (await available(cluster))[0] == "True"
            assert (await ask(cluster, f"{PATH}/fischers")).status == 200


async def test_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that does not answer / when it is asked / then 504 after a while of the wall's
    clock; when it is checked / then the condition says so, and other requests are answered
    meanwhile.
    """
    monkeypatch.setattr(availability, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(apiservices, "REQUEST_SECONDS", 0.2)
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        server.stuck |= {f"{PATH}/fischers", PATH}
        answer = await ask(cluster, f"{PATH}/fischers")
        status = json.loads(answer.body)
        assert (answer.status, status["reason"]) == (504, "Timeout")
        assert status["message"] == "Timeout: request did not complete within the allotted timeout"
        task = asyncio.ensure_future(cluster.advance(31))
        await asyncio.sleep(0.05)
        assert (await ask(cluster, "/api/v1/namespaces")).status == 200
        await task
        url = f"{server.url}{PATH}"
        assert (await available(cluster))[2] == (
            f'failing or missing response from {url}: Get "{url}": '
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)")


async def test_a_server_that_hangs_over_its_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that answers at its version and hangs over all that describes it / when it is
    asked / then it is available, discovered by the version's own document, and has no OpenAPI.
    """
    monkeypatch.setattr(documents, "SECONDS", 0.1)
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        server.stuck |= {"/openapi/v2", "/openapi/v3"}
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        assert (await available(cluster))[0] == "True"
        assert (await row(cluster))[0]["freshness"] == "Current"
        assert "apis/wardle.dev/v1" not in (await read(cluster, "/openapi/v3"))["paths"]
        server.stuck |= {"/apis"}
        await cluster.advance(31)
        assert await row(cluster) == [{"version": "v1", "freshness": "Stale"}]


async def test_compressed_answers_are_passed_on_as_they_were_before() -> None:
    """Given a server that compresses / when it is asked / then the client gets what was compressed.
    """
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        answer = await ask(cluster, f"{PATH}/compressed", accept_encoding="gzip")
        assert answer.body == b"fish" * 1000
        assert "content-encoding" not in [name.lower() for name, _ in answer.headers]
        assert "Accept-Encoding" not in dict(server.asked[-1][2])


async def test_nobody_takes_the_group_of_apiservices_from_us() -> None:
    """Given an APIService for the very group of APIServices / when it is there / then it can still
    be deleted.
    """
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate("v1.apiregistration.k8s.io", server.url)
        await cluster.settle()
        path = f"{API_SERVICES}/v1.apiregistration.k8s.io"
        assert (await read(cluster, path))["kind"] == "APIService"
        assert (await ask(cluster, path, "DELETE")).status == 200
        assert (await ask(cluster, path)).status == 404


async def test_a_server_that_speaks_no_http() -> None:
    """Given a port where somebody talks nonsense / when it is checked / then the server is not
    available, and nothing else happens.
    """
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"\x00\xff nonsense\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, f"http://127.0.0.1:{port}")
        await cluster.settle()
        status, reason, message = await available(cluster)
        assert (status, reason) == ("False", "FailedDiscoveryCheck")
        assert "malformed HTTP response" in message


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server whose answer is larger than anybody wants / when it is asked / then 503; a
    watch whose event has no end is ended.
    """
    monkeypatch.setattr(aggregatedservers, "MAX_BODY_BYTES", 1000)
    monkeypatch.setattr(aggregatedservers, "MAX_LINE_BYTES", 10)
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        server.documents[f"{PATH}/fischers"] = b"x" * 2000
        answer = await ask(cluster, f"{PATH}/fischers")
        assert (answer.status, answer.body) == (
            503, b"error trying to reach service: http: response body is larger than 1000 bytes\n")
        server.documents[f"{PATH}/huge"] = b'{"type": "ADDED"'
        answer = await cluster.apiserver.handle(Request("GET", f"{PATH}/huge", {"follow": ["true"]}))
        receiver = Awaited(1)
        assert answer.stream is not None
        answer.stream.start(receiver)
        await asyncio.wait_for(receiver.reached.wait(), 10)
        assert (receiver.ended, receiver.events) == (True, [])


async def test_a_circle_over_sockets_ends() -> None:
    """Given two clusters whose APIServices lead to each other, and say that they are available /
    when one is asked / then 503 before long.
    """
    async with Cluster(controllers="", clock="auto") as one, Cluster(controllers="", clock="auto") as two:
        for cluster, other in ((one, two), (two, one)):
            cluster.aggregate(NAME, (await other.serve()).url)
        for cluster in (one, two):
            found = await read(cluster, f"{API_SERVICES}/{NAME}")
            found["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
            body = json.dumps(found).encode()
            await ask(cluster, f"{API_SERVICES}/{NAME}/status", "PUT", body=body, content_type="application/json")
        answer = await asyncio.wait_for(ask(one, f"{PATH}/fischers"), 30)
        assert answer.status == 503
        assert answer.body in (b"service unavailable\n", b"error trying to reach service: stopped after 16 proxies\n")


async def test_a_connection_is_not_upgraded() -> None:
    """Given a server on a port / when a client wants to upgrade / then 501."""
    async with FishServer(plain=True) as server, Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, server.url)
        await cluster.settle()
        assert (await ask(cluster, f"{PATH}/fischers", connection="Upgrade", upgrade="websocket")).status == 501


async def test_a_snapshot_that_is_taken_over_is_asked_again() -> None:
    """Given a cluster with an APIService of a service / when another one continues from its
    snapshot / then the server is asked there too.
    """
    async with FishServer() as server:
        options = {"webhook_services": {"sea/fish": server.url}}
        async with Cluster(controllers="", **options) as cluster:
            await cluster.load([apiservice(insecureSkipTLSVerify=True)])
            await cluster.settle()
            state = cluster.snapshot()
        before = len(server.asked)
        async with Cluster(state=state, **options) as cluster:
            await cluster.settle()
            assert len(server.asked) > before
            assert (await ask(cluster, f"{PATH}/fischers")).status == 200
            assert (await row(cluster))[0]["freshness"] == "Current"
