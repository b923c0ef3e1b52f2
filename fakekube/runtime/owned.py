"""Which owners to reconcile when a pod is added, updated or deleted: its controller, or those that
might adopt it.

ReplicaSets, StatefulSets, DaemonSets and Jobs handle events of pods in the same way. Upstream:
addPod, updatePod, deletePod and resolveControllerRef, once in each of
pkg/controller/{replicaset,statefulset,daemon,job}.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.gvk import split_api_version
from fakekube.apimachinery.labels import Selector, SelectorError
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import PODS, Resource
from fakekube.runtime.context import Context
from fakekube.runtime.ownership import ControllerRefManager, recheck_deletion
from fakekube.workqueue.queue import WorkQueue


def selector_of(owner: Tree) -> Selector:
    """``spec.selector``: a label selector, or of a ReplicationController labels.

    An invalid one selects nothing.
    """
    selector = owner["spec"].get("selector")
    if owner["kind"] == "ReplicationController":
        return labels.from_set(selector or {})
    try:
        return labels.from_label_selector(selector)
    except SelectorError:
        return labels.NOTHING


class OwnedObjects:
    """Adds the keys of objects of ``resource`` to ``queue`` when their children change.

    ``expectations``: where creations and deletions of children are noted. ``children``: the
    resource of the children. ``delay_seconds``: how long the queue holds a key back, so that
    children which change together make one reconcile. ``finalizers``: what a child gets when it is
    adopted, and loses when it is released.
    """

    def __init__(
        self, ctx: Context, resource: Resource, queue: WorkQueue[Any], expectations: Expectations | None = None, *,
        children: Resource = PODS, delay_seconds: float = 0.0, finalizers: Sequence[str] = (),
    ) -> None:
        self._client, self._resource, self._queue, self._expectations = ctx.client, resource, queue, expectations
        self._child_resource, self._delay_seconds, self._finalizers = children, delay_seconds, finalizers
        self._owners, self._children = ctx.lister(resource), ctx.lister(children)
        ctx.add_handler(children, self._added, self._updated, self._deleted)

    def owner_of(self, child: Tree, reference: Tree | None = None) -> Tree | None:
        """The object that controls ``child``, as the cache has it."""
        reference = reference or meta.controller_of(child)
        if reference is None or reference["kind"] != self._resource.kind:
            return None
        if split_api_version(reference["apiVersion"])[0] != self._resource.group:
            return None
        owner = self._owners.get(meta.namespace_of(child), reference["name"])
        return owner if owner is not None and meta.uid_of(owner) == reference["uid"] else None

    def candidates(self, owner: Tree) -> list[Tree]:
        """What ``owner`` controls, and what nobody controls in its namespace."""
        return [*self._children.controlled_by(meta.uid_of(owner)), *self._children.orphans(meta.namespace_of(owner))]

    async def claim(
        self, owner: Tree, children: Iterable[Tree], matches: Callable[[Tree], bool] | None = None,
    ) -> list[Tree]:
        """Those of ``children`` that are the owner's now: it adopts what its selector matches, and
        releases the rest.

        Raises ClaimFailed.
        """
        manager = ControllerRefManager(
            self._client, self._child_resource, owner, selector_of(owner),
            can_adopt=recheck_deletion(self._client, self._resource, owner), finalizers=self._finalizers)
        return await manager.claim(children, matches)

    def _enqueue(self, owner: Tree) -> None:
        if self._delay_seconds:
            self._queue.add_after(meta.key_of(owner), self._delay_seconds)
        else:
            self._queue.add(meta.key_of(owner))

    def _added(self, child: Tree) -> None:
        if meta.is_deleting(child):
            self._deleted(child)
        elif meta.controller_of(child) is None:
            self._enqueue_matching(child)
        elif (owner := self.owner_of(child)) is not None:
            if self._expectations is not None:
                self._expectations.creation_observed(meta.key_of(owner))
            self._enqueue(owner)

    def _updated(self, old: Tree, child: Tree) -> None:
        if meta.resource_version_of(old) == meta.resource_version_of(child):
            return
        before, now = meta.controller_of(old), meta.controller_of(child)
        if before is not None and before != now and (former := self.owner_of(old, before)) is not None:
            self._enqueue(former)
        if meta.is_deleting(child):
            self._deleted(child)
        elif now is not None:
            if (owner := self.owner_of(child, now)) is not None:
                self._enqueue(owner)
        elif before is not None or meta.labels_of(old) != meta.labels_of(child):
            self._enqueue_matching(child)

    def _deleted(self, child: Tree) -> None:
        owner = self.owner_of(child)
        if owner is None:
            return
        if self._expectations is not None:
            self._expectations.deletion_observed(meta.key_of(owner), meta.uid_of(child))
        self._enqueue(owner)

    def _enqueue_matching(self, child: Tree) -> None:
        own = meta.labels_of(child)
        if not own:
            return
        for owner in self._owners.list(meta.namespace_of(child)):
            selector = selector_of(owner)
            if not selector.empty and selector.matches(own):
                self._enqueue(owner)
