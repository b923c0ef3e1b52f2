"""Objects as rows of a Table, or as their metadata alone.

Columns and cells come from the Kind's printer. Upstream:
apiserver/pkg/endpoints/handlers/response.go and registry/rest/table.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.kind import CREATED_DESCRIPTION, NAME_DESCRIPTION, Column, Kind, Printer

INCLUDES = ("", "Metadata", "Object", "None")
LIST_KEYS = ("resourceVersion", "continue", "remainingItemCount")
INTERNAL_PACKAGES = {"": "core", "events.k8s.io": "core", "internal.apiserver.k8s.io": "apiserverinternal"}
DEFAULT = Printer(
    columns=(Column("Name", "string", "name", NAME_DESCRIPTION), Column("Created At", "date", "", CREATED_DESCRIPTION)),
    cells=lambda obj, now: [obj["metadata"].get("name", ""), obj["metadata"].get("creationTimestamp")],  # noqa: ARG005
    rows_may_be_null=True,
)


def include_object(request: Request) -> str:
    """What each row carries: Metadata, Object or None. Raises 400 for any other word."""
    word = request.param("includeObject")
    if word not in INCLUDES:
        detail = f"includeObject: Invalid value: {go_quote(word)}: must be 'Metadata', 'Object', 'None', or empty"
        raise APIError(400, "BadRequest", f"Unable to convert to Table as requested: {detail}")
    return word or "Metadata"


def column_definitions(printer: Printer) -> list[Tree]:
    """The columns as a Table lists them."""
    return [
        {"name": c.name, "type": c.type, "format": c.format, "description": c.description, "priority": c.priority}
        for c in printer.columns
    ]


def table_of(
    kind: Kind, objects: Iterable[Tree], metadata: Mapping[str, Any], version: str, include: str, now: float, *,
    columns: bool = True, printer: Printer | None = None,
) -> Tree:
    """A Table of objects.

    ``metadata`` is the list's, or the object's; ``now`` Unix seconds, for ages.

    ``columns`` is False for all but the first event of a watch. ``printer`` is for what does not
    print as its kind does.
    """
    printer = printer or kind.printer or DEFAULT
    rows = [_row(kind, printer, obj, version, include, now) for obj in objects]
    return {
        "kind": "Table", "apiVersion": version,
        "metadata": list_meta(metadata),
        "columnDefinitions": column_definitions(printer) if columns else None,
        "rows": None if not rows and printer.rows_may_be_null else rows,
    }


def list_meta(metadata: Mapping[str, Any]) -> Tree:
    """Of a list's metadata, or of an object's, what a typed list has."""
    return {key: metadata[key] for key in LIST_KEYS if metadata.get(key)}


def _row(kind: Kind, printer: Printer, obj: Tree, version: str, include: str, now: float) -> Tree:
    row: Tree = {"cells": printer.cells(obj, now)}
    conditions: Sequence[Json] = printer.conditions(obj) if printer.conditions else ()
    if conditions:
        row["conditions"] = conditions
    if include == "Object":
        row["object"] = obj
    else:
        row["object"] = partial_of(kind, obj, version) if include == "Metadata" else None
    return row


def partial_of(kind: Kind, obj: Tree, version: str) -> Tree:
    """An object's metadata alone."""
    metadata = obj.get("metadata") or {}
    if kind.field_annotation and kind.field_annotation in metadata.get("annotations", ()):
        metadata = dict(metadata)
        annotations = {key: text for key, text in metadata.pop("annotations").items() if key != kind.field_annotation}
        if annotations:
            metadata["annotations"] = annotations
    return {"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": metadata}


def internal_type(gvk: GroupVersionKind) -> str:
    """``core.Secret``: the Go type that upstream's texts name."""
    package = INTERNAL_PACKAGES.get(gvk.group) or gvk.group.partition(".")[0]
    return f"{package}.{gvk.kind}"
