"""What the garbage collector does: deletes what has no owner left, frees what is orphaned, ends
foreground deletions.

Every decision is checked against a live read, since the graph may lag: except for owners whose
deletion an informer showed, which never come back.
Upstream: pkg/controller/garbagecollector/garbagecollector.go.
"""

import contextlib
import functools
from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, EVENTS, Resource
from fakekube.client.transport import TransportError
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.reconcile import Result
from fakekube.util.clock import never
from fakekube.util.tasks import turn
from fakekube_controllers.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, Identity, Node, Owner, affects_graph

UNKNOWN_KIND_RETRY = Result.after(30, daemon=True)
UNTURNED_DEPENDENTS = 16
"""So many dependents are orphaned before everybody else gets a turn."""
LOOK_SECONDS = 30.0  # between looks for types that are new, as upstream
NEEDED_VERBS = ("delete", "get", "list", "patch", "watch")


class Owners(NamedTuple):
    """An object's references by the state of what they point to."""

    solid: list[Tree]
    dangling: list[Tree]
    waiting: list[Tree]


class NamespacedOwner(Exception):
    """A cluster-scoped object names an owner that lives in a namespace: nothing can be said about
    it.
    """


class UnknownKind(Exception):
    """No resource is known for an owner's kind; it may come yet."""


