"""Nodes as they would be after changes.

A change is tried on a copy of a node, and shows in a snapshot of its own.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from fakekube.apimachinery import meta, pod_resources, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

HOSTNAME = "kubernetes.io/hostname"
COSTS: Mapping[str, float] = {
    changes.UNCORDON: 1.0, changes.ADD_RESOURCE: 1.0, changes.REMOVE_TAINT: 1.4, changes.SET_LABEL: 1.5,
    changes.REMOVE_LABEL: 1.5, changes.ADD_VOLUME_LIMIT: 1.0, changes.ADD_STORAGE: 1.2, changes.ADD_DEVICES: 1.2,
    changes.CREATE_VOLUME: 2.0, changes.CREATE_POD: 2.5, changes.DELETE_POD: 3.0}
COST_OF_HOSTNAME = 20.0  # to give a node the name of another


def cost(wanted: Iterable[Change], pod: PodInfo) -> float:
    """How much a pod asks for: the less the better. Of a resource its share of the request."""
    total = 0.0
    for each in wanted:
        total += COSTS.get(each.action, 5.0)
        if each.action == changes.SET_LABEL and each.details["key"] == HOSTNAME:
            total += COST_OF_HOSTNAME
        elif each.action == changes.ADD_DEVICES:
            total += int(str(each.details["count"])) / 16
        elif each.action == changes.ADD_RESOURCE:
            resource = str(each.details["resource"])
            asked = pod.requests.get(resource) or 1
            total += changes.amount_of(resource, str(each.details["amount"])) / asked
    return total


def changed_node(node: NodeInfo, wanted: Iterable[Change]) -> NodeInfo:
    """A node after changes that have it as their target."""
    assert node.node is not None, "a snapshot has no other nodes"
    tree, changed = copy.deepcopy(dict(node.node)), node.copy()
    for each in wanted:
        if each.action == changes.DELETE_POD:
            changed.remove(str(each.details["uid"]))
        elif each.action == changes.CREATE_POD:
            changed.add(pod_info(_new_pod(f"new-{len(changed.pods)}", node.name, each.details)))
        else:
            _change(tree, each.action, each.details)
    changed.set_node(tree)
    return changed


def _new_pod(name: str, node_name: str, details: Mapping[str, Any]) -> ReadOnlyTree:
    uid = f"uid of {name} on {node_name}"
    metadata = {"name": name, "namespace": details["namespace"], "labels": details["labels"], "uid": uid}
    return {"metadata": metadata, "spec": {"nodeName": node_name}}


def _change(node: Tree, action: str, details: Mapping[str, Any]) -> None:
    labels = node["metadata"].setdefault("labels", {})
    if action == changes.ADD_RESOURCE:
        allocatable = node.setdefault("status", {}).setdefault("allocatable", {})
        resource = details["resource"]
        total = pod_resources.read({resource: details["amount"]})
        pod_resources.add(total, pod_resources.read({resource: allocatable.get(resource) or "0"}))
        nano, form = total[resource]
        allocatable[resource] = quantity.render(nano, form)
    elif action == changes.UNCORDON:
        node["spec"].pop("unschedulable", None)
        _remove_taint(node, "node.kubernetes.io/unschedulable", "NoSchedule")
    elif action == changes.REMOVE_TAINT:
        _remove_taint(node, details["key"], details["effect"])
    elif action == changes.SET_LABEL:
        labels[details["key"]] = details["value"]
    elif action == changes.REMOVE_LABEL:
        labels.pop(details["key"], None)


def _remove_taint(node: Tree, key: str, effect: str) -> None:
    """As the controller does it once the node is uncordoned."""
    node["spec"]["taints"] = [
        each for each in node["spec"].get("taints") or () if (each["key"], each["effect"]) != (key, effect)]


def changed(snapshot: Snapshot, wanted: Iterable[Change]) -> Snapshot:
    """A snapshot after changes of nodes, nodes that are added, and changes of other objects."""
    trial, proposed = snapshot.copy(), list[Change]()
    by_node: dict[str, list[Change]] = {}
    for each in wanted:
        kind, _, name = each.target.partition("/")
        if each.action == changes.ADD_NODE:
            trial = with_nodes(trial, _added(snapshot, each.details), int(str(each.details["count"])))
        elif each.action in changes.OF_OBJECTS:
            proposed.append(each)
        elif each.action == changes.DELETE_POD:
            by_node.setdefault(str(each.details["node"]), []).append(each)
        elif kind == "node":
            by_node.setdefault(name, []).append(each)
    for name, listed in by_node.items():
        trial.put(name, changed_node(trial.all_nodes[name], listed))
    trial.proposed = (*trial.proposed, *proposed)
    return trial


def with_nodes(snapshot: Snapshot, like: NodeInfo, count: int) -> Snapshot:
    """A snapshot with more nodes, all like one."""
    trial = snapshot.copy()
    for _ in range(count):
        name = unused_name(trial)
        trial.put(name, _new_node(like, name))
    return trial


def with_other_names(snapshot: Snapshot, before: Snapshot) -> Iterator[Snapshot]:
    """The same snapshot with the nodes that are added named before all others, and after them in
    reverse; once, as it is, where none was added.

    Of nodes that are as good the first by name is taken, and nobody says what an added one is
    called.
    """
    added = [name for name in snapshot.all_nodes if name not in before.all_nodes]
    if not added:
        yield snapshot
        return
    for names in ([f"!{number:04}" for number in range(len(added))], [f"~{number:04}" for number in range(len(added), 0, -1)]):
        trial = snapshot.copy()
        for old, new in zip(added, names, strict=True):
            node = trial.all_nodes[old]
            trial.put(old, None)
            trial.put(new, _new_node(node, new))
        yield trial


def _added(snapshot: Snapshot, details: Mapping[str, Any]) -> NodeInfo:
    """The node of which more are added."""
    if "like" in details:
        return snapshot.all_nodes[details["like"]]
    return bare_node(unused_name(snapshot), details["allocatable"], details["labels"])


def unused_name(snapshot: Snapshot) -> str:
    """A name that no node has."""
    count = len(snapshot.all_nodes)
    return next(name for number in range(count, 2 * count + 1) if (name := f"new-{number}") not in snapshot.all_nodes)


def _new_node(like: NodeInfo, name: str) -> NodeInfo:
    """An empty node that is like another."""
    assert like.node is not None, "a snapshot has no other nodes"
    tree = copy.deepcopy(dict(like.node))
    labels = dict(meta.labels_of(like.node))
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    tree["metadata"] = {**tree["metadata"], "name": name, "uid": f"uid of {name}", "labels": labels}
    return _info(tree)


def bare_node(name: str, allocatable: Mapping[str, str], labels: Mapping[str, str]) -> NodeInfo:
    """A node with nothing else."""
    metadata = {"name": name, "uid": f"uid of {name}", "labels": {HOSTNAME: name, **labels}}
    return _info({"metadata": metadata, "spec": {}, "status": {"allocatable": dict(allocatable)}})


def _info(node: ReadOnlyTree) -> NodeInfo:
    info = NodeInfo(meta.name_of(node))
    info.set_node(node)
    return info


def merged(wanted: Iterable[Change]) -> tuple[Change, ...]:
    """Changes without those that are there twice; amounts for one node are added up."""
    amounts: dict[tuple[str, str], int] = {}
    others: dict[tuple[str, str, str], Change] = {}
    nodes: dict[str, list[Change]] = {}
    for each in wanted:
        if each.action == changes.ADD_RESOURCE:
            resource = str(each.details["resource"])
            key = each.target, resource
            amounts[key] = amounts.get(key, 0) + changes.amount_of(resource, str(each.details["amount"]))
        elif each.action == changes.ADD_NODE:
            nodes.setdefault(each.text, []).append(each)
        elif each.action in (changes.ADD_VOLUME_LIMIT, changes.ADD_DEVICES):
            same = {**each.details, "count": 0, "target": each.target, "action": each.action}
            nodes.setdefault(orjson.dumps(same, option=orjson.OPT_SORT_KEYS).decode(), []).append(each)
        else:
            others.setdefault((each.action, each.target, each.text), each)
    added = [changes.add_resource(target, resource, amount) for (target, resource), amount in amounts.items() if amount]
    return (*others.values(), *added, *[changes.together(same) for same in nodes.values()])


def pod_like(info: PodInfo, name: str) -> ReadOnlyTree:
    """A pod that is like another, and new."""
    pod = dict(info.pod)
    pod["metadata"] = {**pod["metadata"], "name": name, "uid": f"uid of {name}"}
    return pod
