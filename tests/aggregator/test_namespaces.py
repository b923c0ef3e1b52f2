"""What controllers make of aggregated APIs."""

import json
from typing import Any

import pytest

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES
from fakekube.composition.cluster import Cluster
from tests.aggregator.servers import API_SERVICES, DOCUMENTS, NAME, PATH, Fish
from tests.aggregator.test_handlers import ask, available

STALE = ("Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
         "wardle.dev/v1: stale GroupVersion discovery: wardle.dev/v1")


async def conditions(cluster: Cluster) -> dict[str, tuple[str, str, str]]:
    found = await cluster.client.get(NAMESPACES, "doomed")
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in found["status"]["conditions"]}


async def doom(cluster: Cluster) -> None:
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "doomed"}})
    await cluster.client.delete(NAMESPACES, "doomed")


async def test_a_namespace_waits_for_a_server_that_is_away() -> None:
    """Given an APIService whose server is away / when a namespace is deleted / then it stays and
    says why, in upstream's words; when the APIService goes / then so does the namespace.
    """
    async with Cluster(controllers="namespace") as cluster:
        cluster.aggregate(NAME, Fish({}))
        await cluster.settle()
        await doom(cluster)
        await cluster.advance(10)
        found = await conditions(cluster)
        assert found["NamespaceDeletionDiscoveryFailure"] == ("True", "DiscoveryFailed", STALE)
        assert found["NamespaceDeletionContentFailure"][0] == found["NamespaceContentRemaining"][0] == "False"
        await ask(cluster, f"{API_SERVICES}/{NAME}", "DELETE")
        await cluster.advance(600)
        assert await cluster.client.get(NAMESPACES, "doomed", missing_ok=True) is None


async def test_a_namespace_goes_when_the_server_is_back() -> None:
    """Given a namespace that waits for a server / when the server is back / then the namespace
    goes.
    """
    async with Cluster(controllers="namespace") as cluster:
        fish = Fish({})
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        await doom(cluster)
        await cluster.advance(10)
        fish.documents = dict(DOCUMENTS)
        await cluster.advance(600)
        assert await cluster.client.get(NAMESPACES, "doomed", missing_ok=True) is None


class Pond:
    """A Handler that keeps fish, which may be listed, watched and deleted."""

    def __init__(self) -> None:
        self.fish: list[dict[str, Any]] = []
        self.deleted: list[str] = []

    async def handle(self, request: Request) -> Response:
        if request.path == PATH:
            served = {"name": "fischers", "singularName": "fischer", "namespaced": True, "kind": "Fischer",
                      "verbs": ["delete", "deletecollection", "get", "list", "patch", "watch"]}
            return Response(body=json.dumps({"kind": "APIResourceList", "resources": [served]}).encode())
        if not request.path.startswith(f"{PATH}/"):
            return Response(404, b"nope", "text/plain")
        if request.flag("watch"):
            return Response(stream=Silence(), is_watch=True)
        if request.method == "DELETE":
            self.deleted.append(request.path)
            self.fish = []
        tree = {"apiVersion": "wardle.dev/v1", "kind": "FischerList", "metadata": {"resourceVersion": "1"}, "items": self.fish}
        return Response(body=json.dumps(tree).encode())


class Silence:
    """A watch of which nothing comes."""

    def start(self, sink: object) -> None:
        pass

    def stop(self) -> None:
        pass


async def test_what_another_server_keeps_goes_with_the_namespace() -> None:
    """Given objects of an aggregated API in a namespace / when it is deleted / then they are
    deleted through us.
    """
    async with Cluster(controllers="namespace") as cluster:
        pond = Pond()
        pond.fish = [{"metadata": {"name": "anna", "namespace": "doomed"}}]
        cluster.aggregate(NAME, pond)
        await cluster.settle()
        await doom(cluster)
        await cluster.advance(10)
        assert pond.deleted == [f"{PATH}/namespaces/doomed/fischers"]
        assert await cluster.client.get(NAMESPACES, "doomed", missing_ok=True) is None


