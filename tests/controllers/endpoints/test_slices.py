"""EndpointSlices: which pods are in them, what they say of them, and how they are filled."""

from fakekube.client.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from fakekube_controllers.endpoints.hashes import port_hash, slice_port_hash, subset_hash
from tests.controllers.world import NAMESPACE


async def test_a_service_without_pods_has_an_empty_slice(world):
    """Given a Service with labels / when nothing is behind it / then it has one slice without
    endpoints and ports, labelled as the Service is, managed and owned; another label of the Service
    comes to the slice.
    """
    await world.create_service(labels={"team": "a"})
    empty = await world.slice()
    service = await world.client.get(SERVICES, "s", NAMESPACE)
    assert empty["metadata"]["generateName"] == "s-"
    assert empty["metadata"]["labels"] == {
        "team": "a", "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}
    assert empty["metadata"]["ownerReferences"] == [{
        "apiVersion": "v1", "kind": "Service", "name": "s", "uid": service["metadata"]["uid"], "controller": True,
        "blockOwnerDeletion": True}]
    assert empty["metadata"]["annotations"] == {
        "endpoints.kubernetes.io/last-change-trigger-time": service["metadata"]["creationTimestamp"]}
    assert (empty["addressType"], empty["endpoints"], empty["ports"]) == ("IPv4", None, None)
    await world.client.patch(SERVICES, "s", NAMESPACE, {"metadata": {"labels": {"team": "b"}}})
    await world.settle()
    changed = await world.slice()
    assert changed["metadata"]["uid"] == empty["metadata"]["uid"]
    assert changed["metadata"]["labels"]["team"] == "b"


async def test_pods_come_get_ready_and_go(world):
    """Given a Service / when pods get addresses, get ready, and are deleted / then the slice tells
    each of that.
    """
    await world.create_service({"name": "http", "port": 80, "targetPort": "web", "appProtocol": "http"})
    web = {"ports": [{"name": "web", "containerPort": 8080}]}
    await world.create_pod("p1", container=web)
    await world.settle()
    assert (await world.slice())["endpoints"] is None
    await world.set_ip("p1", "10.0.0.1", ready=False)
    pod = await world.client.get(PODS, "p1", NAMESPACE)
    filled = await world.slice()
    assert filled["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP", "appProtocol": "http"}]
    target = {"kind": "Pod", "namespace": NAMESPACE, "name": "p1", "uid": pod["metadata"]["uid"]}
    conditions = {"ready": False, "serving": False, "terminating": False}
    assert filled["endpoints"] == [{
        "addresses": ["10.0.0.1"], "conditions": conditions, "targetRef": target, "nodeName": "n", "zone": "z"}]
    await world.set_ip("p1", "10.0.0.1")
    assert (await world.slice())["endpoints"][0]["conditions"] == {"ready": True, "serving": True, "terminating": False}
    await world.client.delete(PODS, "p1", NAMESPACE)
    await world.settle()
    assert (await world.slice())["endpoints"][0]["conditions"] == {"ready": False, "serving": True, "terminating": True}
    await world.client.delete(PODS, "p1", NAMESPACE, grace_period_seconds=0)
    await world.settle()
    assert (await world.slice())["endpoints"] is None


async def test_a_pod_that_changes_its_labels_changes_its_service(world):
    """Given two Services / when a pod's labels make it another's / then the one loses it and the
    other gets it.
    """
    await world.create_service()
    await world.create_service(name="other", selector={"app": "y"})
    await world.create_pod("p1", "10.0.0.1")
    await world.client.patch(PODS, "p1", NAMESPACE, {"metadata": {"labels": {"app": "y"}}})
    await world.settle()
    assert await world.ready() == []
    (other,) = await world.slices("other")
    assert other["endpoints"][0]["addresses"] == ["10.0.0.1"]


async def test_pods_that_end_are_no_endpoints(world):
    """Given a ready pod / when it succeeds / then it is an endpoint no more."""
    await world.create_service()
    await world.create_pod("p1", "10.0.0.1")
    await world.set_status(await world.client.get(PODS, "p1", NAMESPACE), phase="Succeeded", conditions=[{
        "type": "Ready", "status": "False"}])
    await world.settle()
    assert (await world.slice())["endpoints"] is None


async def test_slices_hold_a_hundred(world):
    """Given a hundred and three pods / when they are ready / then there are two slices of 100 and
    3; when pods of the first go / then others fill the one that has room, and no slice is made
    anew.
    """
    for number in range(103):
        await world.create_pod(f"p{number}", f"10.0.1.{number}")
    await world.create_service()
    sizes = sorted(len(each["endpoints"]) for each in await world.slices())
    assert sizes == [3, 100]
    before = sorted(each["metadata"]["uid"] for each in await world.slices())
    await world.client.delete(PODS, "p0", NAMESPACE, grace_period_seconds=0)
    await world.settle()
    await world.create_pod("more", "10.0.2.1")
    assert sorted(len(each["endpoints"]) for each in await world.slices()) == [3, 100]
    assert sorted(each["metadata"]["uid"] for each in await world.slices()) == before


