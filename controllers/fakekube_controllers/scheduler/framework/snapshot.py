"""The cluster as one scheduling cycle sees it.

A snapshot never changes by what happens in the cluster. The next one shares with it the infos of
all nodes that did not change, and almost all of the list that holds them. A cycle can assume pods
on its nodes and forget them again (a group of pods, a preemption that is only thought of); that is
seen in this snapshot and in copies that are made afterwards, nowhere else.

Upstream: pkg/scheduler/backend/cache/snapshot.go, which updates one snapshot in place.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from fakekube_controllers.scheduler.framework.types import ImageState, NodeInfo, PodInfo

if TYPE_CHECKING:
    from fakekube.runtime.why import Changes

BITS = 6
CHUNK = 1 << BITS  # nodes in a chunk: a change copies one chunk, and the list of chunks

MAX_LOGGED = 4096  # names; then another log is begun

Chunk = tuple[NodeInfo | None, ...]


class NodeMap(Mapping[str, NodeInfo]):
    """Nodes by name, in the order in which they were added. Immutable.

    Maps that were made of each other, one after the other, share a log of the names that changed.
    """

    __slots__ = ("_chunks", "_count", "_log", "_logged", "_places", "_size")

    def __init__(self, nodes: Iterable[NodeInfo] = ()) -> None:
        listed = list(nodes)
        self._places = {node.name: place for place, node in enumerate(listed)}
        self._chunks: list[Chunk] = [tuple(listed[at:at + CHUNK]) for at in range(0, len(listed), CHUNK)]
        self._count = self._size = len(listed)  # nodes, and places with those that are empty
        self._log: list[str] = []
        self._logged = 0  # so many names stood in the log when this map was made

    def __getitem__(self, name: str) -> NodeInfo:
        place = self._places[name]
        node = self._chunks[place >> BITS][place & (CHUNK - 1)]
        assert node is not None, "a place that is named has a node"
        return node

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def infos(self) -> Iterator[NodeInfo]:
        """The nodes, in order; faster than ``values``."""
        for chunk in self._chunks:
            for node in chunk:
                if node is not None:
                    yield node

    def with_changes(self, changes: Mapping[str, NodeInfo | None]) -> "NodeMap":
        """The nodes with some of them replaced, added, or (None) removed."""
        places = self._places
        for name, node in changes.items():
            if (node is None) == (name in places):
                return self._with_others(changes)
        changed = _copy(self)
        changed._follow(self, changes)
        chunks = changed._chunks = list(self._chunks)
        for name, node in changes.items():
            if node is not None:
                place = places[name]
                chunk = chunks[place >> BITS]
                at = place & (CHUNK - 1)
                chunks[place >> BITS] = (*chunk[:at], node, *chunk[at + 1:])
        return changed

    def _with_others(self, changes: Mapping[str, NodeInfo | None]) -> "NodeMap":
        """The same where names come or go: an empty place is left where one was, until there are
        many.
        """
        gone = [name for name, node in changes.items() if node is None and name in self._places]
        if self._size - self._count + len(gone) > CHUNK + self._count // 4:
            kept = {node.name: node for node in self.infos()}
            for name, node in changes.items():
                if node is None:
                    kept.pop(name, None)
                else:
                    kept[name] = node
            return NodeMap(kept.values())
        changed = _copy(self)
        places = changed._places = dict(self._places)
        chunks = [list(chunk) for chunk in self._chunks]
        for name, node in changes.items():
            place = places.get(name)
            if place is None:
                if node is None:
                    continue
                place = places[name] = changed._size
                changed._size += 1
                changed._count += 1
                if place >> BITS == len(chunks):
                    chunks.append([])
                chunks[place >> BITS].append(None)
            elif node is None:
                del places[name]
                changed._count -= 1
            chunks[place >> BITS][place & (CHUNK - 1)] = node
        same = self._chunks
        changed._chunks = [
            same[number] if number < len(same) and len(same[number]) == len(chunk) and _are_same(same[number], chunk)
            else tuple(chunk) for number, chunk in enumerate(chunks)]
        return changed

    def _follow(self, other: "NodeMap", names: Iterable[str]) -> None:
        """Be the map after another in its log, or begin one."""
        log = other._log
        if other._logged == len(log) <= MAX_LOGGED:
            log.extend(names)
            self._log, self._logged = log, len(log)
        else:
            self._log, self._logged = [], 0

    def changes_since(self, other: "NodeMap") -> Iterator[tuple[str, NodeInfo | None]]:
        """The nodes that are not the same as in another map, each with what it is here; None: gone.

        It takes as long as there are changes where one was made of the other, else as long as there
        are chunks, where little differs.
        """
        if other._log is self._log and other._logged <= self._logged:
            for name in dict.fromkeys(self._log[other._logged:self._logged]):
                if name in self._places:
                    yield name, self[name]
            return
        before, now = other._chunks, self._chunks
        for number in range(max(len(before), len(now))):
            old = before[number] if number < len(before) else ()
            new = now[number] if number < len(now) else ()
            if old is new:
                continue
            for at in range(max(len(old), len(new))):
                was = old[at] if at < len(old) else None
                node = new[at] if at < len(new) else None
                if was is not node:
                    if was is not None and was.name not in self._places:
                        yield was.name, None
                    if node is not None:
                        yield node.name, node


def _copy(nodes: NodeMap) -> NodeMap:
    copied = NodeMap.__new__(NodeMap)
    copied._places, copied._chunks = nodes._places, nodes._chunks
    copied._count, copied._size = nodes._count, nodes._size
    copied._log, copied._logged = [], 0
    return copied


def _are_same(chunk: Sequence[NodeInfo | None], other: Sequence[NodeInfo | None]) -> bool:
    return all(one is another for one, another in zip(chunk, other, strict=True))


NO_NODES = NodeMap()
NO_IMAGES: Mapping[str, ImageState] = {}


class Snapshot:
    """Nodes by name, with the pods on them.

    ``nodes`` are those to choose from, which is all nodes but where a placement restricts them;
    ``all_nodes`` are all. ``image_states``: the images that some node has, by name. ``proposed``:
    changes of other objects, to be tried as if they were done.
    """

    __slots__ = (
        "_with_affinity", "_with_anti_affinity", "_with_claims", "all_nodes", "image_states", "placement", "proposed")

    def __init__(self, nodes: NodeMap = NO_NODES, image_states: Mapping[str, ImageState] = NO_IMAGES) -> None:
        self.all_nodes, self.image_states = nodes, image_states
        self.placement: Mapping[str, None] | None = None
        self.proposed: Changes = ()
        # Names of nodes that have such pods; None: not looked up yet. Shared with other snapshots,
        # so never changed.
        unknown: Mapping[str, None] | None = None if nodes else {}
        self._with_affinity = self._with_anti_affinity = self._with_claims = unknown

    @property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """The nodes to choose from."""
        if self.placement is None:
            return self.all_nodes
        return {name: self.all_nodes[name] for name in self.placement if name in self.all_nodes}

    def infos(self) -> Iterable[NodeInfo]:
        """The nodes to choose from, in order; faster than ``nodes`` where these are all."""
        return self.all_nodes.infos() if self.placement is None else self.nodes.values()

    def copy(self) -> "Snapshot":
        """A snapshot of the same, to try something out on."""
        copied = Snapshot(self.all_nodes, self.image_states)
        copied.placement, copied.proposed = self.placement, self.proposed
        copied._with_affinity, copied._with_anti_affinity = self._with_affinity, self._with_anti_affinity
        copied._with_claims = self._with_claims
        return copied

    def with_changes(self, changes: Mapping[str, NodeInfo | None], image_states: Mapping[str, ImageState]) -> "Snapshot":
        """The next snapshot: with nodes replaced, added, or (None) removed."""
        changed = Snapshot(self.all_nodes, image_states)
        changed._with_affinity, changed._with_anti_affinity = self._with_affinity, self._with_anti_affinity
        changed._with_claims = self._with_claims
        changed._replace(changes)
        return changed

    def restricted_to(self, placement: Mapping[str, None] | None) -> "Snapshot":
        """A copy in which only these nodes are to choose from; None: all."""
        copied = self.copy()
        copied.placement = placement
        return copied

    def _replace(self, changes: Mapping[str, NodeInfo | None]) -> None:
        self.all_nodes = self.all_nodes.with_changes(changes)
        self._with_affinity = _follow(self._with_affinity, changes, _has_affinity)
        self._with_anti_affinity = _follow(self._with_anti_affinity, changes, _has_anti_affinity)
        self._with_claims = _follow(self._with_claims, changes, _has_claims)

    # what a cycle tries

    def assume_pod(self, pod: PodInfo, node_name: str) -> None:
        """Put a pod on a node. KeyError when there is no such node."""
        node = self.all_nodes[node_name].copy()
        node.add(pod)
        self._replace({node_name: node})

    def forget_pod(self, uid: str, node_name: str) -> None:
        """Take a pod off a node, harmless when it is not there. KeyError when there is no such
        node.
        """
        node = self.all_nodes[node_name].copy()
        node.remove(uid)
        self._replace({node_name: node})

    def put(self, name: str, node: NodeInfo | None) -> None:
        """Have a node in this snapshot in place of the one with that name; None: have none."""
        self._replace({name: node})

    # nodes with certain pods

    def nodes_with_affinity(self) -> list[NodeInfo]:
        """All nodes with pods that have affinity or anti-affinity to pods, required or preferred.
        """
        if self._with_affinity is None:
            self._with_affinity = {node.name: None for node in self.all_nodes.infos() if node.pods_with_affinity}
        return [self.all_nodes[name] for name in self._with_affinity]

    def nodes_with_required_anti_affinity(self) -> list[NodeInfo]:
        """All nodes with pods that have required anti-affinity to pods."""
        if self._with_anti_affinity is None:
            self._with_anti_affinity = {
                node.name: None for node in self.all_nodes.infos() if node.pods_with_required_anti_affinity}
        return [self.all_nodes[name] for name in self._with_anti_affinity]

    def is_claim_used(self, namespace: str, name: str) -> bool:
        """Whether a pod on a node uses a PersistentVolumeClaim."""
        if self._with_claims is None:
            self._with_claims = {node.name: None for node in self.all_nodes.infos() if node.claim_counts}
        return any((namespace, name) in self.all_nodes[each].claim_counts for each in self._with_claims)


def _follow(
    names: Mapping[str, None] | None, changes: Mapping[str, NodeInfo | None], has: Callable[[NodeInfo], object],
) -> Mapping[str, None] | None:
    """Names of nodes that have something, after changes; the same object where nothing differs."""
    if names is None:
        return None
    followed: dict[str, None] | None = None
    for name, node in changes.items():
        if (node is not None and bool(has(node))) != (name in names):
            if followed is None:
                followed = dict(names)
            if name in names:
                del followed[name]
            else:
                followed[name] = None
    return names if followed is None else followed


def _has_affinity(node: NodeInfo) -> object:
    return node.pods_with_affinity


def _has_anti_affinity(node: NodeInfo) -> object:
    return node.pods_with_required_anti_affinity


def _has_claims(node: NodeInfo) -> object:
    return node.claim_counts
