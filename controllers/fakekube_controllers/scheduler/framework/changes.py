"""What plugins say is missing where they reject a pod: ``missing``, an optional method.

Each change can be tried on a copy of a node, so that only what helps is proposed. Upstream has
nothing of the kind.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from fakekube.apimachinery import meta, pod_resources, quantity
from fakekube.apimachinery.types import Json, ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.interface import Plugin
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

ADD_RESOURCE, ADD_NODE, UNCORDON, REMOVE_TAINT = "AddResource", "AddNode", "Uncordon", "RemoveTaint"
SET_LABEL, REMOVE_LABEL, DELETE_POD = "SetLabel", "RemoveLabel", "DeletePod"
LIFT_GATE, CREATE_PODS, CREATE_GROUPS, CREATE = "LiftGate", "CreatePods", "CreateGroups", "Create"
CREATE_POD, CREATE_VOLUME, ADD_STORAGE = "CreatePod", "CreateVolume", "AddStorage"
ADD_VOLUME_LIMIT, ADD_DEVICES = "AddVolumeLimit", "AddDevices"
OF_OBJECTS = (CREATE_VOLUME, ADD_STORAGE, ADD_VOLUME_LIMIT, ADD_DEVICES)
"""They change no node: plugins find them in a snapshot's ``proposed``."""
BINARY_RESOURCES = ("memory", "ephemeral-storage")


class MissingPlugin(Plugin, Protocol):
    """Knows what would have to change where it rejects a pod."""

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """What is to be done, all of it, so that this plugin does not reject the pod any more.

        ``node``: where ``filter`` has rejected it; None: it was rejected before any node was looked
        at. ``state`` is that of ``pre_filter``. None: nothing that it knows of helps.
        """


def node_target(node: NodeInfo) -> str:
    """A node as the target of a change."""
    return f"node/{node.name}"


def pod_target(pod: ReadOnlyTree) -> str:
    """A pod as the target of a change."""
    return f"pod/{meta.namespace_of(pod)}/{meta.name_of(pod)}"


def amount_text(resource: str, amount: int) -> str:
    """An amount of a resource as a quantity; of cpu in thousandths."""
    if resource == "cpu":
        return quantity.render(amount * pod_resources.MILLI)
    form = quantity.BINARY if resource in BINARY_RESOURCES or resource.startswith("hugepages-") else quantity.DECIMAL
    return quantity.render(amount * quantity.NANO, form)


def amount_of(resource: str, text: str) -> int:
    """The other way round."""
    return pod_resources.whole(pod_resources.read({resource: text}))[resource]


def add_resource(target: str, resource: str, amount: int) -> Change:
    """A node is to have more of a resource."""
    text = amount_text(resource, amount)
    what = f"room for {text} more pods" if resource == "pods" else f"{text} more {resource}"
    return Change(ADD_RESOURCE, target, f"{what} on {spoken(target)}", {"resource": resource, "amount": text})


def add_node(what: str, count: int, details: Mapping[str, Json]) -> Change:
    """Nodes are to be added: ``node like n1``, ``node with 2 cpu``, with details that say the same.
    """
    plural = what.replace("node", "nodes", 1)
    text = f"{count} more {plural}" if count > 1 else f"one more {what}"
    return Change(ADD_NODE, "node", text, {"count": count, "what": what, **details})


def with_count(change: Change, count: int) -> Change:
    """The same nodes, devices or volumes, but so many."""
    details = {**change.details}
    if change.action == ADD_VOLUME_LIMIT:
        return add_volume_limit(change.target, str(details["driver"]), count)
    if change.action == ADD_DEVICES:
        return add_devices(change.target, str(details["deviceClass"]), str(details["driver"]), details["device"], count)
    return add_node(str(details.pop("what")), count, {name: value for name, value in details.items() if name != "count"})


def together(same: Sequence[Change]) -> Change:
    """Several changes that add the same nodes, devices or volumes as one."""
    return with_count(same[0], sum(int(str(each.details["count"])) for each in same))


def uncordon(node: NodeInfo) -> Change:
    """A node is to take new pods."""
    return Change(UNCORDON, node_target(node), f"uncordon node {node.name}")


def remove_taint(node: NodeInfo, taint: Mapping[str, str]) -> Change:
    """A taint is to go."""
    key, value, effect = taint["key"], taint.get("value") or "", taint["effect"]
    shown = f"{key}={value}:{effect}" if value else f"{key}:{effect}"
    return Change(REMOVE_TAINT, node_target(node), f"remove taint {shown} from node {node.name}, or tolerate it",
                  {"key": key, "value": value, "effect": effect})


