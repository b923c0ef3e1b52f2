"""The rules of metadata that hold for every kind: names, labels, annotations, owners, finalizers.

The store calls these around a strategy's own hooks. Upstream:
apimachinery/pkg/api/validation/objectmeta.go, what pkg/apis/core/validation adds for built-ins, and
the metadata part of apiserver/pkg/registry/rest/{create,update}.go.
Left out: a missing resourceVersion, which the store words.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from fakekube.apimachinery import field_errors, gvk, names, validation
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind
from fakekube.registry.strategy import WriteContext
from fakekube.util.rng import Rng

MAX_GENERATED_BASE_LENGTH = 58
MAX_MANAGER_BYTES = 128
MAX_SUBRESOURCE_BYTES = 256
EMPTY = "must not be empty"
STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
OWNER_FIELDS = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
MANAGED = ("generation", "creationTimestamp", "deletionTimestamp")
IMMUTABLE_FIELDS = (
    ("name", ""), ("namespace", ""), ("uid", ""), ("creationTimestamp", None), ("deletionTimestamp", None),
    ("deletionGracePeriodSeconds", None),
)
WRITTEN = {"managedFields": None, "resourceVersion": None}
"""What every write changes."""
DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}"
)
GROUPS_WITH_FREE_FINALIZERS = (
    "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io", "node.k8s.io",
    "policy",
)


def generate_name(base: str, rng: Rng) -> str:
    """A name from a generateName: the base, cut to 58 characters, and five random ones."""
    return base[:MAX_GENERATED_BASE_LENGTH] + rng.suffix()


def dedupe_owner_references(meta: Tree, ctx: WriteContext) -> None:
    """Drop owner references that are there twice, with a Warning that names their uids."""
    references = meta.get("ownerReferences")
    if not references or len(references) == 1:
        return
    kept: list[Tree] = []
    dropped: list[str] = []
    repeated = field_errors.repetitions(orjson.dumps(reference, option=orjson.OPT_SORT_KEYS) for reference in references)
    for place, reference in enumerate(references):
        if place in repeated:
            dropped.append(reference.get("uid", ""))
        else:
            kept.append(reference)
    if dropped:
        meta["ownerReferences"] = kept
        ctx.warn(DUPLICATE_OWNERS.format(", ".join(dropped)))


def restore(meta: Tree, old_meta: Tree) -> None:
    """Put back what no update may change, whatever the body said.

    A deletion that the stored object does not have stays in ``meta``: the validation refuses it.
    """
    for name in MANAGED:
        if name in old_meta:
            meta[name] = old_meta[name]
        elif name != "deletionTimestamp":
            meta.pop(name, None)
    if "deletionGracePeriodSeconds" in old_meta:
        meta.setdefault("deletionGracePeriodSeconds", old_meta["deletionGracePeriodSeconds"])


def restore_whole(meta: Tree, old_meta: Tree) -> None:
    """Put back all that a write of the status may not change of some kinds, who owns what aside."""
    for name in ("labels", "annotations", "finalizers", "ownerReferences"):
        meta.pop(name, None)
        if name in old_meta:
            meta[name] = old_meta[name]


def validate_object_meta(obj: Tree, kind: Kind) -> list[FieldError]:
    """What is wrong with the metadata of a new object, whose name has been generated already."""
    meta = obj["metadata"]
    name = meta.get("name", "")
    found = _generate_name(meta, kind.name_rule)
    if not name:
        found.append(field_errors.required("metadata.name", "name or generateName is required"))
    else:
        found += field_errors.complaints("metadata.name", name, names.object_name(kind.name_rule, name))
    found += _whole(meta, kind, {})
    return found + _standard_finalizers(meta, kind)


def validate_path_segments(obj: Tree, kind: Kind) -> list[FieldError]:
    """What every name must be, of a new object with which nothing else is wrong; most kinds have
    rules of their own that ask for more.
    """
    meta = obj["metadata"]
    if kind.name_rule != "any":
        return _generate_name(meta, "path_segment") if "generateName" in meta else []
    name = meta.get("name", "")
    return _generate_name(meta, "path_segment") + field_errors.complaints("metadata.name", name, names.path_segment(name))


def validate_object_meta_update(obj: Tree, old: Tree, kind: Kind, ctx: WriteContext) -> list[FieldError]:
    """What is wrong with the metadata of a changed object. ``restore`` has run.

    Upstream looks at it as a whole and at its changes, and then the validation of most kinds does
    either again. Built-ins tell repetitions before 1.37 only, custom resources always.
    """
    meta, old_meta = obj["metadata"], old["metadata"]
    if _is_as_before(meta, old_meta):
        return []
    name = meta.get("name", "")
    path_name = field_errors.complaints("metadata.name", name, names.path_segment(name))
    rest = path_name + _whole(meta, kind, old_meta)
    whole = _generate_name(meta, "path_segment") + rest
    changes = _changes(meta, old_meta)
    standard = _standard_finalizers(meta, kind)
    checks = ("update",) if ctx.subresource else kind.metadata_checks
    checked = "whole" in checks and not kind.custom
    named = _generate_name(meta, kind.name_rule) if checked and "unnamed" not in checks else []
    if not (whole or changes or standard or named):
        return []
    changes += _parts(meta, old_meta)
    if kind.custom:
        return whole + changes + changes
    if ctx.minor >= validation.DECLARATIVE_SINCE:
        return validation.distinct(whole + changes + standard + named)
    again = changes + standard if "update" in checks else []
    return whole + changes + again + (named + rest + standard if checked else [])


def _is_as_before(meta: Tree, old_meta: Tree) -> bool:
    """Whether nothing changed but who owns what: so it is with every write of a status."""
    entries = meta.get("managedFields")
    if {**meta, **WRITTEN} != {**old_meta, **WRITTEN}:
        return False
    return not entries or entries == old_meta.get("managedFields") or not validate_managed_fields(entries, "")


def _whole(meta: Tree, kind: Kind, old_meta: Mapping[str, Any]) -> list[FieldError]:
    """What holds at any time.

    Parts that are the same as in ``old_meta`` have been looked at before.
    """
    found: list[FieldError] = []
    if kind.namespaced:
        found += _namespace(meta.get("namespace", ""))
    elif meta.get("namespace"):
        found.append(field_errors.forbidden("metadata.namespace", "not allowed on this type"))
    found += validation.nonnegative("metadata.generation", meta.get("generation"))
    found += _parts(meta, old_meta)
    if finalizers := meta.get("finalizers"):
        found += _finalizers(finalizers, "metadata.finalizers")
    return found


def _generate_name(meta: Tree, rule: str) -> list[FieldError]:
    """A generateName by a rule for names: updates look at it too."""
    base = meta.get("generateName")
    return field_errors.complaints("metadata.generateName", base, names.object_name_prefix(rule, base)) if base else []


def _parts(meta: Tree, seen: Mapping[str, Any]) -> list[FieldError]:
    """Labels, annotations, owners and managed fields that are not the same as before."""
    found: list[FieldError] = []
    if (labels := meta.get("labels")) and labels != seen.get("labels"):
        found += validation.labels(labels, "metadata.labels")
    if (annotations := meta.get("annotations")) and annotations != seen.get("annotations"):
        found += validation.annotations(annotations, "metadata.annotations")
    if (references := meta.get("ownerReferences")) and references != seen.get("ownerReferences"):
        found += _owner_references(references, "metadata.ownerReferences")
    if (entries := meta.get("managedFields")) and entries != seen.get("managedFields"):
        found += validate_managed_fields(entries, "metadata.managedFields")
    return found


def _namespace(namespace: str) -> list[FieldError]:
    if not namespace:
        return [field_errors.required("metadata.namespace")]
    if names.is_label_value(namespace) and namespace.islower() and namespace.isalnum():
        return []
    return field_errors.complaints("metadata.namespace", namespace, names.dns1123_label(namespace))


def _changes(meta: Tree, old_meta: Tree) -> list[FieldError]:
    """What an update may not do."""
    found: list[FieldError] = []
    if "deletionTimestamp" in old_meta:
        extra = sorted(set(meta.get("finalizers", ())) - set(old_meta.get("finalizers", ())))
        if extra:
            shown = ", ".join(map(field_errors.go_quote, extra))
            found.append(field_errors.forbidden("metadata.finalizers", (
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{shown}}}")))
    generation = meta.get("generation", 0)
    if generation < old_meta.get("generation", 0):
        found.append(field_errors.invalid("metadata.generation", generation, "must not be decremented"))
    for name, zero in IMMUTABLE_FIELDS:
        found += validation.immutable(f"metadata.{name}", meta.get(name, zero), old_meta.get(name, zero))
    return found


def _owner_references(references: list[Tree], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    controller = ""
    for position, reference in enumerate(references):
        found += _owner_reference(reference, field_errors.index(path, position))
        if reference.get("controller"):
            current = f"{reference.get('kind', '')}/{reference.get('name', '')}"
            if controller:
                found.append(field_errors.invalid(path, [*map(_in_order, references)], (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {current}")))
            else:
                controller = current
    return found


def _in_order(reference: Tree) -> Tree:
    """An owner reference as upstream prints it."""
    return {name: reference[name] for name in OWNER_FIELDS if name in reference}


def _owner_reference(reference: Tree, path: str) -> list[FieldError]:
    """One owner. Releases before 1.37 did not say which, nor that something is missing."""
    found: list[FieldError] = []
    older = path.partition("[")[0]
    text = reference.get("apiVersion", "")
    if not text or text.count("/") > 1 or text.endswith("/"):
        where, what = f"{path}.apiVersion", "must be <group>/<version> or <version>"
        error = field_errors.invalid(where, text, what) if text else field_errors.required(where, EMPTY)
        found.append(error._replace(before=field_errors.invalid(f"{older}.apiVersion", text, "version must not be empty")))
    found += [
        field_errors.required(f"{path}.{name}", EMPTY)._replace(before=field_errors.invalid(f"{older}.{name}", "", EMPTY))
        for name in ("kind", "name", "uid") if not reference.get(name)
    ]
    if text == "v1" and reference.get("kind") == "Event":
        error = field_errors.invalid(
            path, _in_order(reference), f"{gvk.GroupVersionKind('', 'v1', 'Event')} is disallowed from being an owner")
        found.append(error._replace(before=error._replace(field=older)))
    return found


def _finalizers(finalizers: list[str], path: str) -> list[FieldError]:
    found = [
        error for name in finalizers if not names.is_qualified_name(name)
        for error in field_errors.complaints(path, name, names.qualified_name(name))
    ]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        what = "finalizer orphan and foregroundDeletion cannot be both set"
        found.append(field_errors.invalid(path, finalizers, what))
    return found


def _standard_finalizers(meta: Tree, kind: Kind) -> list[FieldError]:
    """Most built-ins take a finalizer without a domain only when it is one of upstream's own."""
    if not meta.get("finalizers") or kind.custom or kind.group in GROUPS_WITH_FREE_FINALIZERS:
        return []
    if not kind.group and kind.kind == "Event":  # only that of the later group is looked at
        return []
    return [
        error for position, name in enumerate(meta["finalizers"])
        for error in validate_finalizer_name(name, f"metadata.finalizers[{position}]")
    ]