LIST = json.dumps({"kind": "FischerList", "metadata": {"resourceVersion": "1"}, "items": []}).encode()


class Nonsense(Pond):
    """A Handler that answers lists and watches with anything."""

    def __init__(self, body: bytes, line: bytes) -> None:
        super().__init__()
        self.body, self.line, self.watches = body, line, 0

    async def handle(self, request: Request) -> Response:
        if not request.path.startswith(f"{PATH}/"):
            return await super().handle(request)
        if request.flag("watch"):
            self.watches += 1
            return Response(stream=Line(self.line), is_watch=True)
        return Response(body=self.body)


class Line:
    """A watch of one line."""

    def __init__(self, line: bytes) -> None:
        self.line = line

    def start(self, sink: Sink) -> None:
        sink.send(Frame(self.line))

    def stop(self) -> None:
        pass


def object_with(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1", **metadata}}


@pytest.mark.parametrize("body", [
    b"{", b"[]", b'{"items": 5}', b'{"items": [5]}', b'{"items": {"a": 1}}', b'{"metadata": 5}', b'{"items": [{}]}',
    b'{"items": [{"metadata": {"name": "a"}}]}', json.dumps({"items": [object_with(ownerReferences=5)]}).encode(),
    json.dumps({"items": [object_with(ownerReferences=[{"uid": 5}])]}).encode(),
    json.dumps({"items": [object_with(finalizers=[5], labels=7)]}).encode(),
])
async def test_lists_that_are_none_harm_nobody(body: bytes) -> None:
    """Given an aggregated API whose lists are nonsense / when the garbage collector and the
    namespace controller meet them / then they go on with everything else.
    """
    async with Cluster() as cluster:
        pond = Nonsense(body, b"")
        cluster.aggregate(NAME, pond)
        for _ in range(3):
            await cluster.advance(31)
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "doomed"}})
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "x"}}, "doomed")
        await cluster.client.delete(NAMESPACES, "doomed")
        await cluster.advance(60)
        assert (await cluster.client.list(CONFIG_MAPS, "doomed")).items == []


@pytest.mark.parametrize("line", [
    b"{", b"[]", b'{"type": "ADDED"}', b'{"type": "ADDED", "object": {}}', b'{"type": "ERROR", "object": 5}',
    b'{"type": "BOOKMARK", "object": {"metadata": {}}}', b'{"type": "ODD", "object": {"metadata": {"resourceVersion": "1"}}}',
    json.dumps({"type": "ADDED", "object": object_with(ownerReferences={"a": 1})}).encode(),
])
async def test_watches_that_are_none_harm_nobody(line: bytes) -> None:
    """Given an aggregated API whose watches are nonsense / when the collector of garbage watches /
    then it tries again later, and everything else goes on.
    """
    async with Cluster() as cluster:
        pond = Nonsense(LIST, line)
        cluster.aggregate(NAME, pond)
        for _ in range(3):
            await cluster.advance(31)
        assert pond.watches > 0
        await doom(cluster)
        await cluster.advance(30)
        assert await cluster.client.get(NAMESPACES, "doomed", missing_ok=True) is None


async def test_the_garbage_collector_lives_with_servers_that_come_and_go() -> None:
    """Given an aggregated API whose objects can be watched and deleted / when it comes, and its
    APIService goes / then every controller goes on, and time passes as ever.
    """
    async with Cluster() as cluster:
        cluster.aggregate(NAME, Pond())
        await cluster.advance(60)
        assert (await available(cluster))[0] == "True"
        await ask(cluster, f"{API_SERVICES}/{NAME}", "DELETE")
        await cluster.advance(120)
        await doom(cluster)
        await cluster.advance(30)
        assert await cluster.client.get(NAMESPACES, "doomed", missing_ok=True) is None
