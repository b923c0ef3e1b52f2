"""What a DELETE does: preconditions, grace period, finalizers of the garbage collector.

Upstream: apiserver/pkg/registry/rest/delete.go and generic/registry/store.go (Delete and
updateForGracefulDeletionAndFinalizers). One commit sets deletionTimestamp, another removes the
object; watchers of Pods see both.
"""

from typing import NamedTuple

from fakekube.apimachinery import errors, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind
from fakekube.registry.store import Store
from fakekube.registry.strategy import WriteContext
from fakekube.storage.memory import Record, Stale
from fakekube.util.durations import of_whole_seconds

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


def has_ties(record: Record) -> bool:
    """Whether an object names owners or may have a finalizer for its dependents: what concerns a
    garbage collector.
    """
    return record.has_owners or b'"orphan"' in record.data or b'"foregroundDeletion"' in record.data


class DeleteOptions(NamedTuple):
    """What a DELETE may carry. Seconds are whole; None means not given."""

    grace_period_seconds: int | None
    propagation_policy: str | None
    orphan_dependents: bool | None
    uid: str | None
    resource_version: str | None
    raw: Tree  # as admission sees them


NO_OPTIONS = DeleteOptions(None, None, None, None, None, {})


class Deleted(NamedTuple):
    """The outcome: ``tree`` is the last state, or the one that stays; ``gone`` tells which."""

    tree: Tree
    gone: bool
    record: Record | None = None


async def delete(
    store: Store, ctx: WriteContext, namespace: str, name: str, options: DeleteOptions, *, admitted: bool = False,
) -> Deleted:
    """Delete one object as far as its grace period and finalizers allow.

    ``admitted`` says that admission has let an eviction pass, which is all that it is asked. Raises
    APIError: NotFound, Conflict of a precondition, and what admission refuses with.
    """
    ctx.operation = "DELETE"
    while True:
        record = store.find(namespace, name)
        await _readable(store, record)
        old = store.load(record)
        check_preconditions(store, old, options)
        attributes = store.attributes(ctx, namespace, None, old)
        if not admitted:
            await store.admission().admit(attributes)
            await store.admission().validate(attributes)
        try:
            return delete_record(store, ctx, record, old, options)
        except Stale:
            continue


async def _readable(store: Store, record: Record) -> None:
    """Wait until the object can be read in the endpoint's version."""
    try:
        await store.ready(record)
    except APIError as error:
        raise errors.internal(error.message) from None