def set_label(target: str, key: str, value: str) -> Change:
    """A node is to have a label."""
    return Change(SET_LABEL, target, f"label {key}={value} on {spoken(target)}", {"key": key, "value": value})


def remove_label(target: str, key: str) -> Change:
    """A node is to lose a label."""
    return Change(REMOVE_LABEL, target, f"no label {key} on {spoken(target)}", {"key": key})


def delete_pod(pod: ReadOnlyTree, why: str, node: NodeInfo) -> Change:
    """A pod is to go."""
    name = f"{meta.namespace_of(pod)}/{meta.name_of(pod)}"
    return Change(DELETE_POD, pod_target(pod), f"delete pod {name}, {why}", {"uid": meta.uid_of(pod), "node": node.name})


def create(kind: str, namespace: str, name: str) -> Change:
    """An object is to be there."""
    return Change(CREATE, f"{kind.lower()}/{namespace}/{name}", f"a {kind} named {name}", {"kind": kind})


def create_pods(group: str, namespace: str, count: int, there: int, minimum: int) -> Change:
    """A group is to have more pods."""
    pods = "one more pod" if count == 1 else f"{count} more pods"
    details: dict[str, Json] = {"count": count}
    return Change(
        CREATE_PODS, f"podgroup/{namespace}/{group}", f"{pods} of group {group}: {there} of {minimum} are there", details)


def create_groups(parent: str, namespace: str, count: int, there: int, minimum: int) -> Change:
    """A composite group is to have more groups."""
    groups = "one more group" if count == 1 else f"{count} more groups"
    details: dict[str, Json] = {"count": count}
    return Change(CREATE_GROUPS, f"compositepodgroup/{namespace}/{parent}",
                  f"{groups} below {parent}: {there} of {minimum} are there", details)


def lift_gate(pod: ReadOnlyTree, gate: str) -> Change:
    """A scheduling gate is to go."""
    return Change(LIFT_GATE, pod_target(pod), f"lift the scheduling gate {gate} of pod {meta.name_of(pod)}", {"gate": gate})


def create_pod(node: NodeInfo, namespace: str, labels: Mapping[str, str]) -> Change:
    """A pod with labels is to run on a node."""
    shown = ", ".join(f"{key}={value}" for key, value in labels.items())
    text = f"a pod{f' with labels {shown}' if shown else ''} in namespace {namespace} on node {node.name}"
    return Change(CREATE_POD, node_target(node), text, {"namespace": namespace, "labels": dict(labels)})


def create_volume(claim: ReadOnlyTree, storage_class: str, labels: Mapping[str, str]) -> Change:
    """A volume is to be there that a claim can have on any node."""
    spec, name = claim["spec"], f"{meta.namespace_of(claim)}/{meta.name_of(claim)}"
    size = str(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")
    modes: list[Json] = list(spec.get("accessModes") or ())
    details: dict[str, Json] = {
        "claim": name, "capacity": size, "accessModes": modes, "storageClassName": storage_class,
        "volumeMode": spec.get("volumeMode") or "Filesystem",
        "volumeAttributesClassName": spec.get("volumeAttributesClassName") or "", "labels": dict(labels)}
    of_class = f" of class {storage_class}" if storage_class else " without a class"
    return Change(CREATE_VOLUME, "persistentvolume", f"a PersistentVolume{of_class} with {size} for claim {name}", details)


def add_storage(node: NodeInfo, storage_class: str, size: str) -> Change:
    """The driver of a class is to have more storage for a node."""
    return Change(ADD_STORAGE, node_target(node), f"room for a volume of {size} of class {storage_class} on node {node.name}",
                  {"storageClassName": storage_class, "size": size})


def add_volume_limit(target: str, driver: str, count: int) -> Change:
    """A driver is to attach more volumes to a node."""
    volumes = "one more volume" if count == 1 else f"{count} more volumes"
    return Change(ADD_VOLUME_LIMIT, target, f"room for {volumes} of {driver} on {spoken(target)}",
                  {"driver": driver, "count": count})


def add_devices(target: str, device_class: str, driver: str, device: Json, count: int) -> Change:
    """A driver is to have more devices on a node, all like one."""
    devices = "one more device" if count == 1 else f"{count} more devices"
    return Change(ADD_DEVICES, target, f"{devices} of class {device_class} on {spoken(target)}",
                  {"deviceClass": device_class, "driver": driver, "count": count, "device": device})


def spoken(target: str) -> str:
    """``node n1`` of ``node/n1``."""
    return target.replace("/", " ", 1)
