"""Definitions for tests."""

from typing import Any

from fakekube.apimachinery.types import Tree

SCHEMA: Tree = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}


def version(name: str = "v1", *, storage: bool = True, schema: Tree = SCHEMA, **more: Any) -> Tree:
    """One entry of spec.versions."""
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(
    plural: str = "widgets", kind: str = "Widget", *, group: str = "probe.dev", scope: str = "Namespaced",
    versions: list[Tree] | None = None, names: Tree | None = None, **spec: Any,
) -> Tree:
    """A CustomResourceDefinition, with one version unless others are given."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group, "scope": scope, "names": {"plural": plural, "kind": kind, **(names or {})},
            "versions": versions or [version()], **spec,
        },
    }


def custom_object(name: str = "w", *, group: str = "probe.dev", kind: str = "Widget", **fields: Any) -> Tree:
    """An object of such a definition."""
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, **fields}
