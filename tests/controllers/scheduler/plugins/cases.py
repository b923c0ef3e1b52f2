"""Nodes and pods for plugins, and a profile that has nothing but them."""

from typing import Any

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.framework.snapshot import NodeMap, Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import ImageState, NodeInfo, pod_info

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


class Objects:
    """A lister of what the test has put there."""

    def __init__(self, objects: Any) -> None:
        self.objects, self.indices = objects, {}

    def get(self, namespace: Any, name: Any) -> Any:
        found = (each for each in self.objects if meta.key_of(each) == (namespace, name))
        return next(found, None)

    def list(self, namespace: Any = "", selector: Any = None) -> Any:
        listed = [each for each in self.objects if namespace in ("", meta.namespace_of(each))]
        return [each for each in listed if selector is None or selector.matches(meta.labels_of(each))]

    def add_index(self, name: Any, function: Any) -> Any:
        self.indices[name] = function

    def by_index(self, name: Any, value: Any) -> Any:
        return [each for each in self.objects if value in self.indices[name](each)]


class Handle:
    """What plugins are given. ``objects`` by plural; ``gates`` are those that are on."""

    client: Any = None
    clock = rng = nominator = None
    wait_for: Any = None

    def __init__(self, nodes: Any = (), *, gates: Any = (), version: Any = "1.37", **objects: Any) -> None:
        self.gates, self.version, self.objects = gates, version, objects
        self.snapshot = snapshot(*nodes)

    def enabled(self, gate: Any) -> Any:
        return gate in self.gates

    def lister(self, resource: Any) -> Any:
        return Objects(self.objects.setdefault(resource.plural, []))


def pod(name: Any = "p", labels: Any = None, *, namespace: Any = "n", requests: Any = None, **spec: Any) -> Any:
    """A pod with one container."""
    containers = spec.pop("containers", None) or [{"name": "c", "image": "i", "resources": {"requests": requests or {}}}]
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}", "labels": labels or {}}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}, "status": {}}


def node(
    name: Any, *pods: Any, labels: Any = None, taints: Any = (), unschedulable: Any = False, status: Any = None,
    **allocatable: Any,
) -> Any:
    """A node with pods on it; it has its hostname as a label."""
    info = NodeInfo(name)
    spec = {"taints": list(taints)} if taints else {}
    if unschedulable:
        spec["unschedulable"] = True
    info.set_node({
        "metadata": {"name": name, "labels": {HOSTNAME: name} if labels is None else labels}, "spec": spec,
        "status": {"allocatable": {"pods": "10", "cpu": "4", "memory": "8Gi", **allocatable}, **(status or {})}})
    for each in pods:
        each["spec"]["nodeName"] = name
        info.add(pod_info(each))
    return info


def zoned(name: Any, zone: Any, *pods: Any, **rest: Any) -> Any:
    """A node of a zone."""
    return node(name, *pods, labels={HOSTNAME: name, ZONE: zone}, **rest)


def snapshot(*nodes: Any) -> Any:
    """A snapshot of these nodes."""
    images = {}
    for each in nodes:
        for name, size in each.images.items():
            known = images.get(name, ImageState(size, 0))
            images[name] = ImageState(known.size, known.num_nodes + 1)
    return Snapshot(NodeMap(nodes), images)


def plugin_of(kind: Any, handle: Any, **args: Any) -> Any:
    """A plugin of a class."""
    return kind(args, handle)


def statuses(plugin: Any, of_pod: Any, nodes: Any, handle: Any) -> Any:
    """What the plugin says of each node: None, or code and text; of all at once where PreFilter
    rejects the pod or skips it.
    """
    handle.snapshot = snapshot(*nodes)
    state, info = CycleState(), pod_info(of_pod)
    if hasattr(plugin, "pre_filter"):
        found = plugin.pre_filter(state, info, handle.snapshot)
        if isinstance(found, Status):
            return "skipped" if found.code == Code.SKIP else (found.code, found.message)
        if found is not None:
            return list(found)
    return {each.name: said(plugin.filter(state, info, each)) for each in nodes}


def said(status: Any) -> Any:
    """A status as code and text; None for none."""
    return None if status is None else (status.code, status.message)


def scores(plugin: Any, of_pod: Any, nodes: Any, handle: Any) -> Any:
    """The normalized scores by node, or "skipped"."""
    handle.snapshot = snapshot(*nodes)
    state, info = CycleState(), pod_info(of_pod)
    if hasattr(plugin, "pre_filter"):
        plugin.pre_filter(state, info, handle.snapshot)
    if hasattr(plugin, "filter"):
        nodes = [each for each in nodes if plugin.filter(state, info, each) is None]
    if hasattr(plugin, "pre_score"):
        found = plugin.pre_score(state, info, nodes)
        if found is not None:
            return "skipped" if found.code == Code.SKIP else (found.code, found.message)
    result = {each.name: plugin.score(state, info, each) for each in nodes}
    if hasattr(plugin, "normalize_score"):
        plugin.normalize_score(state, info, result)
    return result


def hints(plugin: Any, resource: Any, action: Any, of_pod: Any, old: Any, new: Any) -> Any:
    """Whether an event may help, by the plugin's registration: None where it registers no such
    event, else QUEUE or SKIP by name.
    """
    for event, hint, _ in plugin.events_to_register():
        if event.resource == resource and event.action_type & action:
            return "QUEUE" if hint is None else hint(pod_info(of_pod), old, new).name.removeprefix("QUEUE_")
    return None


def other(obj: Any, **changes: Any) -> Any:
    """Another state of an object: metadata, spec or status changed."""
    return {**obj, **{part: {**obj.get(part, {}), **change} for part, change in changes.items()}}




NAMES = ["a1", "a2", "b1", "b2", "c1"]


def fresh(names: Any = NAMES) -> Any:
    """Empty nodes by name, each in the zone of its first letter."""
    return {name: zoned(name, name[0]) for name in names}


def stepped(nodes: Any, step: Any, number: Any, make: Any) -> Any:
    """The nodes after a pod came, which ``make`` makes of a name and what it is like, or went, or
    after a node moved to another zone, or out of all.
    """
    action, name, kind = step
    changed = nodes[name].copy()
    if action == "add":
        changed.add(pod_info(make(f"x{number}", kind)))
    elif action == "remove" and changed.pods:
        changed.remove(next(iter(changed.pods)))
    elif action == "move":
        zone = "c" if changed.node["metadata"]["labels"].get(ZONE) != "c" else None
        labels = {HOSTNAME: name, **({ZONE: zone} if zone else {})}
        changed.set_node({**changed.node, "metadata": {"name": name, "labels": labels}})
    return {**nodes, name: changed}