class GarbageCollector:
    """A component for the manager.

    It watches every resource that can be deleted. It looks for new ones every 30 s, and when a
    definition of a custom resource changes, whose dependents would wait for so long upstream.
    """

    async def start(self, ctx: Context) -> None:
        """Watch everything and begin to collect."""
        self.ctx, self.client = ctx, ctx.client
        self.recorder = ctx.recorder("garbage-collector-controller")
        self.to_delete, self.to_orphan = ctx.queue("attempt_to_delete"), ctx.queue("attempt_to_orphan")
        self.graph = Graph(self.to_delete.add, self.to_orphan.add, self._report_invalid_namespace)
        self._resources: dict[tuple[str, str], Resource] = {}
        self._watched: dict[GroupResource, Resource] = {}
        self._served: Sequence[Resource] = ()
        self._timer = never(0.0, self._look)  # it may be stopped before it is told of any type
        with contextlib.suppress(APIError, TransportError):
            self._watch_what_is_new(await self.client.resources(verbs=NEEDED_VERBS))
        self._look_later()
        ctx.add_handler(CUSTOM_RESOURCE_DEFINITIONS, self._definition_seen, self._definition_changed, whole=False)
        Worker(ctx, self.to_delete, self._attempt_to_delete).start()
        Worker(ctx, self.to_orphan, self._attempt_to_orphan).start()

    async def stop(self) -> None:
        """Everything else belongs to the context."""
        self._timer.cancel()

    def _watch_what_is_new(self, served: Sequence[Resource]) -> None:
        """Watch the resources that are served and not watched yet; one that is served in another
        version by now is watched in that one.
        """
        if served == self._served:
            return
        self._served = served
        present = dict.fromkeys(served)
        for resource in served:
            self._resources[(resource.api_version, resource.kind)] = resource
            if resource.plural != EVENTS.plural and self._watched.get(resource.group_resource) not in present:
                self._watched[resource.group_resource] = resource
                self._watch(resource)

    def _look_later(self) -> None:
        self._timer = self.ctx.clock.call_later(LOOK_SECONDS, self._look, lazy=True)

    def _definition_seen(self, definition: Tree) -> None:
        if conditions.is_true((definition.get("status") or meta.EMPTY).get("conditions"), "Established"):
            self._timer.cancel()
            self._timer = self.ctx.clock.call_later(0, self._look)

    def _definition_changed(self, old: Tree, new: Tree) -> None:
        if old["spec"] != new["spec"] or old.get("status") != new.get("status"):
            self._definition_seen(new)

    def _look(self) -> None:
        self.ctx.tasks.spawn(self._look_for_types(), "garbagecollector: new types")

    async def _look_for_types(self) -> None:
        """Watch types that have come since. A server that does not answer is asked again."""
        with self.ctx.activity.busy(), contextlib.suppress(APIError, TransportError):
            self._watch_what_is_new(await self.client.resources(verbs=NEEDED_VERBS))
        if self._timer.cancelled:  # else a definition has changed meanwhile
            self._look_later()

    def _watch(self, resource: Resource) -> None:
        observe = functools.partial(self.graph.observe, api_version=resource.api_version, kind=resource.kind)

        def changed(old: Tree, new: Tree) -> None:
            if affects_graph(old["metadata"], new["metadata"]):
                observe(new)

        self.ctx.add_handler(resource, observe, changed, lambda last: self.graph.forget(meta.uid_of(last)), whole=False)

    def _report_invalid_namespace(self, node: Node, ref: Owner) -> None:
        identity = node.identity
        about = {"apiVersion": identity.api_version, "kind": identity.kind, "metadata": {
            "namespace": identity.namespace, "name": identity.name, "uid": identity.uid}}
        coordinates = (
            f"[{ref.api_version}/{ref.kind}, namespace: {identity.namespace}, name: {ref.name}, uid: {ref.uid}]")
        text = f'ownerRef {coordinates} does not exist in namespace "{identity.namespace}"'
        self.recorder.event(about, "Warning", "OwnerRefInvalidNamespace", text)

    # deleting

    async def _attempt_to_delete(self, uid: str) -> Result | None:
        node = self.graph.nodes.get(uid)
        if node is None or (node.being_deleted and not node.deleting_dependents):
            return None
        try:
            await self._delete_if_due(node)
        except UnknownKind:
            return UNKNOWN_KIND_RETRY
        except NamespacedOwner:
            return None
        return None

    async def _delete_if_due(self, node: Node) -> None:
        identity = node.identity
        latest = await self._read(identity)
        if latest is None:
            self.graph.absent(identity.uid)
            return
        if node.deleting_dependents:
            await self._process_deleting_dependents(node, latest)
            return
        references = meta.owners_of(latest)
        if not references:
            return
        owners = await self._classify(identity, references)
        if owners.solid:
            gone = [ref["uid"] for ref in [*owners.dangling, *owners.waiting]]
            if gone:
                await self._drop_references(latest, identity, gone)
        elif owners.waiting and node.dependents:
            if any(dependent.deleting_dependents for dependent in node.dependents.values()):
                latest = await self._unblock(latest, identity)
            await self._delete(latest, identity, "Foreground")
        else:
            await self._delete(latest, identity, _own_policy(latest))

    async def _process_deleting_dependents(self, node: Node, latest: Tree) -> None:
        blocking = node.blocking_dependents
        if not blocking:
            await self._remove_finalizer(latest, node.identity, FOREGROUND)
            return
        for dependent in blocking:
            if not dependent.deleting_dependents:
                self.to_delete.add(dependent.uid)

    async def _classify(self, identity: Identity, references: list[Tree]) -> Owners:
        result = Owners([], [], [])
        for ref in references:
            if self.graph.is_gone(ref, identity.namespace):
                result.dangling.append(ref)
                continue
            resource = await self._resource(ref["apiVersion"], ref["kind"])
            if resource.namespaced and not identity.namespace:
                raise NamespacedOwner(str(identity))
            owner = await self.client.get(resource, ref["name"], identity.namespace, missing_ok=True)
            if owner is None or meta.uid_of(owner) != ref["uid"]:
                result.dangling.append(ref)
            elif meta.is_deleting(owner) and FOREGROUND in meta.finalizers_of(owner):
                result.waiting.append(ref)
            else:
                result.solid.append(ref)
        return result

    # orphaning

    async def _attempt_to_orphan(self, uid: str) -> None:
        node = self.graph.nodes.get(uid)
        if node is None:
            return
        for place, dependent in enumerate(list(node.dependents.values())):
            if place and place % UNTURNED_DEPENDENTS == 0:
                await turn()
            latest = await self._read(dependent.identity)
            if latest is not None:
                await self._drop_references(latest, dependent.identity, [uid])
        owner = await self._read(node.identity)
        if owner is not None:
            await self._remove_finalizer(owner, node.identity, ORPHAN)

    # the API

    async def _resource(self, api_version: str, kind: str) -> Resource:
        found = self._resources.get((api_version, kind))
        if found is None:
            try:
                group, version = split_api_version(api_version)
                found = await self.client.for_kind(GroupVersionKind(group, version, kind))
            except (KeyError, ValueError) as error:
                raise UnknownKind(f"{api_version}, Kind={kind}") from error
            self._resources[(api_version, kind)] = found
        return found

    async def _read(self, identity: Identity) -> Tree | None:
        """The object that an identity means, live; None when it is not there, or another one is."""
        resource = await self._resource(identity.api_version, identity.kind)
        if resource.namespaced and not identity.namespace:
            return None
        found = await self.client.get(resource, identity.name, identity.namespace, missing_ok=True)
        return found if found is not None and meta.uid_of(found) == identity.uid else None

    async def _delete(self, latest: Tree, identity: Identity, policy: str) -> None:
        resource = await self._resource(identity.api_version, identity.kind)
        await self.client.delete(
            resource, identity.name, identity.namespace, propagation_policy=policy, uid=identity.uid,
            resource_version=meta.resource_version_of(latest), missing_ok=True)

    async def _patch(self, latest: Tree, identity: Identity, changes: Tree) -> Tree:
        """Change metadata of exactly the version that was read.

        Raises APIError, Conflict among them.
        """
        resource = await self._resource(identity.api_version, identity.kind)
        body = {"metadata": {"resourceVersion": meta.resource_version_of(latest), **changes}}
        try:
            return await self.client.patch(resource, identity.name, identity.namespace, body)
        except APIError as error:
            if error.code != 404:
                raise
            return latest

    async def _drop_references(self, latest: Tree, identity: Identity, uids: list[str]) -> None:
        kept = [ref for ref in meta.owners_of(latest) if ref["uid"] not in uids]
        if len(kept) != len(meta.owners_of(latest)):
            await self._patch(latest, identity, {"ownerReferences": kept or None})

    async def _unblock(self, latest: Tree, identity: Identity) -> Tree:
        """Let no reference block, so that a ring of owners in foreground deletion can come apart.
        """
        freed = [{**ref, "blockOwnerDeletion": False} if ref.get("blockOwnerDeletion") else ref for ref in meta.owners_of(latest)]
        return await self._patch(latest, identity, {"ownerReferences": freed})

    async def _remove_finalizer(self, latest: Tree, identity: Identity, finalizer: str) -> None:
        present = meta.finalizers_of(latest)
        if finalizer in present:
            await self._patch(latest, identity, {"finalizers": [name for name in present if name != finalizer] or None})


def _own_policy(latest: Tree) -> str:
    finalizers = meta.finalizers_of(latest)
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
