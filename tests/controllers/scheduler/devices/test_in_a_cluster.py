"""Pods with claims in a cluster: ResourceSlices made by hand, the scheduler and the controller of
claims, no kubelet.
"""

import pytest

from fakekube.client.resources import PODS, RESOURCE_CLAIMS
from fakekube.composition.cluster import Cluster
from tests.controllers.scheduler.devices.cases import DRIVER, body, device, devices, first_of, request
from tests.controllers.scheduler.devices.worlds import FINALIZER, TAINT_RULES, TEMPLATE, Devices
from tests.controllers.world import NAMESPACE

CONTROLLERS = "scheduler,serviceaccount,resourceclaim,garbagecollector"


@pytest.fixture
async def world():
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS) as cluster:
        made = Devices(cluster)
        await made.device_class()
        yield made


async def test_a_pod_gets_the_device_of_its_claim(world):
    """Given two nodes, one of them with a device / when a pod with a claim comes / then it goes
    there; the claim is allocated, reserved for the pod, and kept from deletion.
    """
    await world.node("n1")
    await world.node("n2")
    await world.slice(devices("a"), node="n2")
    await world.claim("c")
    await world.pod("p", "c")
    assert await world.where("p") == ["n2"]
    found = await world.client.get(RESOURCE_CLAIMS, "c", NAMESPACE)
    assert found["metadata"]["finalizers"] == [FINALIZER]
    status = await world.status("c")
    assert status["reservedFor"] == [{"resource": "pods", "name": "p"}]
    assert status["allocation"].pop("allocationTimestamp")
    assert status["allocation"] == {
        "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": "p", "device": "a"}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}}


async def test_claims_of_templates_are_freed_with_their_pods(world):
    """Given one device and two pods with claims of a template / when the first pod is deleted /
    then its claim goes, and the second pod, which had to wait, gets the device.
    """
    await world.node("n1")
    await world.slice(devices("a"))
    await world.template()
    await world.pod("p", TEMPLATE)
    await world.pod("q", TEMPLATE)
    assert await world.where("p", "q") == ["n1", ""]
    assert await world.told("q") == (
        "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling.")
    await world.delete("p")
    await world.cluster.advance(30)
    assert await world.where("q") == ["n1"]
    [name] = await world.claims()
    assert await world.given(name) == ["a"]


async def test_a_pod_waits_for_its_claim(world):
    """Given a pod that names a claim that is not there / when nothing else happens / then the
    scheduler does not even try; when the claim is made, the pod gets its device.
    """
    await world.node("n1")
    await world.slice(devices("a"))
    await world.pod("p", "c")
    assert await world.where("p") == [""]
    assert await world.messages("FailedScheduling") == []
    await world.claim("c")
    await world.cluster.advance(2)
    assert await world.where("p") == ["n1"]


async def test_a_pod_waits_for_its_class_and_its_devices(world):
    """Given a claim for a class that is not there / when the class comes, and then a slice / then
    the pod is told each time what is missing, and goes to the devices in the end.
    """
    await world.node("n1")
    await world.claim("c", request(cls="other"))
    await world.pod("p", "c")
    assert (await world.told("p")).startswith("0/1 nodes are available: request r: device class other does not exist. ")
    await world.device_class("other")
    await world.cluster.advance(10)
    assert "1 cannot allocate all claims" in await world.told("p")
    await world.slice(devices("a"))
    await world.cluster.advance(20)
    assert await world.where("p") == ["n1"]


async def test_pods_that_share_a_claim_go_where_it_is(world):
    """Given a claim that a pod on one node has / when another pod names it, too / then it goes to
    the same node, and the claim is reserved for both; where it cannot, it is told.
    """
    await world.node("n1")
    await world.node("n2", {"other": "yes"})
    await world.slice(devices("a"))
    await world.claim("c")
    await world.pod("p", "c")
    await world.pod("q", "c")
    await world.pod("r", "c", nodeSelector={"other": "yes"})
    assert await world.where("p", "q", "r") == ["n1", "n1", ""]
    assert [each["name"] for each in (await world.status("c"))["reservedFor"]] == ["p", "q"]
    reasons = "1 node(s) didn't match Pod's node affinity/selector, 1 resourceclaim not available on the node"
    assert reasons in await world.told("r")


