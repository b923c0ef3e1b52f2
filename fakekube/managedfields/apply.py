"""Server-side apply: the configuration merged, what its manager dropped taken out, and others asked
or overruled.

Upstream: structured-merge-diff/merge/update.go. A field that the manager applied last time and does
not mention any more goes, unless somebody else owns it; a field that others own and that would
change is a conflict.
"""

import orjson

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import fieldset
from fakekube.managedfields.check import check
from fakekube.managedfields.compare import difference
from fakekube.managedfields.conflicts import Conflicts
from fakekube.managedfields.entries import Entry, Managed, Owner
from fakekube.managedfields.fieldset import FieldSet
from fakekube.managedfields.merge import merged, with_named_fields, without
from fakekube.managedfields.nodes import Node, TypedError
from fakekube.managedfields.sets import to_set

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ConflictsFound(Exception):
    """Fields that others own stand in the way; ``managed`` says who they are."""

    def __init__(self, conflicts: Conflicts, managed: Managed) -> None:
        super().__init__()
        self.conflicts, self.managed = conflicts, managed


def applied(
    node: Node, live: Tree, config: Tree, managed: Managed, owner: Owner, entry: Entry, reset: FieldSet, *, force: bool
) -> tuple[Tree, Managed, bool]:
    """The object and its entries after an apply, and whether the object is another one now.

    ``entry`` is the applier's new one, its fields still to be told. ``reset`` are fields that
    cannot be owned through this endpoint. Raises ConflictsFound, and TypedError when the live
    object does not fit its schema.
    """
    result = merged(node, live, config)
    fields = fieldset.recursive_difference(to_set(node, config), reset)
    last = managed.get(owner)
    after: Managed = {**managed, owner: entry._replace(fields=fields)}
    if last is not None and fieldset.difference(last.fields, fields):
        result = _pruned(node, result, last.fields, after)
    if same(live, result):
        return result, {key: entry for key, entry in after.items() if entry.fields or key == owner}, False
    return result, _settled(node, live, result, after, owner, reset, force=force), True


def _pruned(node: Node, whole: Tree, last: FieldSet, managed: Managed) -> Tree:
    """Take out what the applier owned and nobody owns any more, and no more than that."""
    last = with_named_fields(node, last)
    pruned = without(node, whole, last)
    owned: FieldSet = {}
    for entry in managed.values():
        owned = fieldset.union(owned, entry.fields)
    everything = with_named_fields(node, to_set(node, whole))
    kept = fieldset.union(with_named_fields(node, to_set(node, pruned)), with_named_fields(node, owned))
    pruned = without(node, whole, fieldset.difference(everything, kept))
    left = with_named_fields(node, to_set(node, pruned))
    gone = fieldset.intersection(fieldset.difference(everything, left), last)
    result: Json = without(node, whole, gone)
    return result or {}


def _settled(node: Node, live: Tree, result: Tree, managed: Managed, owner: Owner, reset: FieldSet, *, force: bool) -> Managed:
    """The entries of a changed object once everybody has lost what changed, or ConflictsFound when
    that takes force.
    """
    gone, other = difference(node, live, result)
    removed = fieldset.recursive_difference(gone or {}, reset)
    changed = fieldset.recursive_difference(other or {}, reset)
    conflicts: Conflicts = {}
    for key, entry in managed.items():
        common = fieldset.intersection(entry.fields, changed) if key != owner else {}
        if common:
            conflicts[key] = common
    if conflicts and not force:
        raise ConflictsFound(conflicts, managed)
    settled: Managed = {}
    for key, entry in managed.items():
        if key == owner:
            settled[key] = entry
            continue
        fields = fieldset.difference(fieldset.difference(entry.fields, changed), removed)
        if fields:
            settled[key] = entry._replace(fields=fields)
    return settled


def allowed_by_last_applied(node: Node, live: Tree, api_version: str) -> FieldSet:
    """The fields that kubectl's client-side apply set and nobody changed since: kubectl may take
    them over.
    """
    text = ((live.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        config = orjson.loads(text or "null")
        if not isinstance(config, dict) or config.get("apiVersion") != api_version:
            return {}
        check(node, config)
        fields = to_set(node, config)
        removed, changed = difference(node, config, live)
    except (ValueError, TypedError):
        return {}
    return fieldset.difference(fieldset.difference(fields, removed or {}), changed or {})


def last_applied_text(config: Tree) -> str:
    """A configuration as kubectl's annotation holds it, without that annotation itself."""
    metadata = dict(config.get("metadata") or {})
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    if metadata.get("annotations"):
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    return orjson.dumps({**config, "metadata": metadata}, option=orjson.OPT_SORT_KEYS).decode() + "\n"
