"""Who set which field of an object, for one kind: plain writes and server-side apply.

A plain write is compared with what was there before: what it changed belongs to its manager from
then on and to nobody else. An apply says outright what it wants to own. Upstream:
apimachinery/pkg/util/managedfields and structured-merge-diff/merge. Left out: conversion of sets
between versions of a kind that name fields otherwise.
"""

from collections.abc import Callable, Mapping, Sequence

from fakekube.apimachinery import errors
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import apply, entries, fieldset
from fakekube.managedfields.apply import Applied
from fakekube.managedfields.atomics import AtomicsFound, atomics
from fakekube.managedfields.check import check
from fakekube.managedfields.compare import changed_by_create, difference, difference_of_maps
from fakekube.managedfields.conflicts import conflict_error
from fakekube.managedfields.empty import empty_object
from fakekube.managedfields.entries import APPLY, UPDATE, Owner, Stored
from fakekube.managedfields.fieldset import SELF, FieldSet, Path
from fakekube.managedfields.fieldsv1 import FieldsError
from fakekube.managedfields.merge import merged
from fakekube.managedfields.nodes import TypedError, root_node
from fakekube.managedfields.resetfields import reset_fields_of
from fakekube.schema.structural import Schema

# Fields of metadata that the server keeps for itself.
STRIPPED = frozenset((
    "f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName", "f:generation",
    "f:managedFields", "f:resourceVersion", SELF,
))  # fmt: skip

BEFORE_FIRST_APPLY, KUBECTL = "before-first-apply", "kubectl"

ResetFields = Mapping[str, Sequence[Path]]


