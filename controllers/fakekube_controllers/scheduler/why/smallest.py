"""The smallest change of nodes with which something fits, whatever that is.

``fits`` says of a snapshot whether it does. Everything that is proposed was tried with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Json
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.why import trial
from fakekube_controllers.scheduler.why.room import Room

NO_LABELS: Mapping[str, str] = {}
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
    """Half of an amount, or of a number, rounded down; None where there is no half."""
    if change.action in (changes.ADD_NODE, changes.ADD_VOLUME_LIMIT, changes.ADD_DEVICES):
        count = int(str(change.details["count"])) // 2
        return changes.with_count(change, count) if count else None
    if change.action != changes.ADD_RESOURCE:
        return None
    resource = str(change.details["resource"])
    amount = changes.amount_of(resource, str(change.details["amount"])) // 2
    return changes.add_resource(change.target, resource, amount) if amount else None


class NewNode(NamedTuple):
    """A node that could be added: like one that is there, or of what is in ``details``."""

    node: NodeInfo
    text: str
    details: Mapping[str, Json]

    def times(self, count: int) -> Change:
        """So many of them."""
        return changes.add_node(self.text, count, self.details)


def more_nodes(snapshot: Snapshot, fits: Fits, bare: NewNode | None) -> Changes | None:
    """The fewest nodes with which it fits: all like one that is there, or bare ones."""
    best: tuple[int, NewNode] | None = None
    for each in (*_shapes(snapshot), *([bare] if bare is not None else ())):
        most = best[0] - 1 if best is not None else MAX_NODES
        count = _fewest(partial(_fits_with, snapshot, fits, each), most)
        if count is not None:
            best = count, each
    return (best[1].times(best[0]),) if best is not None else None


def _fits_with(snapshot: Snapshot, fits: Fits, node: NewNode, count: int) -> bool:
    return fits(trial.with_nodes(snapshot, node.node, count))


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


def _shapes(snapshot: Snapshot) -> Iterator[NewNode]:
    """Nodes of which none is like another: in what they have, their labels and their taints."""
    seen: dict[bytes, None] = {}
    for node in snapshot.all_nodes.infos():
        if node.node is None:
            continue
        labels = {key: value for key, value in meta.labels_of(node.node).items() if key != trial.HOSTNAME}
        shape = orjson.dumps([node.allocatable, labels, node.taints], option=orjson.OPT_SORT_KEYS)
        if shape not in seen and len(seen) < MAX_SHAPES:
            seen[shape] = None
            yield NewNode(node, f"node like {node.name}", {"like": node.name})


def bare_node(snapshot: Snapshot, room: Room, pod: PodInfo, labels: Mapping[str, str] = NO_LABELS) -> NewNode | None:
    """A node of which nothing is known but what one pod asks for; None where such a one would not
    do.
    """
    name = trial.unused_name(snapshot)
    bare = trial.bare_node(name, {}, labels)
    with_node = snapshot.copy()
    with_node.put(name, bare)
    found = room.least(pod, with_node.restricted_to({name: None}))
    if found is None:
        return None
    amounts = {
        str(each.details["resource"]): str(each.details["amount"])
        for each in found.changes if each.action == changes.ADD_RESOURCE}
    set_labels = {
        str(each.details["key"]): str(each.details["value"]) for each in found.changes if each.action == changes.SET_LABEL}
    return _of_parts(name, amounts, {**labels, **set_labels})


def _of_parts(name: str, amounts: Mapping[str, str], labels: Mapping[str, str]) -> NewNode:
    shown = ", ".join([*(f"{amount} {resource}" for resource, amount in amounts.items() if resource != "pods"),
                       *(f"label {key}={value}" for key, value in labels.items())])
    return NewNode(trial.bare_node(name, amounts, labels), f"node with {shown}" if shown else "node",
                   {"allocatable": dict(amounts), "labels": dict(labels)})


def as_few_kinds(snapshot: Snapshot, nodes: Sequence[tuple[NewNode, int]]) -> Sequence[tuple[NewNode, int]]:
    """Bare nodes with the number of each, as nodes of as few kinds as their labels let be: whatever
    pod goes to whichever of them finds what the largest has.
    """
    largest: dict[str, str] = {}
    kinds: list[tuple[dict[str, str], int]] = []
    for node, count in nodes:
        amounts, labels = (_texts(node.details[part]) for part in ("allocatable", "labels"))
        for resource, amount in amounts.items():
            if changes.amount_of(resource, amount) > changes.amount_of(resource, largest.get(resource, "0")):
                largest[resource] = amount
        for number, (others, other_count) in enumerate(kinds):
            if all(others.get(key, value) == value for key, value in labels.items()):
                kinds[number] = others | labels, other_count + count
                break
        else:
            kinds.append((labels, count))
    name = trial.unused_name(snapshot)
    return [(_of_parts(name, largest, labels), count) for labels, count in kinds]


def _texts(details: Json) -> dict[str, str]:
    return {str(key): str(value) for key, value in details.items()} if isinstance(details, dict) else {}