async def test_what_others_do_to_slices_is_put_right(world):
    """Given a slice with an endpoint / when somebody empties it, or deletes it / then a second
    later it is as it was.
    """
    await world.create_service()
    await world.create_pod("p1", "10.0.0.1")
    name = (await world.slice())["metadata"]["name"]
    await world.client.patch(ENDPOINT_SLICES, name, NAMESPACE, {"endpoints": []})
    await world.advance(1)
    assert await world.ready() == ["10.0.0.1"]
    await world.client.delete(ENDPOINT_SLICES, (await world.slice())["metadata"]["name"], NAMESPACE)
    await world.advance(1)
    assert await world.ready() == ["10.0.0.1"]


async def test_named_ports_that_differ_make_slices_that_differ(world):
    """Given pods whose port of one name has two numbers / then there is a slice for each number."""
    await world.create_service({"port": 80, "targetPort": "web"})
    for number, port in ((1, 8080), (2, 9090), (3, 8080)):
        web = {"ports": [{"name": "web", "containerPort": port}]}
        await world.create_pod(f"p{number}", f"10.0.0.{number}", container=web)
    found = {each["ports"][0]["port"]: len(each["endpoints"]) for each in await world.slices()}
    assert found == {8080: 2, 9090: 1}


async def test_headless_services_name_their_pods(world):
    """Given a headless Service without ports that publishes everybody / when a pod of its domain is
    not ready / then it is published with its name.
    """
    await world.create_service(ports=None, clusterIP="None", publishNotReadyAddresses=True)
    await world.create_pod("p1", "10.0.0.1", ready=False, hostname="first", subdomain="s")
    only = await world.slice()
    assert only["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert only["endpoints"][0]["hostname"] == "first"
    assert only["endpoints"][0]["conditions"] == {"ready": True, "serving": False, "terminating": False}


async def test_a_pod_of_a_node_that_is_not_there(world):
    """Given pods of which one names a node that is not there / then that one is left out, and a
    warning tells why; once the node is there, it is looked for again and found.
    """
    await world.create_service()
    await world.create_pod("p1", "10.0.0.1")
    await world.create_pod("p2", "10.0.0.2", node="away")
    assert await world.ready() == ["10.0.0.1"]
    assert (await world.events("s"))[-1] == (
        "Warning", "FailedToUpdateEndpointSlices",
        "Error updating Endpoint Slices for Service default/s: skipping Pod p2 for Service default/s: Node away Not Found")
    await world.client.create(NODES, {"metadata": {"name": "away"}})
    await world.advance(10)
    assert await world.ready() == ["10.0.0.1", "10.0.0.2"]


async def test_traffic_that_prefers_its_zone(world):
    """Given a Service whose traffic prefers the same node / then its endpoints have hints of zone
    and node; when it prefers nothing any more / then they have none.
    """
    await world.create_service(trafficDistribution="PreferSameNode")
    await world.create_pod("p1", "10.0.0.1")
    assert (await world.slice())["endpoints"][0]["hints"] == {"forZones": [{"name": "z"}], "forNodes": [{"name": "n"}]}
    await world.client.patch(SERVICES, "s", NAMESPACE, {"spec": {"trafficDistribution": None}})
    await world.settle()
    assert "hints" not in (await world.slice())["endpoints"][0]


async def test_services_that_have_no_pods_of_their_own(world):
    """Given a Service without a selector, and one that is another name / then neither has slices.
    """
    await world.create_service(selector=None)
    await world.create_service(name="alias", type="ExternalName", externalName="example.com", ports=None)
    assert await world.slices() == []
    assert await world.slices("alias") == []


async def test_slices_go_with_their_service(world):
    """Given a Service with a slice / when it is deleted / then the slice is collected."""
    await world.create_service()
    await world.create_pod("p1", "10.0.0.1")
    await world.client.delete(SERVICES, "s", NAMESPACE)
    await world.advance(2)
    assert await world.slices() == []


def test_hashes_are_those_of_upstream():
    """Given ports and a subset / when hashed / then the sums are those that upstream's code gives,
    which order them.
    """
    assert f"{slice_port_hash({'name': 'http', 'port': 80, 'protocol': 'TCP'}):x}" == "b6c4d325122a5ba6f795b0bbffcebb6f"
    with_application = {"name": "", "port": 80, "protocol": "TCP", "appProtocol": "http2"}
    assert f"{slice_port_hash(with_application):x}" == "56b4d4b91e78e70788dd59831be45af4"
    assert f"{port_hash({'name': 'http', 'port': 80, 'protocol': 'TCP'}):x}" == "754b003f50f133a539c60d18cfb30a55"
    subset = {
        "addresses": [
            {"ip": "10.0.0.1", "nodeName": "n1", "targetRef": {"kind": "Pod", "namespace": "ns", "name": "p", "uid": "u1"}},
            {"ip": "1.2.3.4", "hostname": "h"}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}, {"port": 81, "appProtocol": "http2"}],
    }
    assert f"{subset_hash(subset):x}" == "d138be810114fd3b6f9669f1ff56cc36"