class FieldManager:
    """Keeps ``metadata.managedFields`` of one kind in one version.

    ``schema`` is None for custom resources without one; ``metadata`` is the schema of their
    metadata, and ``kind`` their kind: built-ins have both in their schema. ``reset_fields`` names,
    by sub-resource ("" for the object itself), paths of elements that writes through it cannot own,
    because they are put back; by default they are what upstream has for the kind. One manager
    serves all objects; it holds nothing but what it learned of the schema.
    """

    def __init__(
        self,
        schema: Schema | None,
        api_version: str,
        *,
        kind: str = "",
        metadata: Schema | None = None,
        reset_fields: ResetFields | None = None,
        sibling: Callable[[str], Schema | None] | None = None,
        is_registered: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """``sibling`` gives the schema of another version, by its apiVersion, where versions may
        know different fields. Entries in a version that is not registered are dropped.
        """
        self._api_version = api_version
        self._kind = kind or (schema.kinds[0].kind if schema is not None and schema.kinds else "")
        self._node = root_node(schema, metadata)
        self._empty = empty_object(schema)
        self._sibling = sibling
        self._is_registered = is_registered
        resets = reset_fields_of(schema) if reset_fields is None else reset_fields
        self._resets = {subresource: fieldset.of_paths(*paths) for subresource, paths in resets.items()}

    def merge(self, live: Tree, config: Tree) -> Tree:
        """The object with everything that a configuration says, whoever owns it; neither is
        changed.

        A mutating admission policy does so. Raises TypedError for a configuration that does not fit
        the schema, AtomicsFound for one that would replace something indivisible. Upstream:
        admission/plugin/policy/mutating/patch/smd.go.
        """
        check(self._node, config)
        found = atomics(self._node, config, "")
        if found:
            raise AtomicsFound(found)
        return {**merged(self._node, live, config)}

    def update(self, old: Tree | None, new: Tree, *, manager: str, now: str, subresource: str = "") -> None:
        """Set or remove ``metadata.managedFields`` of ``new`` for a create or an update.

        ``old`` is None for a create, and stays as it is; ``new`` may carry in managedFields what
        the client sent. ``now`` is RFC 3339. What ``new`` gets may share parts with ``old``:
        neither is to be changed in place.
        """
        metadata = new.setdefault("metadata", {})
        sent = metadata.pop("managedFields", None)
        live = _managed_fields(old)
        stored, untouched = self._stored(live, sent, subresource)
        if old is not None and not stored:
            return
        if stored and not all(map(self._is_of_known_version, stored)):
            stored, untouched = [entry for entry in stored if self._is_of_known_version(entry)], False
        removed: FieldSet = {}
        try:
            if old is None and not stored:  # there is nobody to lose anything
                changed = self._kept(changed_by_create(self._node, self._empty, new), subresource)
            else:
                removed, changed = self._changes(old, new, subresource)
        except TypedError:
            # An object that does not fit its schema is refused later; until then ownership stays
            # what it was.
            if live:
                metadata["managedFields"] = live
            return
        if self._is_lost_on_others(live, new):
            if live:
                metadata["managedFields"] = live
            return
        if removed or changed:
            written = self._updated(stored, removed, changed, manager, now, subresource)
        else:
            written = live if untouched else stored
        if written:
            metadata["managedFields"] = written

    def apply(
        self, old: Tree | None, config: Tree, *, manager: str, now: str, force: bool = False, subresource: str = ""
    ) -> Tree:
        """The object after a server-side apply, with its managedFields; still to be decoded and
        defaulted.

        ``old`` is None when there is no object yet. Neither ``old`` nor ``config`` is changed, but
        the result shares with both. Raises APIError: 400 for a configuration of another kind or
        with managedFields, 409 for conflicts unless ``force``, and 500 in upstream's words for one
        that does not fit the schema.
        """
        self._check_type(config)
        live = self._empty if old is None else _without_managed_fields(old)
        managed = entries.by_owner(_managed_fields(old))
        if not managed and old is not None:
            managed = self._before_first_apply(live, now, subresource)
        managed = {owner: entry for owner, entry in managed.items() if self._is_of_known_version(entry)}
        metadata = config.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
            raise errors.bad_request("metadata.managedFields must be nil")
        try:
            check(self._node, config)
        except TypedError as error:
            raise errors.raw(f"failed to create typed patch object ({self.described(config)}): {error}") from None
        key = entries.owner(manager, APPLY, self._api_version, subresource)
        result = self._applied(live, config, managed, key, force=force)
        last = managed.get(key)
        time = now if result.changed else (last.get("time") or "") if last is not None else ""
        return self._with_entries(result, config, key, time)

    def _check_type(self, config: Tree) -> None:
        group, version, kind = "", "", config.get("kind", "")
        api_version = config.get("apiVersion", "")
        if isinstance(api_version, str) and api_version.count("/") <= 1:
            group, _, version = api_version.rpartition("/")
        else:
            kind = ""
        expected = self._kind or kind
        if api_version != self._api_version or kind != expected or not kind:
            raise errors.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")

    def described(self, config: Tree) -> str:
        metadata = config.get("metadata")
        given = metadata if isinstance(metadata, dict) else {}
        namespace, name = (text if isinstance(text := given.get(field), str) else "" for field in ("namespace", "name"))
        group, _, version = self._api_version.rpartition("/")
        kind = f"{group}/{version}, Kind={self._kind or config.get('kind', '')}"
        return f"{namespace}/{name}; {kind}"

    def _before_first_apply(self, live: Tree, now: str, subresource: str) -> Stored:
        """An object that nobody tracks gets an entry for everything in it before the first apply.
        """
        try:
            _, changed = self._changes(None, live, subresource)
        except TypedError as error:
            raise errors.raw(f"failed to create manager for existing fields: {error}") from None
        fields = stripped(changed)
        key = entries.owner(BEFORE_FIRST_APPLY, UPDATE, self._api_version, subresource)
        return {key: self._entry(key, now, fields)} if fields else {}

    def _entry(self, key: Owner, time: str, fields: FieldSet) -> Tree:
        return entries.entry_of(key.manager, key.operation, self._api_version, time, fields, key.subresource)

    def _applied(self, live: Tree, config: Tree, managed: Stored, key: Owner, *, force: bool) -> Applied:
        reset = self._resets.get(key.subresource, {})
        try:
            return apply.applied(self._node, live, config, managed, key, reset, force=force)
        except apply.ConflictsFound as found:
            conflicts = found.conflicts
            if key.manager == KUBECTL:
                allowed = apply.allowed_by_last_applied(self._node, live, self._api_version)
                left = {owner: fieldset.difference(fields, allowed) for owner, fields in conflicts.items()}
                conflicts = {owner: fields for owner, fields in left.items() if fields}
            if conflicts:
                raise conflict_error(conflicts, found.managed) from None
        except TypedError as error:
            raise errors.raw(f"failed to create typed live object ({self.described(live)}): {error}") from None
        return apply.applied(self._node, live, config, managed, key, reset, force=True)

    def _with_entries(self, result: Applied, config: Tree, key: Owner, time: str) -> Tree:
        """The result with its list of entries, ``time`` being the applier's: it moves only when the
        object does.
        """
        found = result.others
        if fields := stripped(result.fields):
            found.append(self._entry(key, time, fields))
        metadata = dict(result.tree.get("metadata") or {})
        metadata.pop("managedFields", None)
        if key.manager == KUBECTL and (metadata.get("annotations") or {}).get(apply.LAST_APPLIED):
            annotations = {**metadata["annotations"], apply.LAST_APPLIED: apply.last_applied_text(config)}
            metadata["annotations"] = annotations
        if found:
            metadata["managedFields"] = sorted(found, key=entries.rank_of)
        return {**result.tree, "metadata": metadata}

    def _is_lost_on_others(self, live: Json, new: Tree) -> bool:
        """Whether somebody owns fields in a version that has not all fields of the object: upstream
        then cannot tell who lost what, and leaves ownership as it was.
        """
        if self._sibling is None:
            return False
        others = dict.fromkeys(entry.get("apiVersion", "") for entry in live or ())
        for api_version in others:
            schema = self._sibling(api_version) if api_version != self._api_version else None
            if schema is not None:
                try:
                    check(root_node(schema), new)
                except TypedError:
                    return True
        return False

    def _is_of_known_version(self, entry: Tree) -> bool:
        version = entry.get("apiVersion", "")
        return version == self._api_version or self._is_registered(version)

    def _stored(self, live: Json, sent: Json, subresource: str) -> tuple[Json, bool]:
        """The list of entries to start from, in its stored form, and whether it is exactly the one
        that is stored.

        A client that sends entries of its own sets them, unless they are garbage; one that sends
        none means nothing by it.
        """
        if sent is None or subresource or sent == live:
            return live, True
        if entries.is_reset(sent):
            return [], not live
        try:
            managed = entries.decode(sent, trusted=False)
        except (FieldsError, AttributeError):
            managed = {}
        return (entries.encode(managed), False) if managed else (live, True)

    def _changes(self, old: Tree | None, new: Tree, subresource: str) -> tuple[FieldSet, FieldSet]:
        """What was removed, and what was changed or added, without what this sub-resource cannot
        change. Raises TypedError.
        """
        if old is None:
            removed, changed = difference_of_maps(self._node, self._empty, new)
        else:
            removed, changed = difference(self._node, _without_managed_fields(old), new)
        return self._kept(removed, subresource), self._kept(changed, subresource)

    def _kept(self, fields: FieldSet | None, subresource: str) -> FieldSet:
        """A set without the fields that a write through this sub-resource cannot change."""
        reset = self._resets.get(subresource)
        return fieldset.recursive_difference(fields, reset) if fields and reset else fields or {}

    def _updated(
        self, stored: list[Tree], removed: FieldSet, changed: FieldSet, manager: str, now: str, subresource: str
    ) -> list[Tree]:
        """The stored entries after a change: it belongs to its manager now, and to nobody else."""
        mine = stripped(changed)
        me = entries.owner(manager, UPDATE, self._api_version, subresource) if mine else None
        result: list[Tree] = []
        is_shared = False
        for key, entry in entries.by_owner(stored).items():
            fields = fieldset.difference(entry.get("fieldsV1") or {}, removed)
            if key == me:  # what it changed would only be taken from it to be given back
                mine = fieldset.union(fields, mine)
                is_shared = mine is fields
            elif fields := fieldset.difference(fields, changed):
                result.append(entries.with_fields(entry, fields))
        if me is not None:
            mine = mine if is_shared else fieldset.shared(mine)
            result.append(entries.entry_of(me.manager, UPDATE, self._api_version, now, mine, subresource))
        return entries.arranged(result)


def stripped(fields: FieldSet) -> FieldSet:
    """A whole object's set without what no client ever owns."""
    result: FieldSet = {}
    for element, below in fields.items():
        if element == "f:metadata":
            kept = {name: inner for name, inner in below.items() if name not in STRIPPED}
            if kept:
                result[element] = kept
        elif element not in ("f:apiVersion", "f:kind"):
            result[element] = below
    return result


def _without_managed_fields(tree: Tree) -> Tree:
    metadata = {name: value for name, value in (tree.get("metadata") or {}).items() if name != "managedFields"}
    return {**tree, "metadata": metadata}


def _managed_fields(tree: Tree | None) -> Json:
    return (tree.get("metadata") or {}).get("managedFields") if tree else None
