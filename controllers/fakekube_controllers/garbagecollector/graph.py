"""Who owns whom, by uid, as the informers tell it.

A node is observed (an informer showed it) or virtual: known only because somebody names it as an
owner, until a live read says otherwise. The graph decides which objects may have to be deleted or
orphaned, and names them to two callbacks; it makes no requests.
Upstream: pkg/controller/garbagecollector/{graph.go,graph_builder.go}.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


class Owner(NamedTuple):
    """What an object's reference says of an owner."""

    api_version: str
    kind: str
    name: str
    uid: str
    controls: bool | None
    blocks: bool | None


class Identity(NamedTuple):
    """What a reference says of an object, with the namespace that it is looked for in."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Node:
    """One object.

    ``dependents`` are those that name it as an owner, by uid, in order of appearance.

    There is one for every object of the cluster, so that it is kept small: most have no dependents,
    and the owners of all that one object made are one tuple.
    """

    __slots__ = (
        "api_version", "being_deleted", "deleting_dependents", "dependents", "gone", "kind", "name", "namespace", "orphaning",
        "owners", "owners_of_last", "uid", "virtual",
    )

    def __init__(self, identity: Identity, *, virtual: bool = False) -> None:
        self.identify(identity)
        self.virtual = virtual
        self.owners: tuple[Owner, ...] = ()
        # of the last dependent whose first owner this is
        self.owners_of_last: tuple[Owner, ...] = ()
        self.dependents: Mapping[str, Node] = NO_DEPENDENTS
        self.being_deleted = self.deleting_dependents = self.orphaning = False
        self.gone = False  # an informer told of its end

    def identify(self, identity: Identity) -> None:
        """Be this object from now on."""
        self.api_version, self.kind, self.namespace, self.name, self.uid = identity

    @property
    def identity(self) -> Identity:
        """What a reference says of it."""
        return Identity(self.api_version, self.kind, self.namespace, self.name, self.uid)

    @property
    def blocking_dependents(self) -> "list[Node]":
        """Dependents whose reference keeps this node from going in the foreground."""
        return [node for node in self.dependents.values() if any(ref.uid == self.uid and ref.blocks for ref in node.owners)]

    def add_dependent(self, node: "Node") -> None:
        """``node`` names this one as an owner."""
        if isinstance(self.dependents, dict):
            self.dependents[node.uid] = node
        else:
            self.dependents = {node.uid: node}

    def drop_dependent(self, uid: str) -> None:
        """That one does so no more."""
        if isinstance(self.dependents, dict):
            self.dependents.pop(uid, None)


NO_DEPENDENTS: Mapping[str, Node] = MappingProxyType({})


def affects_graph(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the graph has anything to learn of a change, given the metadata before and after.

    Finalizers say something only of what is being deleted.
    """
    return "deletionTimestamp" in new or old.get("ownerReferences") != new.get("ownerReferences")


