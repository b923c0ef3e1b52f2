"""Endpoints, the older form, and slices that mirror those that people write themselves."""

import asyncio

from fakekube.client.resources import ENDPOINTS, PODS, SERVICES
from fakekube_controllers.endpoints.backends import WRITES_AT_ONCE
from fakekube_controllers.endpoints.subsets import CAPACITY, repack, truncate
from tests.controllers.world import NAMESPACE


async def test_endpoints_tell_of_ready_pods_and_of_others(world):
    """Given a Service with a named port / when one pod is ready and one is not / then both are in
    one subset, apart; when the ready one is on its way out / then it is in none; with the Service
    its Endpoints go.
    """
    await world.create_service({"name": "http", "port": 80, "targetPort": 8080}, labels={"team": "a"})
    assert "subsets" not in await world.endpoints()
    await world.create_pod("p2", "10.0.0.2")
    await world.create_pod("p1", "10.0.0.1", ready=False)
    endpoints = await world.endpoints()
    pod = await world.client.get(PODS, "p2", NAMESPACE)
    target = {"kind": "Pod", "namespace": NAMESPACE, "name": "p2", "uid": pod["metadata"]["uid"]}
    (subset,) = endpoints["subsets"]
    assert subset["addresses"] == [{"ip": "10.0.0.2", "nodeName": "n", "targetRef": target}]
    assert [address["ip"] for address in subset["notReadyAddresses"]] == ["10.0.0.1"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert endpoints["metadata"]["labels"] == {"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    await world.client.delete(PODS, "p2", NAMESPACE)
    await world.settle()
    assert "addresses" not in (await world.endpoints())["subsets"][0]
    await world.client.delete(SERVICES, "s", NAMESPACE)
    await world.settle()
    assert await world.endpoints() is None


async def test_endpoints_come_back(world):
    """Given Endpoints of a Service / when somebody deletes them, or changes them / then they come
    back as they were, the changed ones with the next change of a pod.
    """
    await world.create_service()
    await world.create_pod("p1", "10.0.0.1")
    await world.client.delete(ENDPOINTS, "s", NAMESPACE)
    await world.settle()
    before = (await world.endpoints())["subsets"]
    assert [address["ip"] for address in before[0]["addresses"]] == ["10.0.0.1"]
    version = (await world.endpoints())["metadata"]["resourceVersion"]
    await world.client.patch(SERVICES, "s", NAMESPACE, {"metadata": {"annotations": {"a": "b"}}})
    await world.settle()
    assert (await world.endpoints())["metadata"]["resourceVersion"] == version


async def test_hand_written_endpoints_are_mirrored(world):
    """Given a Service without a selector / when somebody writes its Endpoints / then there is a
    slice for each family, which follows them; when the Service gets a selector / then the mirrors
    go.
    """
    await world.create_service(selector=None)
    manifest = {
        "metadata": {"name": "s", "namespace": NAMESPACE, "labels": {"team": "a"}, "annotations": {"note": "n"}},
        "subsets": [{
            "addresses": [{"ip": "10.1.0.1", "hostname": "h"}, {"ip": "2001:db8::1"}],
            "notReadyAddresses": [{"ip": "10.1.0.2"}], "ports": [{"port": 5432}]}],
    }
    await world.client.create(ENDPOINTS, manifest)
    await world.settle()
    found = {each["addressType"]: each for each in await world.slices()}
    assert found["IPv4"]["endpoints"] == [
        {"addresses": ["10.1.0.1"], "conditions": {"ready": True}, "hostname": "h"},
        {"addresses": ["10.1.0.2"], "conditions": {"ready": False}}]
    assert found["IPv4"]["ports"] == [{"name": "", "port": 5432, "protocol": "TCP"}]
    assert found["IPv4"]["metadata"]["labels"] == {
        "team": "a", "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io"}
    assert found["IPv4"]["metadata"]["annotations"] == {"note": "n"}
    assert found["IPv4"]["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"
    assert [endpoint["addresses"] for endpoint in found["IPv6"]["endpoints"]] == [["2001:db8::1"]]

    await world.client.patch(ENDPOINTS, "s", NAMESPACE, {"subsets": [{
        "addresses": [{"ip": "10.1.0.3"}], "ports": [{"port": 6543}]}]})
    await world.settle()
    only = await world.slice()
    assert only["metadata"]["uid"] == found["IPv4"]["metadata"]["uid"]
    assert only["ports"][0]["port"] == 6543
    await world.client.patch(SERVICES, "s", NAMESPACE, {"spec": {"selector": {"app": "x"}}})
    await world.advance(2)
    labels = (await world.slice())["metadata"]["labels"]
    assert labels["endpointslice.kubernetes.io/managed-by"] == "endpointslice-controller.k8s.io"


async def test_endpoints_that_ask_not_to_be_mirrored(world):
    """Given a Service without a selector / when its Endpoints say to skip them / then there are no
    slices.
    """
    await world.create_service(selector=None)
    await world.client.create(ENDPOINTS, {
        "metadata": {"name": "s", "namespace": NAMESPACE, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{"addresses": [{"ip": "10.1.0.1"}], "ports": [{"port": 5432}]}]})
    await world.settle()
    assert await world.slices() == []


def test_addresses_with_the_same_ports_stand_together():
    """Given an address on two ports, one of them also on another address / when packed / then there
    is a subset for each set of addresses, and an address that is not ready for a port is not ready,
    whoever says otherwise.
    """
    first, second = {"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}
    a, b = {"port": 1, "protocol": "TCP"}, {"port": 2, "protocol": "TCP"}
    found = repack([
        {"addresses": [first], "ports": [a]}, {"addresses": [second], "ports": [a]}, {"addresses": [first], "ports": [b]},
        {"notReadyAddresses": [first], "ports": [b]}])
    assert sorted(found, key=str) == sorted([
        {"addresses": [first, second], "ports": [a]}, {"notReadyAddresses": [first], "ports": [b]}], key=str)
    assert repack(found) == found


def test_endpoints_hold_a_thousand():
    """Given 900 ready addresses and 300 that are not / when cut / then the ready ones stay, and a
    third of the others.
    """
    ready = [{"ip": f"10.0.{number // 256}.{number % 256}"} for number in range(900)]
    others = [{"ip": f"10.1.{number // 256}.{number % 256}"} for number in range(300)]
    (subset,), cut = truncate([{"addresses": ready, "notReadyAddresses": others}])
    assert cut
    assert (len(subset["addresses"]), len(subset["notReadyAddresses"])) == (900, CAPACITY - 900)
    assert truncate([{"addresses": ready}]) == ([{"addresses": ready}], False)


async def test_pods_that_change_together_are_told_together(world):
    """Given a headless Service / when many pods change, each in a turn of its own, at one instant /
    then all are in its endpoints once the cluster has settled, without a write for each, and time
    has not moved.
    """
    number, started = 200, world.cluster.clock.time()
    await world.create_service(clusterIP="None")
    for each in range(number):
        await world.create_pod(f"p{each}")
    await world.settle()
    before = world.cluster.apiserver.log.total
    for each in range(number):
        status = {"podIP": f"10.0.0.{each}", "podIPs": [{"ip": f"10.0.0.{each}"}],
                  "conditions": [{"type": "Ready", "status": "True"}]}
        await world.client.patch(PODS, f"p{each}", NAMESPACE, {"status": status}, subresource="status")
        for _ in range(5):
            await asyncio.sleep(0)
    await world.settle()
    written = [entry for entry in list(world.cluster.apiserver.log)[before:]
               if entry.verb in ("create", "update") and entry.resource == "endpoints"]
    assert 0 < len(written) < 2 * WRITES_AT_ONCE
    assert len(await world.ready()) == number == len((await world.endpoints())["subsets"][0]["addresses"])
    assert world.cluster.clock.time() == started
