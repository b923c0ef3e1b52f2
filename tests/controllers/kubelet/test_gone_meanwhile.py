"""What a kubelet does where something went, or came, while it was not looking, and a server's
answer that comes in pieces.
"""

from collections.abc import Coroutine
from typing import Any, cast

from fakekube.apimachinery.http import Request, Response
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import CONFIG_MAPS, EVENTS, NODES, PODS
from fakekube.composition.cluster import Cluster
from fakekube.runtime.standalone import run_components
from fakekube.util.tasks import Tasks, turn
from fakekube_controllers.kubelet.kubelet import Kubelet

POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


class Removing(InProcess):
    """A transport that removes a node just before it is read."""

    def request(self, request: Request) -> Coroutine[Any, Any, Response]:
        return self._request(request)

    async def _request(self, request: Request) -> Response:
        if (request.method, request.path) == ("GET", "/api/v1/nodes/node-0"):
            await Client(InProcess(self.handler)).delete(NODES, "node-0", missing_ok=True)
        return await self.handler.handle(request)


async def test_a_node_that_somebody_removes_at_once_gets_no_status() -> None:
    """Given somebody who removes a node as soon as it is registered / then the kubelet neither
    makes it again nor stops: the next node has a status.
    """
    async with Cluster(nodes=0, clock="manual", controllers=()) as cluster:
        tasks, failures = Tasks(lambda error: failures.append(error)), list[BaseException]()
        client = Client(Removing(cluster.apiserver))
        running = run_components(
            client, [Kubelet()], version="1.37", options={"nodes": 1}, clock=cast("Any", cluster.apiserver.clock))
        tasks.spawn(running, "kubelet")
        await cluster.advance(5)
        assert (await cluster.client.list(NODES)).items == []
        await cluster.client.create(NODES, {"metadata": {"name": "n"}})
        await cluster.advance(5)
        await tasks.close()
        [node] = (await cluster.client.list(NODES)).items
        assert {c["type"]: c["status"] for c in node["status"]["conditions"]}["Ready"] == "True"
        assert failures == []


async def test_a_volume_of_a_pod_that_is_to_go_is_no_news() -> None:
    """Given a pod that waits for two things / when one of them comes and the pod is deleted while
    the kubelet is stopped / then the kubelet says nothing more of the other.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        volumes = [{"name": kind, "configMap": {"name": kind}} for kind in ("x", "y")]
        await cluster.client.create(PODS, {**POD, "spec": {**POD["spec"], "volumes": volumes}})
        await cluster.advance(5)

        async def told() -> list[str]:
            found = (await cluster.client.list(EVENTS, "default")).items
            return [each["message"] for each in found if each["reason"] == "FailedMount"]

        first = [f'MountVolume.SetUp failed for volume "{name}" : configmap "{name}" not found' for name in ("x", "y")]
        assert sorted(await told()) == first
        await switch(cluster, "stopped")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "x", "namespace": "default"}})
        await cluster.client.delete(PODS, "p", "default")
        await cluster.advance(5)
        await switch(cluster, None)
        await cluster.advance(60)
        assert await cluster.client.get(PODS, "p", "default", missing_ok=True) is None
        events = (await cluster.client.list(EVENTS, "default")).items
        assert sorted(await told()) == first
        assert [each.get("count", 1) for each in events if each["reason"] == "FailedMount"] == [1, 1]


async def switch(cluster: Cluster, mode: str | None) -> None:
    """Stop the kubelet, or let it run."""
    await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": mode}}})
    await cluster.settle()


async def test_an_answer_that_ends_is_whole_though_its_server_keeps_the_connection() -> None:
    """Given a server that writes an answer piece by piece and keeps the connection / when it is
    asked through the proxy of its pod / then the answer is one whole.
    """
    async def serve(connection: Any) -> None:
        while (await connection.read_line()).strip():
            pass
        for piece in (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n", b"2\r\nde\r\n", b"0\r\n\r\n"):
            await connection.write(piece)
            await turn()
        await connection.read()

    async with Cluster(nodes=1, clock="manual", on_connect=serve) as cluster:
        await cluster.client.create(PODS, POD)
        await cluster.advance(5)
        answer = await cluster.apiserver.handle(Request(
            "GET", "/api/v1/namespaces/default/pods/p:80/proxy/", {}, {"host": "here"}, b"", peer="10.1.1.1"))
        assert (answer.status, answer.body, answer.stream) == (200, b"abcde", None)