def check_preconditions(store: Store, old: Tree, options: DeleteOptions) -> None:
    meta, kind = old["metadata"], store.kind
    subject = GroupResource(*kind.group_kind)
    if store.strategy.deletes_by_itself:
        _check_in_storage_words(kind, meta, options)
    if options.uid is not None and options.uid != meta["uid"]:
        raise errors.conflict(subject, meta["name"], (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({meta['uid']}). "
            "The object might have been deleted and then recreated"))
    found = meta["resourceVersion"]
    if options.resource_version is not None and options.resource_version != found:
        raise errors.conflict(subject, meta["name"], (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({found}). The object might have been modified"))


def _check_in_storage_words(kind: Kind, meta: Tree, options: DeleteOptions) -> None:
    for what, wanted, found in (
        ("UID", options.uid, meta["uid"]), ("ResourceVersion", options.resource_version, meta["resourceVersion"]),
    ):
        if wanted is not None and wanted != found:
            raise errors.conflict(kind.group_resource, meta["name"], (
                f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"))


def delete_record(store: Store, ctx: WriteContext, record: Record, old: Tree, options: DeleteOptions) -> Deleted:
    """The synchronous part, from the decision to the commits, past admission.

    ``old`` is the object of ``record``. Raises Stale when another write came first.
    """
    meta = dict(old["metadata"])
    obj = {**old, "metadata": meta}
    if isinstance(old.get("status"), dict):
        obj["status"] = dict(old["status"])
    finalizers = collector_finalizers(store, meta.get("finalizers", []), options)
    if store.strategy.holds_deletion(old):
        return _mark_held(store, ctx, record, old, obj, finalizers)
    grace, pending = _grace(store, ctx, old, meta, options)
    if pending:
        return Deleted(old, gone=False, record=record)
    if grace is None and not finalizers and not ctx.dry_run:
        # as it is stored, with a finalizer of the collector that the policy takes away
        return _remove(store, ctx, record, old)
    _set_finalizers(meta, finalizers)
    if grace is None and finalizers:
        _mark(meta, ctx.now)
    store.strategy.prepare_for_delete(obj, ctx)
    changed = _save(store, ctx, record, old, obj)
    if finalizers or grace:
        return Deleted(obj if changed is None else store.load(changed), gone=False, record=changed)
    return _remove(store, ctx, changed or record, obj)


def _grace(store: Store, ctx: WriteContext, old: Tree, meta: Tree, options: DeleteOptions) -> tuple[int | None, bool]:
    """Seconds of grace that this delete begins or shortens (None: none to speak of), and whether
    one is under way.
    """
    asked = options.grace_period_seconds
    if asked is not None and asked < 0:
        asked = 1
    granted = store.strategy.check_graceful_delete(old, asked, ctx)
    if granted is None:
        return None, False
    if "deletionTimestamp" in meta:
        running = meta.get("deletionGracePeriodSeconds")
        if not running:
            return None, False
        if asked is None or asked >= running:
            return None, True
        started = times.parse_time(meta["deletionTimestamp"]) - of_whole_seconds(running)
        moved, now = started + of_whole_seconds(asked), times.parse_time(ctx.now)
        if moved < now:
            moved, asked = now, 1 if asked else 0
        meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = times.format_time(moved), asked
        return asked, False
    meta["deletionTimestamp"] = times.format_time(times.parse_time(ctx.now) + of_whole_seconds(granted))
    meta["deletionGracePeriodSeconds"] = granted
    _bump_generation(meta)
    return granted, False


def collector_finalizers(store: Store, finalizers: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers after the propagation policy: given, else those on the object, else the kind's
    default.
    """
    policy = options.propagation_policy
    if not store.kind.collects_dependents:
        policy = "Background"
    elif options.orphan_dependents is not None:
        policy = "Orphan" if options.orphan_dependents else "Background"
    if policy is None:
        present = next((name for name in finalizers if name in (ORPHAN, FOREGROUND)), None)
        default = "Orphan" if store.kind.orphan_by_default else "Background"
        policy = {ORPHAN: "Orphan", FOREGROUND: "Foreground", None: default}[present]
    wanted = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(policy, [])
    kept = [name for name in finalizers if name not in (ORPHAN, FOREGROUND)]
    same = sorted(kept + wanted) == sorted(dict.fromkeys(finalizers))
    return list(finalizers) if same else kept + wanted


def _mark_held(store: Store, ctx: WriteContext, record: Record, old: Tree, obj: Tree, finalizers: list[str]) -> Deleted:
    """A kind that holds its own deletion is marked once, without a grace period."""
    meta = obj["metadata"]
    if "deletionTimestamp" in meta:
        return Deleted(old, gone=False, record=record)
    meta["deletionTimestamp"] = ctx.now
    _set_finalizers(meta, finalizers)
    store.strategy.prepare_for_delete(obj, ctx)
    changed = _save(store, ctx, record, old, obj)
    return Deleted(obj if changed is None else store.load(changed), gone=False, record=changed)


def _set_finalizers(meta: Tree, finalizers: list[str]) -> None:
    if finalizers:
        meta["finalizers"] = finalizers
    else:
        meta.pop("finalizers", None)


def _mark(meta: Tree, now: str) -> None:
    """Pending finalizers keep an object that knows no grace: it is terminating from now on."""
    if "deletionTimestamp" not in meta:
        _bump_generation(meta)
        meta["deletionTimestamp"] = now
    meta["deletionTimestamp"] = min(meta["deletionTimestamp"], now)
    meta["deletionGracePeriodSeconds"] = 0


def _bump_generation(meta: Tree) -> None:
    if meta.get("generation", 0) > 0:
        meta["generation"] += 1


def _save(store: Store, ctx: WriteContext, record: Record, old: Tree, obj: Tree) -> Record | None:
    """The record after the change; None on a dry run."""
    if ctx.dry_run:
        return None
    if obj == old:
        return record
    return store.replace(obj, record)


def _remove(store: Store, ctx: WriteContext, record: Record, obj: Tree) -> Deleted:
    if ctx.dry_run:
        return Deleted(obj, gone=True)
    last = store.remove(obj, record, ctx)
    return Deleted(store.load(last), gone=True, record=last)
