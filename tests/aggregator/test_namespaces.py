"""What controllers make of aggregated APIs."""

import json
from typing import Any

from fakekube.apimachinery.http import Request, Response
from fakekube.client.resources import NAMESPACES
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
                      "verbs": ["delete", "deletecollection", "get", "list", "watch"]}
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
