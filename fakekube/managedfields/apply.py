"""Server-side apply: the configuration merged, what its manager dropped taken out, and others asked
or overruled.

Upstream: structured-merge-diff/merge/update.go. A field that the manager applied last time and does
not mention any more goes, unless somebody else owns it; a field that others own and that would
change is a conflict.
"""

from typing import NamedTuple

import orjson

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import fieldset
from fakekube.managedfields.check import check
from fakekube.managedfields.compare import difference
from fakekube.managedfields.conflicts import Conflicts
from fakekube.managedfields.entries import Owner, Stored, with_fields
from fakekube.managedfields.fieldset import FieldSet, is_member
from fakekube.managedfields.merge import merged, with_named_fields, without
from fakekube.managedfields.nodes import Node, TypedError
from fakekube.managedfields.sets import to_set

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ConflictsFound(Exception):
    """Fields that others own stand in the way; ``managed`` says who they are."""

    def __init__(self, conflicts: Conflicts, managed: Stored) -> None:
        super().__init__()
        self.conflicts, self.managed = conflicts, managed


class Applied(NamedTuple):
    """What came of an apply: the object, what its applier owns, what is left of the entries of all
    others, and whether the object is another one now.
    """

    tree: Tree
    fields: FieldSet
    others: list[Tree]
    changed: bool


def applied(
    node: Node, live: Tree, config: Tree, managed: Stored, owner: Owner, reset: FieldSet, *, force: bool
) -> Applied:
    """What an apply of ``config`` makes of an object and its entries.

    ``reset`` are fields that cannot be owned through this endpoint. Raises ConflictsFound, and
    TypedError when the live object does not fit its schema.
    """
    result = merged(node, live, config)
    fields = _owned(node, config, reset)
    last = managed.get(owner)
    others = managed if last is None else {key: entry for key, entry in managed.items() if key != owner}
    held = (last.get("fieldsV1") or {}) if last is not None else {}
    if held and held != fields and fieldset.difference(held, fields):
        result = _pruned(node, result, held, [fields, *(entry.get("fieldsV1") or {} for entry in others.values())])
    if same(live, result):
        left = [with_fields(entry, own) for entry in others.values() if (own := entry.get("fieldsV1"))]
        return Applied(result, fields, left, False)
    return Applied(result, fields, _settled(node, live, result, others, reset, force=force), True)


def _owned(node: Node, config: Tree, reset: FieldSet) -> FieldSet:
    """What a configuration speaks of and may own; of what is reset as a whole no set is made."""
    kept = {name: value for name, value in config.items() if (below := reset.get(f"f:{name}")) is None or not is_member(below)}
    return fieldset.recursive_difference(to_set(node, kept), reset)


def _pruned(node: Node, whole: Tree, last: FieldSet, held: list[FieldSet]) -> Tree:
    """Take out what the applier owned, ``last``, and nobody owns any more, and no more than that.

    ``held`` is what each owner has now.
    """
    last = with_named_fields(node, last)
    pruned = without(node, whole, last)
    owned: FieldSet = {}
    for fields in held:
        owned = fieldset.union(owned, fields)
    everything = with_named_fields(node, to_set(node, whole))
    kept = fieldset.union(with_named_fields(node, to_set(node, pruned)), with_named_fields(node, owned))
    pruned = without(node, whole, fieldset.difference(everything, kept))
    left = with_named_fields(node, to_set(node, pruned))
    gone = fieldset.intersection(fieldset.difference(everything, left), last)
    result: Json = without(node, whole, gone)
    return result or {}


def _settled(
    node: Node, live: Tree, result: Tree, others: Stored, reset: FieldSet, *, force: bool
) -> list[Tree]:
    """The entries of all but the applier of a changed object once they have lost what changed, or
    ConflictsFound when that takes force.
    """
    gone, other = difference(node, live, result)
    removed = fieldset.recursive_difference(gone or {}, reset)
    changed = fieldset.recursive_difference(other or {}, reset)
    conflicts: Conflicts = {}
    settled: list[Tree] = []
    for key, entry in others.items():
        held = entry.get("fieldsV1") or {}
        fields = fieldset.difference(held, changed)
        if fields is not held and not force and (common := fieldset.intersection(held, changed)):
            conflicts[key] = common
        if fields := fieldset.difference(fields, removed):
            settled.append(with_fields(entry, fields))
    if conflicts:
        raise ConflictsFound(conflicts, others)
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
