"""metrics.k8s.io: what nodes and pods use, as metrics-server serves it."""

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import NODES, POD_METRICS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.podautoscaler.scaling import Scaling, cluster_of
from tests.controllers.world import NAMESPACE

BASE = "/apis/metrics.k8s.io/v1beta1"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def get(world, path, *, accept="", **query):
    asked = {name: [value] for name, value in query.items()}
    return orjson.loads((await world.client.request("GET", path, query=asked, accept=accept)).body)


async def pod(world, name, *, labels=None, annotations=None, **spec):
    await world.client.create(PODS, {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}, "annotations": {
            f"fakekube.dev/{key}": value for key, value in (annotations or {}).items()}},
        "spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}], **spec}})
    await world.advance(3)


async def test_a_pod_and_its_node(world):
    """Given a pod of two containers that say what they use / then the pod tells it by container,
    its node the sum, and the other node nothing.
    """
    await pod(world, "p", labels={"x": "y"}, annotations={"cpu-usage": "250m", "cpu-usage.b": "1500u", "memory-usage": "64Mi"})
    found = await get(world, f"{BASE}/namespaces/{NAMESPACE}/pods/p")
    now = "2026-01-01T00:00:03Z"
    assert found == {
        "kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1", "timestamp": now, "window": "15s",
        "metadata": {"name": "p", "namespace": NAMESPACE, "creationTimestamp": now, "labels": {"x": "y"}},
        "containers": [
            {"name": "a", "usage": {"cpu": "250m", "memory": "64Mi"}},
            {"name": "b", "usage": {"cpu": "1500u", "memory": "64Mi"}}]}
    nodes = await get(world, f"{BASE}/nodes")
    assert (nodes["kind"], nodes["metadata"]) == ("NodeMetricsList", {})
    assert [(each["metadata"]["name"], each["usage"]) for each in nodes["items"]] == [
        ("node-0", {"cpu": "251500u", "memory": "128Mi"}), ("node-1", {"cpu": "0", "memory": "0"})]
    assert nodes["items"][0]["metadata"]["labels"]["kubernetes.io/hostname"] == "node-0"
    assert (await get(world, f"{BASE}/nodes/node-1"))["kind"] == "NodeMetrics"


async def test_only_running_pods_are_measured(world):
    """Given pods that run, end, wait for a node, and say nonsense / then the one that runs is
    listed, the rest is not found.
    """
    await pod(world, "runs")
    await pod(world, "ends", annotations={"exit-code": "0"}, restartPolicy="Never")
    await pod(world, "waits", nodeSelector={"no": "such"})
    await pod(world, "lost")
    said = {"metadata": {"annotations": {"fakekube.dev/cpu-usage": "a lot"}}}
    await world.client.patch(PODS, "lost", NAMESPACE, said)
    await world.settle()
    assert [each["metadata"]["name"] for each in (await get(world, f"{BASE}/pods"))["items"]] == ["runs"]
    for name in ("ends", "waits", "lost"):
        with pytest.raises(APIError) as caught:
            await world.client.get(POD_METRICS, name, NAMESPACE)
        assert (caught.value.code, caught.value.message) == (404, f'podmetrics.metrics.k8s.io "{NAMESPACE}/{name}" not found')


async def test_what_is_not_there(world):
    """Given no such pod or node, and a node that is not heard of / then these are not found, in
    metrics-server's words.
    """
    await world.cluster.node("node-1").stop_kubelet()
    await world.settle()
    for path, text in (
        (f"{BASE}/namespaces/{NAMESPACE}/pods/x", 'pods "x" not found'), (f"{BASE}/nodes/x", 'nodes "x" not found'),
        (f"{BASE}/nodes/node-1", 'nodemetrics.metrics.k8s.io "node-1" not found'),
    ):
        with pytest.raises(APIError) as caught:
            await get(world, path)
        assert (caught.value.code, caught.value.reason, caught.value.message) == (404, "NotFound", text)
    assert [each["metadata"]["name"] for each in (await get(world, f"{BASE}/nodes"))["items"]] == ["node-0"]


async def test_selectors(world):
    """Given pods with labels / when they are selected by label, name, or a field that is none /
    then those, or a 400.
    """
    for name in ("p1", "p2"):
        await pod(world, name, labels={"n": name})
    pods = f"{BASE}/namespaces/{NAMESPACE}/pods"

    async def names(**query):
        return [each["metadata"]["name"] for each in (await get(world, pods, **query))["items"]]

    assert await names() == ["p1", "p2"]
    assert await names(labelSelector="n=p2") == ["p2"]
    assert await names(labelSelector="n notin (p2)") == ["p1"]
    assert await names(fieldSelector="metadata.name=p1") == ["p1"]
    assert await names(fieldSelector="metadata.name=p1", labelSelector="n=p2") == []
    with pytest.raises(APIError, match="is not a known field selector"):
        await names(fieldSelector="spec.nodeName=node-0")


