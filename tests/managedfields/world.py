"""One kind, its manager, and a short way to write, shared by the tests of field ownership."""

from functools import lru_cache
from typing import Any

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.managedfields.manager import FieldManager
from fakekube.schema import definitions
from fakekube.schema.structural import Schema, from_openapi

T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


@lru_cache
def schema(group: str, version: str, kind: str) -> Schema:
    found = definitions.load("1.37").schema(GroupVersionKind(group, version, kind))
    assert found is not None
    return found


def configmaps() -> FieldManager:
    return FieldManager(schema("", "v1", "ConfigMap"), "v1")


def templates() -> FieldManager:
    return FieldManager(schema("", "v1", "PodTemplate"), "v1")


def widgets() -> FieldManager:
    """A custom resource with every kind of list and map."""
    text = {"type": "string"}
    spec = {
        "granular": {"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "granular"},
        "atomic": {"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
        "plain": {"type": "array", "items": text},
        "tags": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "mapped": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": text, "value": text}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    }
    tree = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    metadata = schema("", "v1", "Pod").properties["metadata"]
    return FieldManager(from_openapi(tree), "example.com/v1", kind="Widget", metadata=metadata)


def configmap(data: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    tree: dict[str, Any] = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", **metadata}}
    return tree if data is None else {**tree, "data": data}


def widget(spec: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": spec}


def stored(tree: dict[str, Any]) -> dict[str, Any]:
    """A written object as the store would have it: with an identity."""
    return {**tree, "metadata": {"uid": "u", **tree["metadata"]}}


def owned(tree: dict[str, Any]) -> dict[str, Any]:
    """What each manager owns, by name; an applier's name carries a star."""
    return {
        entry["manager"] + ("*" if entry["operation"] == "Apply" else ""): entry["fieldsV1"]
        for entry in tree["metadata"].get("managedFields", [])
    }
