"""The smallest change of nodes with which something fits, whatever that is.

``fits`` says of a snapshot whether it does. Everything that is proposed was tried with it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import meta
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.why import trial
from fakekube_controllers.scheduler.why.room import Room

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Json

Fits = Callable[[Snapshot], bool]
MAX_SHAPES, MAX_NODES, MAX_TRIALS = 4, 64, 96


def shrunk(snapshot: Snapshot, wanted: Changes, fits: Fits) -> Changes | None:
    """The same changes without those that are not needed, and no amount twice as large as is
    needed; None where they are not enough.
    """
    if not fits(trial.changed(snapshot, wanted)):
        return None
    trials = iter(range(MAX_TRIALS))

    def will_do(others: list[Change]) -> bool:
        return next(trials, None) is not None and fits(trial.changed(snapshot, others))

    found = list(wanted)
    for each in wanted:
        without = [other for other in found if other is not each]
        if will_do(without):
            found = without
            continue
        smaller = _halved(each)
        while smaller is not None and will_do([*without, smaller]):
            found = [*without, smaller]
            smaller = _halved(smaller)
    return tuple(found)


def _halved(change: Change) -> Change | None:
    """Half of an amount, rounded down; None where there is no half."""
    if change.action != changes.ADD_RESOURCE:
        return None
    resource = str(change.details["resource"])
    amount = changes.amount_of(resource, str(change.details["amount"])) // 2
    return changes.add_resource(change.target, resource, amount) if amount else None


def more_nodes(snapshot: Snapshot, fits: Fits) -> Changes | None:
    """The fewest nodes, all like one that is there, with which it fits."""
    best: tuple[int, NodeInfo] | None = None
    for like in _shapes(snapshot):
        most = best[0] - 1 if best is not None else MAX_NODES
        count = _fewest(partial(_fits_with, snapshot, fits, like), most)
        if count is not None:
            best = count, like
    return (_added(best[1], best[0]),) if best is not None else None


def _fewest(will_do: Callable[[int], bool], most: int) -> int | None:
    """The least number up to ``most`` that will do, where every larger one does as well."""
    low, high = 0, 1  # low will not do
    while high < most and not will_do(high):
        low, high = high, high * 2
    high = min(high, most)
    if high <= low or not will_do(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if will_do(middle) else (middle, high)
    return high


def _fits_with(snapshot: Snapshot, fits: Fits, like: NodeInfo, count: int) -> bool:
    return fits(trial.changed(snapshot, [_added(like, count)]))


def _added(like: NodeInfo, count: int) -> Change:
    nodes = "one more node" if count == 1 else f"{count} more nodes"
    return Change(changes.ADD_NODE, "node", f"{nodes} like {like.name}", {"count": count, "like": like.name})


def _shapes(snapshot: Snapshot) -> Iterator[NodeInfo]:
    """Nodes of which none is like another: in what they have, their labels and their taints."""
    seen: dict[bytes, None] = {}
    for node in snapshot.all_nodes.infos():
        if node.node is None:
            continue
        labels = {key: value for key, value in meta.labels_of(node.node).items() if key != trial.HOSTNAME}
        shape = orjson.dumps([node.allocatable, labels, node.taints], option=orjson.OPT_SORT_KEYS)
        if shape not in seen and len(seen) < MAX_SHAPES:
            seen[shape] = None
            yield node


def new_node(snapshot: Snapshot, room: Room, pod: PodInfo, fits: Fits) -> Changes | None:
    """A node of which nothing is known but what the pod asks for, where such a one would do."""
    name = next(name for number in range(len(snapshot.all_nodes) + 1) if (name := f"new-{number}") not in snapshot.all_nodes)
    bare = NodeInfo(name)
    bare.set_node({"metadata": {"name": name, "uid": name, "labels": {trial.HOSTNAME: name}}, "spec": {}, "status": {}})
    with_node = snapshot.copy()
    with_node.put(bare)
    found = room.least(pod, with_node.restricted_to({name: None}))
    if found is None or not fits(trial.changed(with_node, found.changes)):
        return None
    amounts: dict[str, Json] = {
        str(each.details["resource"]): each.details["amount"] for each in found.changes if each.action == changes.ADD_RESOURCE}
    labels: dict[str, Json] = {
        str(each.details["key"]): each.details["value"] for each in found.changes if each.action == changes.SET_LABEL}
    shown = ", ".join([*(f"{amount} {resource}" for resource, amount in amounts.items() if resource != "pods"),
                       *(f"label {key}={value}" for key, value in labels.items())])
    text = f"a node with {shown}" if shown else "a node"
    return (Change(changes.ADD_NODE, "node", text, {"count": 1, "allocatable": amounts, "labels": labels}),)
