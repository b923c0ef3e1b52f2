"""A cluster with a scheduler and nothing else, and changes that are proposed, made in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import pod_resources, quantity
from fakekube.client.client import Client
from fakekube.client.resources import (
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_CLAIMS,
    Resource,
)
from fakekube.composition.cluster import Cluster
from fakekube_controllers.scheduler.framework.changes import amount_of, amount_text

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
COMPOSITES = Resource("scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup")
RESOURCE_SLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False)
DEVICE_CLASSES = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
NAMESPACE = "default"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def cluster(*more: str) -> Cluster:
    """Nobody but the scheduler writes nodes and pods; ``more`` are controllers of other kinds."""
    return Cluster(nodes=0, clock="manual", controllers=",".join(["scheduler", *more]), feature_gates="workload-aware")


def pod(name: str, group: str = "", *, labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod that requests what ``requests`` says, in a group when one is named."""
    requests = spec.pop("requests", {})
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}}, "spec": {
        "containers": [{"name": "main", "image": "busybox", "resources": {"requests": requests, "limits": {
            resource: amount for resource, amount in requests.items() if "/" in resource}}}], **spec}}


def gang(name: str, minimum: int, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "schedulingPolicy": {"gang": {"minCount": minimum}}, **spec}}


async def create_node(
    client: Client, name: str, *, labels: Mapping[str, str] | None = None, taints: Sequence[Any] = (),
    unschedulable: bool = False, **allocatable: str,
) -> None:
    """A node without the taints that the server gives to one that is new."""
    has = {"cpu": "4", "memory": "8Gi", "pods": "110", **allocatable}
    labels = {"kubernetes.io/hostname": name, **(labels or {})}
    spec = {"unschedulable": True} if unschedulable else {}
    await client.create(NODES, {
        "metadata": {"name": name, "labels": labels}, "spec": spec, "status": {"allocatable": has, "capacity": has}})
    await client.patch(NODES, name, body={"spec": {"taints": list(taints)}})


async def create(client: Client, resource: Resource, *objects: Any) -> None:
    for each in objects:
        await client.create(resource, each)


async def bound(client):
    """The names of pods that have a node, and their nodes."""
    pods = (await client.list(PODS, NAMESPACE)).items
    return {each["metadata"]["name"]: each["spec"]["nodeName"] for each in pods if each["spec"].get("nodeName")}


async def retried(running):
    """Let everything that waits be tried again, whatever it waits for."""
    await running.advance("6m")


async def apply(client, changes, prefix="more"):
    """Do what is proposed. ``prefix``: of the names of nodes that are added."""
    for change in changes:
        await _apply(client, change.action, change.target, dict(change.details), prefix)


async def _apply(client, action, target, details, prefix):
    name = target.rpartition("/")[2]
    if action == "AddNode":
        await _add_nodes(client, details, prefix)
    elif action == "CreatePods":
        pods = [each for each in (await client.list(PODS, NAMESPACE)).items if each["spec"].get("schedulingGroup")]
        own = [each for each in pods if each["spec"]["schedulingGroup"]["podGroupName"] == name]
        like = [*own, *pods][0]
        like["spec"] = {key: value for key, value in like["spec"].items() if key in (
            "containers", "tolerations", "nodeSelector", "affinity", "topologySpreadConstraints")}
        member = {**like["spec"], "schedulingGroup": {"podGroupName": name}, "schedulingGates": []}
        for number in range(details["count"]):
            metadata = {"name": f"{name}-more-{number}", "namespace": NAMESPACE, "labels": like["metadata"].get("labels", {})}
            await client.create(PODS, {"metadata": metadata, "spec": member})
    elif action == "LiftGate":
        gates = (await client.get(PODS, name, NAMESPACE))["spec"]["schedulingGates"]
        left = [gate for gate in gates if gate["name"] != details["gate"]]
        await client.patch(PODS, name, NAMESPACE, {"spec": {"schedulingGates": left or None}}, type="merge")
    elif action == "DeletePod":
        await client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)
    elif action == "AddResource":
        await add_resource(client, name, details["resource"], details["amount"])
    elif action in ADDING:
        await ADDING[action](client, name, details)
    else:
        await _change_node(client, action, name, details)


async def _create(client, target, details):
    namespaces = {"namespace": NAMESPACE} if "//" not in target else {}
    resource, spec = {
        "PersistentVolumeClaim": (PERSISTENT_VOLUME_CLAIMS, {**CLAIM, "storageClassName": ""}),
        "ResourceClaim": (RESOURCE_CLAIMS, {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}),
        "DeviceClass": (DEVICE_CLASSES, {})}[details["kind"]]
    await client.create(resource, {"metadata": {"name": target, **namespaces}, "spec": spec})