async def test_tables_and_metadata(world):
    """Given a pod / when a Table or metadata are asked for / then metrics-server's columns with
    sums, or names alone.
    """
    await pod(world, "p", annotations={"cpu-usage": "10m", "memory-usage": "1Mi"})
    table = await get(world, f"{BASE}/pods", accept=TABLE)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert [row["cells"] for row in table["rows"]] == [["p", "20m", "2Mi", "15s"]]
    one = await get(world, f"{BASE}/nodes/node-0", accept=TABLE)
    assert [row["cells"] for row in one["rows"]] == [["node-0", "20m", "2Mi", "15s"]]
    partial = await get(world, f"{BASE}/pods", accept=PARTIAL)
    assert (partial["kind"], [set(each) for each in partial["items"]]) == (
        "PartialObjectMetadataList", [{"kind", "apiVersion", "metadata"}])


async def test_it_is_read_only(world):
    """Given metrics / when they are watched, written or deleted / then that is not supported."""
    with pytest.raises(APIError) as caught:
        await get(world, f"{BASE}/pods", watch="true")
    assert (caught.value.code, caught.value.message) == (
        405, 'watch is not supported on resources of kind "pods.metrics.k8s.io"')
    for method, path in (("POST", f"{BASE}/nodes"), ("DELETE", f"{BASE}/nodes/node-0"), ("GET", f"{BASE}/watch/nodes")):
        with pytest.raises(APIError) as caught:
            await world.client.request(method, path, body=b"{}" if method == "POST" else b"")
        assert caught.value.code in (404, 405)


async def test_it_is_found(world):
    """Given a kubelet / then discovery, an APIService and OpenAPI name the API, after all others.
    """
    groups = (await get(world, "/apis"))["groups"]
    assert groups[-1]["name"] == "metrics.k8s.io"
    rows = (await get(world, BASE))["resources"]
    assert [(row["name"], row["singularName"], row["kind"], row["verbs"]) for row in rows] == [
        ("nodes", "", "NodeMetrics", ["get", "list"]), ("pods", "", "PodMetrics", ["get", "list"])]
    aggregated = await get(world, "/apis", accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
    assert [each["resource"] for each in aggregated["items"][-1]["versions"][0]["resources"]] == ["nodes", "pods"]
    service = await get(world, "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io")
    assert (service["spec"]["groupPriorityMinimum"], service["spec"]["versionPriority"]) == (100, 100)
    assert "apis/metrics.k8s.io/v1beta1" in (await get(world, "/openapi/v3"))["paths"]


@pytest.mark.parametrize("options", [{"metrics_server": False}, {"controllers": "*,-kubelet"}, {"controllers": ""}])
async def test_it_is_left_out(options):
    """Given a cluster that is to have none, or has no kubelet / then the API is not there, nor does
    anything name it.
    """
    async with cluster_of(**options) as cluster:
        world = Scaling(cluster)
        assert "metrics.k8s.io" not in [group["name"] for group in (await get(world, "/apis"))["groups"]]
        services = await get(world, "/apis/apiregistration.k8s.io/v1/apiservices")
        assert [each["metadata"]["name"] for each in services["items"] if "metrics" in each["metadata"]["name"]] == []
        with pytest.raises(APIError) as caught:
            await get(world, f"{BASE}/nodes")
        assert caught.value.code == 404


async def test_without_its_kubelet_it_is_unavailable(world):
    """Given a kubelet that was stopped as a component / then nobody answers, which is a 503 and not
    an error of ours.
    """
    await world.cluster.manager.stop_component("kubelet")
    with pytest.raises(APIError) as caught:
        await get(world, f"{BASE}/nodes")
    assert (caught.value.code, caught.value.reason) == (503, "ServiceUnavailable")


async def test_a_fork_serves_it(world):
    """Given a cluster that was forked / then the fork measures the pods that it took over."""
    await pod(world, "p", annotations={"cpu-usage": "10m"})
    async with world.cluster.fork() as other:
        assert isinstance(other, Cluster)
        found = (await get(Scaling(other), f"{BASE}/pods"))["items"]
        assert [each["containers"][0]["usage"]["cpu"] for each in found] == ["10m"]
        assert len((await other.client.list(NODES)).items) == 2
