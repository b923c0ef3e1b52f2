"""The revisions of a DaemonSet: which one is the present template's, and which are past.

Upstream: constructHistory and below, pkg/controller/daemon/update.go.
"""

from collections.abc import Callable, Iterable, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONTROLLER_REVISIONS, DAEMON_SETS, PODS
from fakekube.runtime import revisions
from fakekube_controllers.daemonset.placing import HASH_LABEL

Wrote = Callable[[Tree], None]


async def current_and_old(
    client: Client, owner: Tree, history: Sequence[Tree], found: Iterable[Tree], wrote: Wrote, release: str,
) -> tuple[Tree, list[Tree]]:
    """The revision of the present template, made or renumbered where needed, and the others.

    Raises APIError.
    """
    labelled = [await _labelled(client, one, wrote) for one in history]
    data = revisions.template_patch(owner["spec"]["template"])
    same = [one for one in labelled if one.get("data") == data]
    old = [one for one in labelled if one.get("data") != data]
    number = revisions.next_number(old)
    if not same:
        return await _snapshot(client, owner, data, number, wrote, release), old
    current = max(revisions.in_order(same), key=lambda one: int(one["revision"]))
    if len(same) > 1:
        await _merge(client, current, same, found)
    if current["revision"] < number:
        current = await revisions.renumber(client, current, number)
        wrote(current)
    return current, old


async def _labelled(client: Client, one: Tree, wrote: Wrote) -> Tree:
    if HASH_LABEL in meta.labels_of(one):
        return one
    labels = {**meta.labels_of(one), HASH_LABEL: meta.name_of(one)}
    written = await client.update(CONTROLLER_REVISIONS, {**one, "metadata": {**one["metadata"], "labels": labels}})
    wrote(written)
    return written


async def _merge(client: Client, kept: ReadOnlyTree, same: Sequence[Tree], found: Iterable[Tree]) -> None:
    """Of several revisions with the same data keep one, and give it the pods of the others."""
    wanted = meta.labels_of(kept)[HASH_LABEL]
    for pod in found:
        if meta.labels_of(pod).get(HASH_LABEL) != wanted:
            body = {"metadata": {"labels": {HASH_LABEL: wanted}}}
            await client.patch(PODS, meta.name_of(pod), meta.namespace_of(pod), body)
    for one in same:
        if meta.name_of(one) != meta.name_of(kept):
            await client.delete(CONTROLLER_REVISIONS, meta.name_of(one), meta.namespace_of(one), missing_ok=True)


async def _snapshot(client: Client, owner: Tree, data: Tree, number: int, wrote: Wrote, release: str) -> Tree:
    template = owner["spec"]["template"]
    collisions = (owner.get("status") or meta.EMPTY).get("collisionCount")
    revision_hash = revisions.template_hash(template, collisions, release)
    name, namespace = f"{meta.name_of(owner)}-{revision_hash}", meta.namespace_of(owner)
    metadata: Tree = {
        "name": name, "namespace": namespace, "labels": {**meta.labels_of(template), HASH_LABEL: revision_hash},
        "annotations": dict(meta.annotations_of(owner)), "ownerReferences": [meta.controller_reference(owner)],
    }
    try:
        made = await client.create(CONTROLLER_REVISIONS, {"metadata": metadata, "data": data, "revision": number})
    except APIError as error:
        if error.reason != "AlreadyExists":
            raise
        there = await client.get(CONTROLLER_REVISIONS, name, namespace)
        if there.get("data") == data:
            return there
        await _count_collision(client, owner, collisions)
        raise
    wrote(made)
    return made


async def _count_collision(client: Client, owner: Tree, known: int | None) -> None:
    """Count a clash of hashes, unless somebody did so already."""
    fresh = await client.get(DAEMON_SETS, meta.name_of(owner), meta.namespace_of(owner))
    status = fresh.get("status") or {}
    if status.get("collisionCount") == known:
        await client.update_status(DAEMON_SETS, {**fresh, "status": {**status, "collisionCount": (known or 0) + 1}})


async def truncate(history: revisions.History, owner: ReadOnlyTree, old: Sequence[Tree], found: Iterable[Tree]) -> None:
    """Delete the oldest revisions that no pod has, beyond the limit. Raises APIError."""
    live = dict.fromkeys(meta.labels_of(pod).get(HASH_LABEL) for pod in found)
    unused = [one for one in revisions.in_order(old) if meta.labels_of(one).get(HASH_LABEL) not in live]
    await history.delete_oldest(unused, len(old) - owner["spec"].get("revisionHistoryLimit", 10))