class Graph:
    """Nodes by uid.

    ``to_delete`` is called with the uid of what may have to be deleted, ``to_orphan`` with that of
    an object whose dependents lose their owner, and ``report`` with a node and a reference of it
    that points into another namespace.
    """

    def __init__(
        self, to_delete: Callable[[str], None], to_orphan: Callable[[str], None], report: Callable[[Node, Owner], None],
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self._delete_later, self._orphan_later, self._report = to_delete, to_orphan, report

    def observe(self, obj: Mapping[str, Any], api_version: str, kind: str) -> None:
        """An informer showed an object, for the first time or changed."""
        meta = obj["metadata"]
        uid = meta["uid"]
        owners = self._owners(meta)
        node = self.nodes.get(uid)
        if node is None:
            node = self.nodes[uid] = Node(Identity(api_version, kind, meta.get("namespace", ""), meta["name"], uid))
            node.owners = owners
            self._link(node, owners)
            self._update_state(node, meta)
            if any(self.nodes[ref.uid].virtual for ref in owners):
                self._delete_later(uid)
            return
        if node.virtual:
            self._confirm(node, Identity(api_version, kind, meta.get("namespace", ""), meta["name"], uid))
        old = node.owners
        node.owners = owners
        self._relink(node, old, owners)
        self._update_state(node, meta)

    def _owners(self, meta: Mapping[str, Any]) -> tuple[Owner, ...]:
        """An object's owners; the same tuple as of the last object with just these."""
        references = meta.get("ownerReferences")
        if not references:
            return ()
        owners = tuple(
            Owner(ref["apiVersion"], ref["kind"], ref["name"], ref["uid"], ref.get("controller"), ref.get("blockOwnerDeletion"))
            for ref in references)
        first = self.nodes.get(owners[0].uid)
        if first is None:
            return owners
        if first.owners_of_last != owners:
            first.owners_of_last = owners
        return first.owners_of_last

    def _confirm(self, node: Node, identity: Identity) -> None:
        """A virtual node turns out to exist; dependents that named it by other coordinates are
        checked again.
        """
        node.virtual = node.gone = False
        node.identify(identity)
        for dependent in node.dependents.values():
            for ref in dependent.owners:
                if ref.uid == identity.uid and not self._agrees(node, ref, dependent):
                    self._delete_later(dependent.uid)

    def _update_state(self, node: Node, meta: Mapping[str, Any]) -> None:
        if "deletionTimestamp" not in meta:
            node.being_deleted = node.orphaning = False
            return
        finalizers = meta.get("finalizers") or ()
        was_orphaning, was_waiting = node.orphaning, node.deleting_dependents
        node.being_deleted, node.orphaning = True, ORPHAN in finalizers
        if node.orphaning and not was_orphaning:
            self._orphan_later(node.uid)
        if FOREGROUND in finalizers:
            node.deleting_dependents = True
            if not was_waiting:
                for dependent in list(node.dependents.values()):
                    self._delete_later(dependent.uid)
            self._delete_later(node.uid)

    def _link(self, node: Node, owners: Sequence[Owner]) -> None:
        for ref in owners:
            owner = self.nodes.get(ref.uid)
            if owner is None:
                identity = Identity(ref.api_version, ref.kind, node.namespace, ref.name, ref.uid)
                owner = self.nodes[ref.uid] = Node(identity, virtual=True)
                self._delete_later(ref.uid)
            elif not self._agrees(owner, ref, node):
                self._delete_later(node.uid)
            owner.add_dependent(node)

    def _agrees(self, owner: Node, ref: Owner, node: Node) -> bool:
        """Whether a reference describes its owner as it is; one into another namespace is reported.
        """
        if owner.namespace != node.namespace and (owner.namespace or owner.virtual):
            if owner.namespace and not owner.virtual:
                self._report(node, ref)
            return False
        return owner.name == ref.name and owner.kind == ref.kind and owner.api_version == ref.api_version

    def _relink(self, node: Node, old: Sequence[Owner], new: Sequence[Owner]) -> None:
        if old == new:
            return
        kept = [ref.uid for ref in new]
        for ref in old:
            owner = self.nodes.get(ref.uid)
            if owner is not None and ref.uid not in kept:
                owner.drop_dependent(node.uid)
                self._drop_if_idle(owner)
        self._link(node, new)
        for ref in [*old, *new]:
            owner = self.nodes.get(ref.uid)
            if owner is not None and owner.deleting_dependents:
                self._delete_later(ref.uid)

    def _drop_if_idle(self, node: Node) -> None:
        if node.virtual and not node.dependents:
            self.nodes.pop(node.uid, None)

    def absent(self, uid: str) -> None:
        """A live read did not find the object of a virtual node: its dependents are checked."""
        node = self.nodes.get(uid)
        if node is not None and node.virtual:
            for dependent in list(node.dependents.values()):
                self._delete_later(dependent.uid)
            self._drop_if_idle(node)

    def forget(self, uid: str) -> None:
        """An object is gone: its dependents are checked, and owners that waited for it."""
        node = self.nodes.pop(uid, None)
        if node is None:
            return
        for ref in node.owners:
            owner = self.nodes.get(ref.uid)
            if owner is not None:
                owner.drop_dependent(uid)
                self._drop_if_idle(owner)
                if owner.deleting_dependents:
                    self._delete_later(ref.uid)
        if node.dependents:
            placeholder = self.nodes[uid] = Node(node.identity, virtual=True)
            placeholder.dependents, placeholder.gone = node.dependents, True
            for dependent in list(node.dependents.values()):
                self._delete_later(dependent.uid)

    def is_gone(self, reference: Mapping[str, Any], namespace: str) -> bool:
        """Whether the owner that a reference of an object in ``namespace`` means was there and is
        no more.

        So it is not read again for each of its dependents. Upstream: absentOwnerCache.
        """
        node = self.nodes.get(reference["uid"])
        if node is None or not node.gone or node.namespace not in ("", namespace):
            return False
        return (node.api_version, node.kind, node.name) == (reference["apiVersion"], reference["kind"], reference["name"])
