"""Who owns whom, by uid, as the informers tell it.

A node is observed (an informer showed it) or virtual: known only because somebody names it as an owner, until a live read
says otherwise. The graph decides what has to be looked at and says so through two callbacks; it reads and writes nothing.
Upstream: pkg/controller/garbagecollector/{graph.go,graph_builder.go}.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"

Reference = Mapping[str, Any]


class Identity(NamedTuple):
    """What a reference says of an object, with the namespace that it is looked for in."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Node:
    """One object. ``dependents`` are those that name it as an owner, by uid, in order of appearance."""

    __slots__ = (
        "being_deleted", "deleting_dependents", "dependents", "finalizers", "identity", "owners", "virtual",
    )

    def __init__(self, identity: Identity, owners: Sequence[Reference] = (), *, virtual: bool = False) -> None:
        self.identity, self.owners, self.virtual = identity, tuple(owners), virtual
        self.dependents: dict[str, Node] = {}
        self.finalizers: tuple[str, ...] = ()
        self.being_deleted = False
        self.deleting_dependents = False

    @property
    def blocking_dependents(self) -> "list[Node]":
        """Dependents whose reference keeps this node from going in the foreground."""
        uid = self.identity.uid
        return [
            node for node in self.dependents.values()
            if any(ref["uid"] == uid and ref.get("blockOwnerDeletion") for ref in node.owners)
        ]


def tells_of_owners(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the graph has anything to learn of a change, given the metadata before and after."""
    if "deletionTimestamp" in new:
        return True
    return old.get("ownerReferences") != new.get("ownerReferences") or old.get("finalizers") != new.get("finalizers")


class Graph:
    """Nodes by uid.

    ``look_at`` is called with what may have to be deleted, ``orphan`` with whose dependents go free, and ``stray`` with a
    node and a reference of it that points into another namespace.
    """

    def __init__(
        self, look_at: Callable[[str], None], orphan: Callable[[str], None], stray: Callable[[Node, Reference], None],
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self._look_at, self._orphan, self._stray = look_at, orphan, stray

    def observe(self, obj: Mapping[str, Any], api_version: str, kind: str) -> None:
        """An informer showed an object, for the first time or changed."""
        meta = obj["metadata"]
        uid = meta["uid"]
        owners = tuple(meta.get("ownerReferences") or ())
        node = self.nodes.get(uid)
        if node is None:
            node = self.nodes[uid] = Node(Identity(api_version, kind, meta.get("namespace", ""), meta["name"], uid), owners)
            self._link(node, owners)
            self._update_state(node, meta)
            if any(self.nodes[ref["uid"]].virtual for ref in owners):
                self._look_at(uid)
            return
        if node.virtual:
            self._meet(node, Identity(api_version, kind, meta.get("namespace", ""), meta["name"], uid))
        old = node.owners
        node.owners = owners
        self._relink(node, old, owners)
        self._update_state(node, meta)
        if old != owners and owners:
            self._look_at(uid)

    def _meet(self, node: Node, identity: Identity) -> None:
        """A virtual node turns out to exist; those who named it by other coordinates are looked at again."""
        node.virtual = False
        node.identity = identity
        for dependent in node.dependents.values():
            for ref in dependent.owners:
                if ref["uid"] == identity.uid and not self._agrees(node, ref, dependent):
                    self._look_at(dependent.identity.uid)

    def _update_state(self, node: Node, meta: Mapping[str, Any]) -> None:
        finalizers = tuple(meta.get("finalizers") or ())
        deleting = "deletionTimestamp" in meta
        was_orphaning = node.being_deleted and ORPHAN in node.finalizers
        was_waiting = node.deleting_dependents
        node.finalizers, node.being_deleted = finalizers, deleting
        if deleting and ORPHAN in finalizers and not was_orphaning:
            self._orphan(node.identity.uid)
        if deleting and FOREGROUND in finalizers:
            node.deleting_dependents = True
            if not was_waiting:
                for dependent in list(node.dependents.values()):
                    self._look_at(dependent.identity.uid)
            self._look_at(node.identity.uid)

    def _link(self, node: Node, owners: Sequence[Reference]) -> None:
        for ref in owners:
            uid = ref["uid"]
            owner = self.nodes.get(uid)
            if owner is None:
                identity = Identity(ref["apiVersion"], ref["kind"], node.identity.namespace, ref["name"], uid)
                owner = self.nodes[uid] = Node(identity, virtual=True)
                self._look_at(uid)
            elif not self._agrees(owner, ref, node):
                self._look_at(node.identity.uid)
            owner.dependents[node.identity.uid] = node

    def _agrees(self, owner: Node, ref: Reference, node: Node) -> bool:
        """Whether a reference describes its owner as it is; one into another namespace is reported."""
        identity = owner.identity
        if identity.namespace != node.identity.namespace and (identity.namespace or owner.virtual):
            if identity.namespace and not owner.virtual:
                self._stray(node, ref)
            return False
        return (identity.api_version, identity.kind, identity.name) == (ref["apiVersion"], ref["kind"], ref["name"])

    def _relink(self, node: Node, old: Sequence[Reference], new: Sequence[Reference]) -> None:
        if old == new:
            return
        kept = [ref["uid"] for ref in new]
        for ref in old:
            owner = self.nodes.get(ref["uid"])
            if owner is not None and ref["uid"] not in kept:
                owner.dependents.pop(node.identity.uid, None)
                self._drop_if_idle(owner)
        self._link(node, new)
        for ref in [*old, *new]:
            owner = self.nodes.get(ref["uid"])
            if owner is not None and owner.deleting_dependents:
                self._look_at(ref["uid"])

    def _drop_if_idle(self, node: Node) -> None:
        if node.virtual and not node.dependents:
            self.nodes.pop(node.identity.uid, None)

    def absent(self, uid: str) -> None:
        """A live read found nothing where a virtual node should be: those who name it are looked at."""
        node = self.nodes.get(uid)
        if node is not None and node.virtual:
            for dependent in list(node.dependents.values()):
                self._look_at(dependent.identity.uid)
            self._drop_if_idle(node)

    def forget(self, uid: str) -> None:
        """An object is gone: its dependents are looked at, and owners that waited for it."""
        node = self.nodes.pop(uid, None)
        if node is None:
            return
        for ref in node.owners:
            owner = self.nodes.get(ref["uid"])
            if owner is not None:
                owner.dependents.pop(uid, None)
                self._drop_if_idle(owner)
                if owner.deleting_dependents:
                    self._look_at(ref["uid"])
        if node.dependents:
            ghost = self.nodes[uid] = Node(node.identity, virtual=True)
            ghost.dependents = node.dependents
            for dependent in list(node.dependents.values()):
                self._look_at(dependent.identity.uid)
