"""Schemas as OpenAPI prints them, in version 3 and in version 2 (swagger).

Descriptions come from the extra ``explain``; without it, those of kinds say how to get them.
Upstream: kube-openapi (pkg/builder3, pkg/builder).
"""

from collections.abc import Iterable, Mapping

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema import descriptions
from fakekube.schema.definitions import Definitions
from fakekube.schema.descriptions import Texts
from fakekube.schema.structural import GoField, Schema

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
ZERO: Mapping[str, Json] = {"string": "", "integer": 0, "number": 0, "boolean": False}


class Printer:
    """Prints schemas of one release.

    ``v3`` chooses the version; references are gathered in ``wanted``.

    ``texts`` are the descriptions, None where they are not installed.
    """

    def __init__(self, definitions: Definitions, texts: Texts | None, *, v3: bool) -> None:
        self._definitions, self._texts, self.v3 = definitions, texts, v3
        self._prefix = "#/components/schemas/" if v3 else "#/definitions/"
        self._added: dict[str, Tree] = {}
        self.wanted: dict[str, None] = {}

    def add(self, schemas: Mapping[str, Tree]) -> None:
        """Know schemas that no release has, printed already."""
        self._added |= schemas

    def reference(self, name: str) -> Tree:
        """A reference to a definition, which is then wanted."""
        self.wanted[name] = None
        return {"$ref": self._prefix + name}

    def all(self) -> Tree:
        """Every definition that is wanted, and what those refer to, by name."""
        printed: Tree = {}
        while waiting := [name for name in self.wanted if name not in printed]:
            for name in waiting:
                printed[name] = self.definition(name)
        return dict(sorted(printed.items()))

    def definition(self, name: str) -> Tree:
        """One definition in full."""
        if name in self._added:
            return self._added[name]
        schema = self._definitions.named(name)
        return self._described(name, "", schema) | self._body(name, schema)

    def description(self, name: str, field: str) -> str:
        """What a field of a definition is for; empty where no descriptions are installed."""
        return (self._texts or {}).get((name, field), "")

    def _described(self, name: str, field: str, schema: Schema) -> Tree:
        """The description of a definition or of its field, as a part of what is printed."""
        if self._texts is None:
            return {"description": descriptions.MISSING} if schema.kinds and not field else {}
        text = self._texts.get((name, field))
        return {"description": text} if text else {}

    def _body(self, name: str, schema: Schema) -> Tree:
        if name == QUANTITY and self.v3:
            return {"oneOf": [{"type": "string"}, {"type": "number"}]}
        if name == INT_OR_STRING:
            types: Tree = {"oneOf": [{"type": "integer"}, {"type": "string"}]} if self.v3 else {"type": "string"}
            return types | {"format": "int-or-string"}
        tree = self._node(schema)
        if schema.kinds:
            tree["x-kubernetes-group-version-kind"] = [
                {"group": gvk.group, "kind": gvk.kind, "version": gvk.version} for gvk in schema.kinds]
        return tree

    def _node(self, schema: Schema) -> Tree:
        tree: Tree = {"type": schema.type} if schema.type else {}
        if schema.format:
            tree["format"] = schema.format
        if schema.properties:
            tree["properties"] = self._properties(schema)
        if schema.required:
            tree["required"] = list(schema.required)
        if schema.items is not None:
            tree["items"] = self._element(schema.items)
        if schema.additional is not None:
            tree["additionalProperties"] = self._element(schema.additional)
        return tree | _extensions(schema)

    def _properties(self, schema: Schema) -> Tree:
        fields: Mapping[str, GoField] = schema.go.fields if schema.go else {}
        return {
            name: self._described(schema.name, name, child) | self._property(child, fields.get(name), name in schema.required)
            for name, child in sorted(schema.properties.items())}

    def _property(self, schema: Schema, field: GoField | None, required: bool) -> Tree:
        if not schema.name:
            tree = self._node(schema)
            if self.v3 and required and schema.type in ZERO:
                tree["default"] = ZERO[schema.type]
            return tree
        reference = self.reference(schema.name)
        if not self.v3:
            return reference | _extensions(schema)
        tree = {"allOf": [reference]}
        if field is not None and not field.pointer and schema.type == "object":
            tree["default"] = {}
        shared = self._definitions.named(schema.name)
        own = _extensions(shared)
        return tree | {key: value for key, value in _extensions(schema).items() if own.get(key) != value}

    def _element(self, schema: Schema) -> Tree:
        if not schema.name:
            tree = self._node(schema)
            if self.v3 and schema.type in ZERO:
                tree["default"] = ZERO[schema.type]
            return tree
        reference = self.reference(schema.name)
        return {"allOf": [reference], "default": {}} if self.v3 and schema.type == "object" else reference


def _extensions(schema: Schema) -> Tree:
    tree: Tree = {}
    for name, value in _marks(schema):
        if value:
            tree[f"x-kubernetes-{name}"] = value
    return tree


def _marks(schema: Schema) -> Iterable[tuple[str, Json]]:
    yield "list-map-keys", list(schema.list_map_keys)
    yield "list-type", schema.list_type
    yield "map-type", schema.map_type
    yield "patch-merge-key", schema.merge_key
    yield "patch-strategy", schema.patch_strategy