def validate_finalizer_name(name: str, path: str) -> list[FieldError]:
    """A finalizer that is neither qualified by a domain nor one of upstream's own."""
    if "/" in name or name in STANDARD_FINALIZERS:
        return []
    what = "name is neither a standard finalizer name nor is it fully qualified"
    return [field_errors.invalid(path, name, what)]


def _is_short(entry: Tree) -> bool:
    return not (
        names.is_longer(entry.get("manager", ""), MAX_MANAGER_BYTES)
        or names.is_longer(entry.get("subresource", ""), MAX_SUBRESOURCE_BYTES))


def validate_managed_fields(entries: list[Tree], path: str) -> list[FieldError]:
    """What a client may say in metadata.managedFields."""
    found: list[FieldError] = []
    for position, entry in enumerate(entries):
        operation = entry.get("operation", "")
        if operation in ("Apply", "Update") and entry.get("fieldsType") == "FieldsV1" and _is_short(entry):
            continue
        here = field_errors.index(path, position)
        if operation not in ("Apply", "Update"):
            where = f"{here}.operation"
            error = field_errors.not_supported(where, operation, ("Apply", "Update"))
            error = error if operation else field_errors.required(where, EMPTY)
            before = field_errors.invalid(where, operation, "must be `Apply` or `Update`")
            found.append(error._replace(before=before))
        fields_type = entry.get("fieldsType", "")
        if fields_type and fields_type != "FieldsV1":
            found.append(field_errors.invalid(f"{here}.fieldsType", fields_type, "must be `FieldsV1`"))
        if names.is_longer(entry.get("manager", ""), MAX_MANAGER_BYTES):
            found.append(field_errors.too_long(f"{here}.manager", MAX_MANAGER_BYTES))
        if names.is_longer(entry.get("subresource", ""), MAX_SUBRESOURCE_BYTES):
            found.append(field_errors.too_long(f"{here}.subresource", MAX_SUBRESOURCE_BYTES))
    return found
