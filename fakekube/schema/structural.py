"""The one model of a kind's structure, for built-in kinds and for custom resources alike.

Decoding, strategic merge, server-side apply, pruning and defaulting all ask the same questions
about a field: what type it has, how a list is keyed, whether a map is atomic. ``Schema`` answers
them. A node is made from a raw form (a row of a release's table, or the translation of an
openAPIV3Schema) and makes its children on first use, so that recursive definitions such as
JSONSchemaProps cost nothing until someone descends.

Upstream: apiextensions-apiserver/pkg/apiserver/schema (structural schemas) and kube-openapi's proto
models. Left out here: value validation, whose keywords are kept in ``keywords`` for whoever
validates.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Json, Tree

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
OF_EVERY_OBJECT: Mapping[str, str] = MappingProxyType({"apiVersion": "string", "kind": "string", "metadata": OBJECT_META})
"""What every object has, one that is embedded in another too: fields and their definitions."""

_NOTHING: Mapping[str, "Schema"] = MappingProxyType({})
_NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})


class GoField(NamedTuple):
    """What Go says of one JSON field, and OpenAPI does not."""

    type: str  # as reflect prints it, without the pointer: int32, v1.PodPhase, []v1.Container
    pointer: bool
    omit_empty: bool
    omit_zero: bool
    embedded: str  # the path of embedded structs that hold it, dotted: VolumeSource; mostly empty


class GoStruct(NamedTuple):
    """The Go struct behind a definition. ``fields`` is in the order in which Go prints them."""

    name: str
    package: str
    fields: Mapping[str, GoField]


class Schema:
    """One node: an object, a list, a map or a scalar.

    ``type`` is object, array, string, integer, number, boolean, or empty when anything goes. A map
    has ``additional``, a list has ``items``. Texts that are not set are empty; ``list_type`` is
    atomic, set or map, ``map_type`` atomic or granular, ``patch_strategy`` merge, retainKeys or
    both with a comma. ``embedded`` says that a whole object stands here, with metadata of its own.
    """

    __slots__ = (
        "_additional", "_go", "_items", "_properties", "_raw", "_resolve", "default", "embedded", "format", "int_or_string",
        "keywords", "kinds", "list_map_keys", "list_type", "map_type", "merge_key", "name", "nullable",
        "patch_strategy", "preserve_unknown", "required", "shape", "type",
    )  # fmt: skip

    def __init__(self, raw: Mapping[str, Any], resolve: "Callable[[str], Schema]", name: str = "") -> None:
        get = raw.get
        self._raw = raw
        self._resolve = resolve
        self._properties: Mapping[str, Schema] | None = None
        self._items: Schema | None = None
        self._additional: Schema | None = None
        self._go: GoStruct | None = None
        self.name = name
        self.shape: object | None = None  # what ``compile`` made of this node
        self.type: str = get("type", "")
        self.format: str = get("format", "")
        self.required: tuple[str, ...] = tuple(get("required", ()))
        self.list_type: str = get("list_type", "")
        self.list_map_keys: tuple[str, ...] = tuple(get("list_map_keys", ()))
        self.map_type: str = get("map_type", "")
        self.merge_key: str = get("merge_key", "")
        self.patch_strategy: str = get("patch_strategy", "")
        self.preserve_unknown: bool = get("preserve_unknown", False)
        self.int_or_string: bool = get("int_or_string", False)
        self.nullable: bool = get("nullable", False)
        self.embedded: bool = get("embedded", False)
        self.default: Json = get("default")
        self.keywords: Mapping[str, Any] = get("keywords", _NO_KEYWORDS)
        self.kinds: tuple[GroupVersionKind, ...] = tuple(GroupVersionKind(*kind) for kind in get("kinds", ()))

    def __repr__(self) -> str:
        return f"Schema({self.name or self.type})"

    @property
    def properties(self) -> Mapping[str, "Schema"]:
        """The named fields of an object; empty for anything else."""
        found = self._properties
        if found is None:
            raw = self._raw.get("properties")
            found = {name: self._child(node) for name, node in raw.items()} if raw else _NOTHING
            self._properties = found
        return found

    @property
    def items(self) -> "Schema | None":
        """What a list holds."""
        if self._items is None and "items" in self._raw:
            self._items = self._child(self._raw["items"])
        return self._items

    @property
    def additional(self) -> "Schema | None":
        """What the values of a map are."""
        if self._additional is None and "additional" in self._raw:
            self._additional = self._child(self._raw["additional"])
        return self._additional

    @property
    def is_struct(self) -> bool:
        """Whether a Go struct stands behind the definition."""
        return "go" in self._raw

    @property
    def go(self) -> GoStruct | None:
        """What Go says of the definition, if it is a struct there."""
        if self._go is None and "go" in self._raw:
            self._go = _go_struct(self._raw["go"])
        return self._go

    def sibling(self, name: str) -> "Schema":
        """Another definition of the same release. KeyError when there is none."""
        return self._resolve(name)

    def _child(self, node: str | Mapping[str, Any]) -> "Schema":
        if isinstance(node, str):
            return self._resolve(node)  # scalars that say nothing more are shared too
        if "ref" not in node:
            return Schema(node, self._resolve)
        # A field may say more of a shared definition than the definition itself, as selectors do
        # with their map type.
        target = self._resolve(node["ref"])
        return Schema({**target._raw, **node}, self._resolve, target.name)


def _go_struct(raw: Mapping[str, Any]) -> GoStruct:
    fields = {
        name: GoField(type_text, "p" in flags, "e" in flags, "z" in flags, embedded)
        for name, type_text, flags, embedded in raw["fields"]
    }
    return GoStruct(raw["name"], raw["package"], fields)


def no_reference(name: str) -> Schema:
    """The resolver of schemas that cannot hold references."""
    raise KeyError(name)


def from_openapi(
    tree: Tree, resolve: Callable[[str], Schema] = no_reference, own: Mapping[str, str] = MappingProxyType({}),
) -> Schema:
    """The structural schema of a CustomResourceDefinition's ``openAPIV3Schema``.

    The tree is one that upstream's rules for structural schemas accept; what they forbid is not
    looked for here. ``own`` names the fields that every object has, whatever the tree says of
    them, with what ``resolve`` knows them by.
    """
    raw = _raw_of(tree)
    if own:
        raw["properties"] = raw.get("properties", {}) | own
    return Schema(raw, resolve)


_RENAMED = {
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-list-map-keys": "list_map_keys",
    "x-kubernetes-map-type": "map_type",
    "x-kubernetes-preserve-unknown-fields": "preserve_unknown",
    "x-kubernetes-int-or-string": "int_or_string",
    "x-kubernetes-embedded-resource": "embedded",
}
_SAME = frozenset({"type", "format", "required", "nullable", "default"})


def _raw_of(tree: Tree) -> Tree:
    raw: Tree = {}
    keywords: Tree = {}
    for key, value in tree.items():
        if key == "properties":
            raw["properties"] = {name: _raw_of(child) for name, child in value.items()}
        elif key == "items":
            if value is not None:  # an empty list is none
                raw["items"] = _raw_of(value)
        elif key == "additionalProperties":
            if isinstance(value, dict):
                raw["additional"] = _raw_of(value)
            elif value:
                raw["additional"] = {}
        elif key in _RENAMED:
            raw[_RENAMED[key]] = value
        elif key in _SAME:
            raw[key] = value
        elif key != "description":
            keywords[key] = value
    if keywords:
        raw["keywords"] = keywords
    return raw
