"""What needs a feature of a node wants a node that declares it."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.admission.declared_features import NodeDeclaredFeatureValidator
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from tests.admission.test_signers_and_gangs import refusal
from tests.admission.world import World, kind

PODS_KIND, SLICES = kind("", "v1", "pods"), kind("resource.k8s.io", "v1", "resourceslices")
POD_LEVEL, INIT = "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"
MEMORY, GUARANTEED = "InPlacePodVerticalScalingMemoryBackedVolumes", "GuaranteedQoSPodCPUResize"


def world_of(*gates: str, release: str = "1.37") -> World:
    """A node that declares one feature, and one that declares none."""
    world = World("NodeDeclaredFeatures", *gates)
    world.release = release
    for name, status, labels in (
            ("able", {"declaredFeatures": ["Another", "DRANodeAllocatableResources", INIT]}, {"able": "yes"}), ("plain", {}, {})):
        world.put("", "nodes", {"metadata": {"name": name, "labels": labels}, "status": status})
    return world


def pod(node: str = "plain", generation: int = 1, **spec: Any) -> Tree:
    return {
        "metadata": {"name": "p", "namespace": "default", "generation": generation}, "status": {"qosClass": "Guaranteed"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **spec, "nodeName": node}}


def with_cpu(amount: str, **container: Any) -> list[Tree]:
    return [{"name": "c", "resources": {"requests": {"cpu": amount}}, **container}]


def in_memory(limit: str | None, medium: str = "Memory", name: str = "v") -> list[Tree]:
    return [{"name": name, "emptyDir": {"medium": medium, **({} if limit is None else {"sizeLimit": limit})}}]


def lacking(*features: str, node: str = "plain") -> str:
    return f'403 pod update requires features {", ".join(features)} which are not available on node "{node}"'


@pytest.mark.parametrize(("release", "old", "new", "expected"), [
    ("1.37", {}, {"resources": {"requests": {"cpu": "1"}}}, lacking(POD_LEVEL)),
    ("1.37", {"resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "2"}}}, lacking(POD_LEVEL)),
    ("1.37", {"resources": {"limits": {"cpu": "1"}}}, {"resources": {"limits": {"cpu": "2"}}}, lacking(POD_LEVEL)),
    ("1.37", {"resources": {"claims": [{"name": "a"}]}}, {"resources": {"claims": []}}, lacking(POD_LEVEL)),
    ("1.35", {"resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "2"}}}, lacking(POD_LEVEL)),
    ("1.37", {"resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "1000m"}}}, ""),
    ("1.37", {"initContainers": with_cpu("1")}, {"initContainers": with_cpu("2")}, lacking(INIT)),
    ("1.36", {"initContainers": with_cpu("1")}, {"initContainers": with_cpu("2")}, lacking(INIT)),
    ("1.35", {"initContainers": with_cpu("1")}, {"initContainers": with_cpu("2")}, ""),
    ("1.37", {"initContainers": with_cpu("1", restartPolicy="Always")},
     {"initContainers": with_cpu("2", restartPolicy="Always")}, ""),
    ("1.37", {"volumes": in_memory("1Gi")}, {"volumes": in_memory("2Gi")}, lacking(MEMORY)),
    ("1.36", {"volumes": in_memory("1Gi")}, {"volumes": in_memory("2Gi")}, ""),
    ("1.37", {"volumes": in_memory("1Gi")}, {"volumes": in_memory("1024Mi")}, ""),
    ("1.37", {"volumes": in_memory("1Gi", "")}, {"volumes": in_memory("2Gi", "")}, ""),
    ("1.37", {"volumes": in_memory(None)}, {"volumes": in_memory("2Gi")}, ""),
    ("1.37", {"volumes": in_memory("1Gi")}, {"volumes": in_memory("2Gi", name="w")}, ""),
    ("1.35", {"containers": with_cpu("1")}, {"containers": with_cpu("2")}, lacking(GUARANTEED)),
    ("1.36", {"containers": with_cpu("1")}, {"containers": with_cpu("2")}, ""),
    ("1.37", {"initContainers": with_cpu("1"), "volumes": in_memory("1Gi")},
     {"initContainers": with_cpu("2"), "volumes": in_memory("2Gi"), "resources": {"limits": {"cpu": "1"}}},
     lacking(POD_LEVEL, INIT, MEMORY)),
])
def test_what_a_change_of_a_pod_needs(release: str, old: Tree, new: Tree, expected: str) -> None:
    """Given a pod on a node that declares nothing / when it is changed / then features are wanted
    that the release knows, for what they are about.
    """
    attrs = world_of(release=release).attributes(PODS_KIND, pod(generation=2, **new), pod(**old), subresource="resize")
    assert refusal(NodeDeclaredFeatureValidator(), attrs) == expected


RESIZED = {"initContainers": with_cpu("2")}


@pytest.mark.parametrize(("node", "generation", "status", "expected"), [
    ("able", 2, "Guaranteed", ""), ("", 2, "Guaranteed", ""), ("plain", 1, "Guaranteed", ""),
    ("gone", 2, "Guaranteed", '403 node "gone" not found'), ("plain", 2, "Guaranteed", lacking(INIT)),
])
def test_where_it_is_needed(node: str, generation: int, status: str, expected: str) -> None:
    """Given pods on several nodes and on none / when they are changed, or only their metadata /
    then the node of a changed one must be there and declare what is needed.
    """
    old, new = pod(node, initContainers=with_cpu("1")), pod(node, generation, **RESIZED)
    assert refusal(NodeDeclaredFeatureValidator(), world_of().attributes(PODS_KIND, new, old)) == expected


def test_it_is_a_gate() -> None:
    """Given the gate off / when a pod is changed / then nothing is wanted; nor of a new one."""
    world = world_of()
    attrs = world.attributes(PODS_KIND, pod(generation=2, **RESIZED), pod(initContainers=with_cpu("1")))
    assert refusal(NodeDeclaredFeatureValidator(), attrs)
    world.gates = ()
    assert not refusal(NodeDeclaredFeatureValidator(), attrs)
    plugin = NodeDeclaredFeatureValidator()
    seen = [(operation, subresource) for operation in ("CREATE", "UPDATE", "DELETE") for subresource in ("", "resize", "status")
            if plugin.handles(PODS_KIND, operation, subresource)]
    assert seen == [("UPDATE", ""), ("UPDATE", "resize")]
    assert [each for each in ("CREATE", "UPDATE", "DELETE") if plugin.handles(SLICES, each, "")] == ["CREATE", "UPDATE"]
    assert not plugin.handles(kind("apps", "v1", "deployments"), "UPDATE", "")


NO_SUPPORT = '403 node "plain" does not support DRANodeAllocatableResources feature'
ABLE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "able", "operator": "Exists"}]}]}
OTHERS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "able", "operator": "DoesNotExist"}]}]}


@pytest.mark.parametrize(("spec", "device", "expected"), [
    ({"nodeName": "able"}, {}, ""), ({"nodeName": "plain"}, {}, NO_SUPPORT), ({"allNodes": True}, {}, NO_SUPPORT),
    ({"nodeName": "gone"}, {}, '403 node "gone" not found for device "d"'),
    ({"nodeSelector": ABLE}, {}, ""), ({"nodeSelector": OTHERS}, {}, NO_SUPPORT),
    ({"nodeName": "plain", "perDeviceNodeSelection": True}, {"nodeName": "able"}, ""),
    ({"nodeName": "able", "perDeviceNodeSelection": True}, {"nodeSelector": OTHERS}, NO_SUPPORT),
    ({"nodeName": "able", "perDeviceNodeSelection": True}, {"allNodes": True}, NO_SUPPORT),
    ({"nodeName": "able", "perDeviceNodeSelection": True}, {},
     '403 device "d" in ResourceSlice has NodeAllocatableResources but does not map to any nodes'),
])
def test_devices_that_share_what_nodes_allocate(spec: Tree, device: Tree, expected: str) -> None:
    """Given devices on one node, on several and on none / when they share allocatable resources /
    then all their nodes must know of it, from 1.37 on and where the gate is on.
    """
    shares = {"name": "d", "nodeAllocatableResources": {"cpu": {}}, **device}
    tree = {"metadata": {"name": "s"}, "spec": {**spec, "devices": [{"name": "other"}, shares]}}
    world = world_of("DRANodeAllocatableResources")
    assert refusal(NodeDeclaredFeatureValidator(), world.attributes(SLICES, tree)) == expected
    older = {"metadata": {"name": "s"}, "spec": {**spec, "devices": [{"name": "d", "basic": {**shares, "name": "other"}}]}}
    assert refusal(NodeDeclaredFeatureValidator(), world.attributes(SLICES, older)) == expected
    world.release = "1.36"
    assert not refusal(NodeDeclaredFeatureValidator(), world.attributes(SLICES, tree))
    assert not refusal(NodeDeclaredFeatureValidator(), world_of().attributes(SLICES, tree))
    del shares["nodeAllocatableResources"]
    assert not refusal(NodeDeclaredFeatureValidator(), world_of("DRANodeAllocatableResources").attributes(SLICES, tree))


async def test_a_pod_is_resized_where_its_node_can() -> None:
    """Given two nodes of which one declares a feature / when pods on them are resized as a whole /
    then it is done on that one, and refused on the other.
    """
    async with Cluster(nodes=0, controllers="serviceaccount", clock="manual") as cluster:
        client, amounts = cluster.client, {"cpu": "4", "memory": "8Gi", "pods": "9"}
        for node, features in (("able", [POD_LEVEL]), ("plain", [])):
            await client.create(NODES, {"metadata": {"name": node}, "spec": {}, "status": {
                "capacity": amounts, "allocatable": amounts, "declaredFeatures": features}})
        await cluster.settle()

        async def resized(name: str, node: str) -> str:
            made = await client.create(PODS, {"metadata": {"name": name, "namespace": "default"}, "spec": {
                "nodeName": node, "resources": {"requests": {"cpu": "1"}}, "containers": [{"name": "c", "image": "i"}]}})
            made["spec"]["resources"]["requests"]["cpu"] = "2"
            return str((await client.update(PODS, made, subresource="resize"))["spec"]["resources"]["requests"]["cpu"])

        assert await resized("a", "able") == "2"
        with pytest.raises(APIError) as caught:
            await resized("b", "plain")
        assert caught.value.message == f'pods "b" is forbidden: {lacking(POD_LEVEL).removeprefix("403 ")}'
