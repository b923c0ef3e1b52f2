"""Who set which field of an object, for one kind: plain writes and server-side apply.

A plain write is compared with what was there before: what it changed belongs to its manager from then on and to nobody
else. An apply says outright what it wants to own. Upstream: apimachinery/pkg/util/managedfields and
structured-merge-diff/merge. Left out: conversion of sets between versions of a kind that name fields otherwise.
"""

from collections.abc import Mapping, Sequence

import orjson

from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import entries, fieldset
from fakekube.managedfields.empty import empty_object
from fakekube.managedfields.entries import UPDATE, Entry, Managed
from fakekube.managedfields.fieldset import SELF, FieldSet, Path
from fakekube.managedfields.fieldsv1 import FieldsError
from fakekube.managedfields.resetfields import reset_fields_of
from fakekube.managedfields.typed import NO_DIFFERENCE, Difference, Node, TypedError, collect
from fakekube.schema.structural import Schema

# Fields of metadata that the server keeps for itself.
STRIPPED = (
    "f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName", "f:generation",
    "f:managedFields", "f:resourceVersion",
)  # fmt: skip

CREATED_FIELDS_KEPT = 128

ResetFields = Mapping[str, Sequence[Path]]


class FieldManager:
    """Keeps ``metadata.managedFields`` of one kind in one version.

    ``schema`` is None for custom resources without one. ``reset_fields`` names, by sub-resource ("" for the object
    itself), paths of elements that writes through it cannot own, because they are put back; by default they are what
    upstream has for the kind. One manager serves all objects; it holds nothing but what it learned of the schema.
    """

    def __init__(self, schema: Schema | None, api_version: str, *, reset_fields: ResetFields | None = None) -> None:
        self._api_version = api_version
        self._node = Node(schema, {})
        self._empty = empty_object(schema)
        self._created: dict[tuple[str, bytes], Difference] = {}
        resets = reset_fields_of(schema) if reset_fields is None else reset_fields
        self._resets = {subresource: fieldset.of_paths(*paths) for subresource, paths in resets.items()}

    def update(self, old: Tree | None, new: Tree, *, manager: str, now: str, subresource: str = "") -> None:
        """Set or remove ``metadata.managedFields`` of ``new`` for a create or an update.

        ``old`` is None for a create, and stays as it is; ``new`` may carry in managedFields what the client sent.
        ``now`` is RFC 3339. What ``new`` gets may share parts with ``old``: neither is to be changed in place.
        """
        metadata = new.setdefault("metadata", {})
        sent = metadata.pop("managedFields", None)
        live = _managed_fields(old)
        managed, untouched = self._known(live, sent, subresource)
        if not managed and old is not None:
            return
        try:
            found = (
                self._of_new(new) if old is None else self._node.difference(old, new) if old != new else NO_DIFFERENCE
            )
        except TypedError:
            # An object that does not fit its schema is refused later; until then ownership stays what it was.
            if live:
                metadata["managedFields"] = live
            return
        removed, changed = self._changes(found, subresource)
        if not removed and not changed:
            written = live if untouched else entries.encode(managed)
        else:
            written = entries.encode(self._updated(managed, removed, changed, manager, now, subresource))
        if written:
            metadata["managedFields"] = written

    def _of_new(self, new: Tree) -> Difference:
        """What a create sets. Many objects are created alike, so what a field's bytes led to is kept for a while."""
        removed: FieldSet = {}
        modified: FieldSet = {}
        added: FieldSet = {}
        for name, value in new.items():
            if name == "metadata" or type(value) is not dict:
                collect(f"f:{name}", self._field_of_new(name, value), removed, modified, added)
            else:
                key = (name, orjson.dumps(value))
                found = self._created.get(key)
                if found is None:
                    if len(self._created) >= CREATED_FIELDS_KEPT:
                        del self._created[next(iter(self._created))]
                    found = self._created[key] = self._field_of_new(name, value)
                collect(f"f:{name}", found, removed, modified, added)
        for name, value in self._empty.items():
            if name not in new:
                removed[f"f:{name}"] = self._node.whole_field(name, value)
        return Difference(removed, modified, added)

    def _field_of_new(self, name: str, value: Json) -> Difference:
        if name not in self._empty:
            return Difference(None, None, self._node.whole_field(name, value))
        return self._node.field_difference(name, self._empty[name], value)

    def _known(self, live: Json, sent: Json, subresource: str) -> tuple[Managed, bool]:
        """The entries to start from, and whether they are exactly the stored ones.

        A client that sends entries of its own sets them, unless they are garbage; one that sends none means nothing
        by it.
        """
        if sent is None or sent == live or subresource:
            return entries.decode(live), True
        if entries.is_reset(sent):
            return {}, not live
        try:
            managed = entries.decode(sent, trusted=False)
        except (FieldsError, AttributeError):
            managed = {}
        return (managed, False) if managed else (entries.decode(live), True)

    def _changes(self, found: Difference, subresource: str) -> tuple[FieldSet, FieldSet]:
        """What was removed, and what was changed or added, without what this sub-resource cannot change."""
        removed = found.removed or {}
        changed = fieldset.union(found.modified or {}, found.added or {})
        reset = self._resets.get(subresource)
        if reset:
            removed = fieldset.recursive_difference(removed, reset)
            changed = fieldset.recursive_difference(changed, reset)
        return removed, changed

    def _updated(
        self, managed: Managed, removed: FieldSet, changed: FieldSet, manager: str, now: str, subresource: str
    ) -> Managed:
        result: Managed = {}
        for key, entry in managed.items():
            fields = fieldset.difference(fieldset.difference(entry.fields, changed), removed)
            if fields:
                result[key] = entry if fields is entry.fields else entry._replace(fields=fields)
        mine = stripped(changed)
        if mine:
            key = entries.owner(manager, UPDATE, self._api_version, subresource)
            if key in result:
                mine = fieldset.union(result[key].fields, mine)
            result[key] = Entry(self._api_version, now, mine)
        return entries.capped(result)


def stripped(fields: FieldSet) -> FieldSet:
    """A whole object's set without what no client ever owns."""
    result = {element: below for element, below in fields.items() if element not in ("f:apiVersion", "f:kind")}
    metadata = result.pop("f:metadata", None)
    if metadata:
        kept = {element: below for element, below in metadata.items() if element not in STRIPPED and element != SELF}
        if kept:
            result["f:metadata"] = kept
            return fieldset.ordered(result)
    return result


def _managed_fields(tree: Tree | None) -> Json:
    return (tree.get("metadata") or {}).get("managedFields") if tree else None