async def test_a_claim_that_keeps_a_pod_from_its_node_is_freed(world):
    """Given a claim that is allocated on one node and reserved for nobody / when a pod that must go
    to another names it / then it is freed, and allocated there.
    """
    await world.node("n1")
    await world.node("n2", {"other": "yes"})
    await world.slice(devices("a"), pool="x")
    await world.slice(devices("b"), pool="y", node="n2")
    await world.claim("c")
    await world.pod("p", "c")
    assert await world.given("c") == ["a"]
    allocation = (await world.status("c"))["allocation"]
    await world.client.delete(PODS, "p", NAMESPACE, grace_period_seconds=0)
    await world.cluster.settle()
    found = await world.client.get(RESOURCE_CLAIMS, "c", NAMESPACE)
    await world.client.update_status(RESOURCE_CLAIMS, {**found, "status": {"allocation": allocation}})
    await world.cluster.settle()
    await world.pod("q", "c", nodeSelector={"other": "yes"})
    assert any("deallocation of ResourceClaim completed" in each for each in await world.messages("FailedScheduling"))
    await world.cluster.advance(10)
    assert await world.where("q") == ["n2"]
    assert await world.given("c") == ["b"]


async def test_the_better_alternative_decides_between_nodes(world):
    """Given a node with the second alternative of a request, and one with the first / when a pod
    asks / then it goes to the first, though the other's name comes first.
    """
    await world.node("n1")
    await world.node("n2")
    await world.slice([device("a", {"model": "old"})], pool="x")
    await world.slice([device("b", {"model": "new"})], pool="y", node="n2")
    select = f'device.attributes["{DRIVER}"].model == "{{}}"'
    await world.claim("c", first_of("r", new=body(selectors=[select.format("new")]), old=body(selectors=[select.format("old")])))
    await world.pod("p", "c")
    assert await world.where("p") == ["n2"]


async def test_a_selector_with_an_error_is_an_error_of_the_scheduler(world):
    """Given a selector that asks for an attribute that a device does not have / when the pod is
    tried / then it is told so in upstream's words, and tried again.
    """
    await world.node("n1")
    await world.slice(devices("a"))
    await world.claim("c", request(selectors=[f'device.attributes["{DRIVER}"].model == "x"']))
    await world.pod("p", "c")
    assert await world.told("p") == (
        'running "DynamicResources" filter plugin: claim default/c: selector #0 on device gpu.example.com/p/a: '
        "CEL runtime error: no such key: model. consider using CEL optional chaining (.? followed by orValue()) "
        "or guarding the check with has() for optional fields")


async def test_a_selector_that_takes_long_is_asked_beside_the_cycles(world):
    """Given a selector that takes longer than a turn / when the pod is tried / then it is told that
    there was no time, and has its device when it is tried again.
    """
    long = "[1,2,3,4,5,6,7,8,9,10].all(a, " * 4 + "device.driver != 'x'" + ")" * 4
    await world.node("n1")
    await world.slice(devices("a"))
    await world.claim("c", request(selectors=[long]))
    await world.pod("p", "c")
    assert "node n1: timed out trying to allocate devices" in (await world.messages("FailedScheduling"))[0]
    await world.cluster.advance(10)
    assert await world.where("p") == ["n1"]


async def test_a_rule_taints_devices(world):
    """Given a rule that taints one device / when pods come / then they get the other, and the next
    the first once the rule is gone.
    """
    await world.node("n1")
    await world.slice(devices("a", "b"))
    rule = {"metadata": {"name": "x"}, "spec": {"deviceSelector": {"device": "a"}, "taint": {"key": "k", "effect": "NoSchedule"}}}
    await world.add(TAINT_RULES, rule)
    await world.claim("c")
    await world.pod("p", "c")
    assert await world.given("c") == ["b"]
    await world.client.delete(TAINT_RULES, "x")
    await world.claim("d")
    await world.pod("q", "d")
    assert await world.given("d") == ["a"]


