"""NodeDeclaredFeatureValidator: what needs a feature of a node wants a node that declares it.

Upstream: plugin/pkg/admission/nodedeclaredfeatures, component-helpers/nodedeclaredfeatures.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import placement, quantity
from fakekube.apimachinery.amounts import read
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.releases import minor_of
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

GATE, DEVICES_GATE = "NodeDeclaredFeatures", "DRANodeAllocatableResources"


class NodeDeclaredFeatureValidator(Plugin):
    """Refuses changes of pods that their nodes cannot follow, and devices that share allocatable
    resources with nodes that know nothing of it.
    """

    name = "NodeDeclaredFeatureValidator"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Changes and resizes of pods; ResourceSlices."""
        if is_resource(kind, "", "pods"):
            return operation == "UPDATE" and subresource in ("", "resize")
        return is_resource(kind, "resource.k8s.io", "resourceslices") and operation in ("CREATE", "UPDATE")

    def validate(self, attrs: Attributes) -> None:
        """Hold what is needed against what the nodes declare."""
        cluster = attrs.ctx.cluster
        if attrs.obj is None or not cluster.gate(GATE):
            return
        if attrs.kind.plural == "pods":
            _validate_pod(attrs, attrs.obj)
        elif cluster.gate(DEVICES_GATE) and minor_of(cluster.release) >= DEVICES_SINCE:
            for each in attrs.obj["spec"].get("devices") or ():
                device = {**(each.get("basic") or {}), **each}  # as v1beta1 has it
                if device.get("nodeAllocatableResources"):
                    _validate_device(attrs, attrs.obj["spec"], device)


def _validate_pod(attrs: Attributes, pod: Tree) -> None:
    old, node_name, cluster = attrs.old, pod["spec"].get("nodeName"), attrs.ctx.cluster
    if old is None or not node_name or pod["metadata"].get("generation") == old["metadata"].get("generation"):
        return
    minor = minor_of(cluster.release)
    needed = [
        name for name, feature in FEATURES.items() if feature.since <= minor < feature.until and feature.is_needed(old, pod)]
    if not needed:
        return
    node = cluster.lookup("", "nodes", "", node_name)
    if node is None:
        raise forbidden(attrs, f"node {go_quote(node_name)} not found")
    declared = _declared(node)
    if lacking := [name for name in needed if name not in declared]:
        raise forbidden(
            attrs, f"pod update requires features {', '.join(lacking)} which are not available on node {go_quote(node_name)}")


def _validate_device(attrs: Attributes, spec: Tree, device: Tree) -> None:
    """Whether all nodes of a device know that it may share what they can allocate."""
    place = device if spec.get("perDeviceNodeSelection") else spec
    cluster, name = attrs.ctx.cluster, place.get("nodeName")
    if name:
        node = cluster.lookup("", "nodes", "", name)
        if node is None:
            raise forbidden(attrs, f"node {go_quote(name)} not found for device {go_quote(device['name'])}")
        nodes: Iterable[Tree] = [node]
    elif place.get("nodeSelector") is not None:
        terms = place["nodeSelector"].get("nodeSelectorTerms") or ()
        nodes = [node for node in cluster.select("", "nodes", "") if _is_selected(node, terms)]
    elif place.get("allNodes"):
        nodes = cluster.select("", "nodes", "")
    else:
        raise forbidden(attrs, (
            f"device {go_quote(device['name'])} in ResourceSlice has NodeAllocatableResources but does not map to any nodes"))
    for node in nodes:
        if DEVICES_GATE not in _declared(node):
            raise forbidden(attrs, f"node {go_quote(node['metadata']['name'])} does not support {DEVICES_GATE} feature")


def _is_selected(node: Tree, terms: Iterable[Mapping[str, Any]]) -> bool:
    meta = node["metadata"]
    return any(placement.term_matches(term, meta["name"], meta.get("labels") or {}) for term in terms)


def _declared(node: Tree) -> list[str]:
    return (node.get("status") or {}).get("declaredFeatures") or []


# What a change of a pod needs of its node


def _resizes_guaranteed_cpu(old: Tree, pod: Tree) -> bool:
    if (old.get("status") or {}).get("qosClass") != "Guaranteed":
        return False
    pairs = zip(old["spec"]["containers"], pod["spec"]["containers"], strict=True)
    return any(_amounts(before, "requests").get("cpu") != _amounts(after, "requests").get("cpu") for before, after in pairs)


def _resizes_init_containers(old: Tree, pod: Tree) -> bool:
    pairs = zip(old["spec"].get("initContainers") or (), pod["spec"].get("initContainers") or (), strict=True)
    return any(before.get("restartPolicy") != "Always" and _resources(before) != _resources(after) for before, after in pairs)


def _resizes_the_pod(old: Tree, pod: Tree) -> bool:
    return _resources(old["spec"]) != _resources(pod["spec"])


def _resizes_volumes_in_memory(old: Tree, pod: Tree) -> bool:
    before, after = ({
        volume["name"]: quantity.parse(volume["emptyDir"]["sizeLimit"]).nano for volume in each["spec"].get("volumes") or ()
        if (volume.get("emptyDir") or {}).get("medium") == "Memory" and "sizeLimit" in volume["emptyDir"]}
        for each in (old, pod))
    return any(name in before and before[name] != limit for name, limit in after.items())


def _resources(tree: Tree) -> tuple[Any, ...] | None:
    resources = tree.get("resources")
    if resources is None:
        return None
    return _amounts(tree, "requests"), _amounts(tree, "limits"), resources.get("claims") or []


def _amounts(tree: Tree, name: str) -> Mapping[str, int]:
    return {each: amount.nano for each, amount in read((tree.get("resources") or {}).get(name)).items()}


class Feature(NamedTuple):
    """The first minor release that has it, the first that has it no more, and whether a change of
    a pod needs it.
    """

    since: int
    until: int
    is_needed: Callable[[Tree, Tree], bool]


DEVICES_SINCE = 37
EVER = 1000
FEATURES: Mapping[str, Feature] = MappingProxyType({
    "GuaranteedQoSPodCPUResize": Feature(35, 36, _resizes_guaranteed_cpu),
    "InPlacePodLevelResourcesVerticalScaling": Feature(35, EVER, _resizes_the_pod),
    "InPlacePodVerticalScalingInitContainers": Feature(36, EVER, _resizes_init_containers),
    "InPlacePodVerticalScalingMemoryBackedVolumes": Feature(37, EVER, _resizes_volumes_in_memory),
})
"""Sorted by name; those of upstream's that no change of a pod needs are left out."""