async def _create_pod(client, node, details):
    made = pod(f"new-on-{node}", labels=details["labels"], nodeName=node)
    made["metadata"]["namespace"] = details["namespace"]
    await client.create(PODS, made)


async def _create_volume(client, _, details):
    spec = {name: details[name] for name in ("accessModes", "storageClassName", "volumeMode")}
    spec.update(capacity={"storage": details["capacity"]}, hostPath={"path": "/data"})
    name = f"volume-{len((await client.list(PERSISTENT_VOLUMES)).items)}"
    await client.create(PERSISTENT_VOLUMES, {"metadata": {"name": name, "labels": details["labels"]}, "spec": spec})
    # as the controller does, where it runs
    await client.patch(PERSISTENT_VOLUMES, name, body={"status": {"phase": "Available"}}, subresource="status")


async def _add_storage(client, node, details):
    await client.create(CSI_STORAGE_CAPACITIES, {
        "metadata": {"name": f"more-{node}", "namespace": NAMESPACE}, "storageClassName": details["storageClassName"],
        "capacity": details["size"], "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": node}}})


async def _add_volume_limit(client, node, details):
    spec = (await client.get(CSI_NODES, node))["spec"]
    for driver in spec["drivers"]:
        if driver["name"] == details["driver"]:
            driver["allocatable"]["count"] += details["count"]
    await client.patch(CSI_NODES, node, body={"spec": spec}, type="merge")


async def _add_devices(client, node, details):
    if details["count"]:
        name = f"more-{node}-{len((await client.list(RESOURCE_SLICES)).items)}"
        devices = [{**details["device"], "name": f"more-{number}"} for number in range(details["count"])]
        await client.create(RESOURCE_SLICES, resource_slice(name, node, devices, details["driver"]))


def resource_slice(name, node, devices, driver="gpu.example.com"):
    """A slice that is all of a pool on one node."""
    return {"metadata": {"name": name}, "spec": {
        "driver": driver, "nodeName": node, "devices": devices,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}


ADDING = {
    "Create": _create, "CreatePod": _create_pod, "CreateVolume": _create_volume, "AddStorage": _add_storage,
    "AddVolumeLimit": _add_volume_limit, "AddDevices": _add_devices}


async def add_resource(client, node, resource, amount):
    status = (await client.get(NODES, node))["status"]
    total = pod_resources.read({resource: amount})
    pod_resources.add(total, pod_resources.read({resource: status["allocatable"].get(resource, "0")}))
    has = {**status["allocatable"], resource: quantity.render(*total[resource])}
    body = {"status": {"allocatable": has, "capacity": has}}
    await client.patch(NODES, node, body=body, subresource="status", type="merge")


async def _change_node(client, action, name, details):
    if action == "Uncordon":
        taints = (await client.get(NODES, name))["spec"].get("taints") or []
        # as the controller of taints does, where it runs
        body = {"spec": {"unschedulable": None, "taints": [
            each for each in taints if each["key"] != "node.kubernetes.io/unschedulable"]}}
    elif action == "RemoveTaint":
        taints = (await client.get(NODES, name))["spec"].get("taints") or []
        body = {"spec": {"taints": [
            each for each in taints if (each["key"], each["effect"]) != (details["key"], details["effect"])]}}
    elif action == "SetLabel":
        body = {"metadata": {"labels": {details["key"]: details["value"]}}}
    else:
        assert action == "RemoveLabel"
        body = {"metadata": {"labels": {details["key"]: None}}}
    await client.patch(NODES, name, body=body, type="merge")


async def _add_nodes(client, details, prefix):
    before = len((await client.list(NODES)).items)
    for number in range(before, before + details["count"]):
        if "like" in details:
            like = await client.get(NODES, details["like"])
            labels = {key: value for key, value in like["metadata"]["labels"].items() if key != "kubernetes.io/hostname"}
            has, taints = like["status"]["allocatable"], like["spec"].get("taints") or ()
        else:
            has, labels, taints = details["allocatable"], details["labels"], ()
        await create_node(client, f"{prefix}-{number}", labels=labels, taints=taints, **has)


async def halved(client, changes, prefix="more"):
    """Do what is proposed, but of every amount only the half; whether there was an amount to
    halve.
    """
    found = False
    for change in changes:
        details = dict(change.details)
        if change.action == "AddResource":
            resource = details["resource"]
            details["amount"] = amount_text(resource, amount_of(resource, details["amount"]) // 2)
            found = True
        elif change.action in ("AddNode", "CreatePods", "AddVolumeLimit", "AddDevices"):
            details["count"] //= 2
            found = True
        await _apply(client, change.action, change.target, details, prefix)
    return found