async def test_a_pod_waits_until_its_device_is_ready(world):
    """Given a device that must be made ready / when a pod gets it / then the pod is not bound
    before the driver says so.
    """
    await world.node("n1")
    await world.slice([device("a", bindingConditions=["ok"], bindingFailureConditions=["no"])])
    await world.claim("c")
    await world.pod("p", "c")
    assert await world.where("p") == [""]
    assert await world.given("c") == ["a"]
    assert await world.messages("BindingConditionsPending") == ["waiting for binding conditions for device on node n1"]
    await world.tell("c", "ok")
    assert await world.where("p") == ["n1"]


async def test_a_device_that_cannot_be_made_ready(world):
    """Given a device that must be made ready / when the driver says that it never will be / then
    the binding fails with what it says, and the claim is freed to try others.
    """
    await world.node("n1")
    await world.slice([device("a", bindingConditions=["ok"], bindingFailureConditions=["no"])])
    await world.claim("c")
    await world.pod("p", "c")
    await world.tell("c", "no")
    assert (await world.messages("FailedScheduling"))[0] == (
        'running PreBind plugin "DynamicResources": device binding failed: claim=c, reason=R, message="m"')
    await world.cluster.advance(5)
    assert any("deallocation of ResourceClaim completed" in each for each in await world.messages("FailedScheduling"))


async def test_a_device_that_is_not_ready_in_time(world):
    """Given a device that must be made ready / when ten minutes pass / then the binding fails."""
    await world.node("n1")
    await world.slice([device("a", bindingConditions=["ok"], bindingFailureConditions=["no"])])
    await world.claim("c")
    await world.pod("p", "c")
    await world.cluster.advance(601)
    assert "device binding timeout" in (await world.messages("FailedScheduling"))[0]


async def test_extended_resources_are_devices(world):
    """Given a class whose devices stand for an extended resource, and two devices / when pods ask
    for the resource / then a claim is made for each that fits, which its status names, and the
    claim goes with the pod.
    """
    await world.node("n1")
    await world.device_class("nic", extendedResourceName="example.com/nic")
    await world.slice(devices("a", "b", "c"))
    asked = {"limits": {"example.com/nic": "2"}, "requests": {"example.com/nic": "2"}}
    for name in ("p", "q"):
        await world.pod(name, containers=[{"name": "main", "image": "i", "resources": asked}])
    assert await world.where("p", "q") == ["n1", ""]
    assert "1 cannot allocate all claims" in await world.told("q")
    [name] = await world.claims()
    assert name.startswith("p-extended-resources-")
    assert await world.given(name) == ["a", "b"]
    assert (await world.client.get(PODS, "p", NAMESPACE))["status"]["extendedResourceClaimStatus"] == {
        "resourceClaimName": name,
        "requestMappings": [{"containerName": "main", "resourceName": "example.com/nic", "requestName": "container-0-request-0"}]}
    await world.delete("p")
    await world.cluster.advance(60)
    assert await world.where("q") == ["n1"]
    assert [each.rpartition("-")[0] for each in await world.claims()] == ["q-extended-resources"]


async def test_a_node_that_has_the_resource_itself_needs_no_devices(world):
    """Given a node that has an extended resource itself / when a pod asks for it / then it goes
    there without a claim.
    """
    await world.device_class("nic", extendedResourceName="example.com/nic")
    await world.node("n1", **{"example.com/nic": "1"})
    asked = {"limits": {"example.com/nic": "1"}, "requests": {"example.com/nic": "1"}}
    await world.pod("p", containers=[{"name": "main", "image": "i", "resources": asked}])
    assert await world.where("p") == ["n1"]
    assert await world.claims() == []


async def test_a_pod_that_has_a_node_gets_its_claim_reserved(world):
    """Given an allocated claim of a pod that runs / when nobody holds it any more, or a pod that
    has a node already names it / then it is reserved for both.
    """
    await world.node("n1")
    await world.slice(devices("a"))
    await world.claim("c")
    await world.pod("p", "c")
    found = await world.client.get(RESOURCE_CLAIMS, "c", NAMESPACE)
    await world.client.update_status(RESOURCE_CLAIMS, {**found, "status": {"allocation": found["status"]["allocation"]}})
    await world.cluster.settle()
    assert [each["name"] for each in (await world.status("c"))["reservedFor"]] == ["p"]
    await world.pod("q", "c", nodeName="n1")
    assert [each["name"] for each in (await world.status("c"))["reservedFor"]] == ["p", "q"]
