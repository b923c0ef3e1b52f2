"""A custom kind as OpenAPI publishes it, in version 3 and in version 2 (swagger).

Version 3 has the schema as it stands, with what every object has. Version 2 knows less, and kubectl
reads it more strictly: alternatives, defaults and nullable parts go, and of a part that keeps
unknown fields nothing is said at all. Upstream:
apiextensions-apiserver/pkg/controller/openapi/{builder,v2} and pkg/apiserver/schema/unfold.go.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import orjson

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery.types import Tree
from fakekube.schema.structural import OBJECT_META

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
JUNCTORS = ("allOf", "anyOf", "oneOf")
INT_OR_STRING, PRESERVE = "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"
EITHER = ({"type": "integer"}, {"type": "string"})
EMBEDDED = {
    "apiVersion": (
        f"apiVersion defines the versioned schema of this representation of an object. More info: {CONVENTIONS}#resources"),
    "kind": f"kind is a string value representing the type of this object. In CamelCase. More info: {CONVENTIONS}#types-kinds",
}
A_KIND, A_LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"


class Printer(Protocol):
    """Prints the document that schemas become a part of."""

    v3: bool

    def reference(self, name: str) -> Tree:
        """A reference to a definition of the release, which is then wanted."""

    def description(self, name: str, field: str) -> str:
        """What a field of a definition is for; empty where no descriptions are installed."""


class PublishedVersion:
    """What is published of one version of a definition."""

    def __init__(self, version: DefinedVersion) -> None:
        self._version = version

    @property
    def name(self) -> str:
        """The name of the kind's schema: ``dev.probe.v1.Widget``."""
        return self._named(self._version.gvk.kind)

    @property
    def list_name(self) -> str:
        """The name of the schema of its lists."""
        return self._named(self._list_kind)

    @property
    def _list_kind(self) -> str:
        kind: str = self._version.definition["status"]["acceptedNames"]["listKind"]
        return kind

    def _named(self, kind: str) -> str:
        gvk = self._version.gvk
        return ".".join([*reversed(gvk.group.split(".")), gvk.version, kind])

    @cached_property
    def digest(self) -> str:
        """Differs where anything that is published does."""
        version = self._version
        facts = [
            version.entry, version.read_openapi(), version.definition["status"]["acceptedNames"], version.namespaced]
        return sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def schemas(self, printer: Printer) -> Mapping[str, Tree]:
        """The schemas of the kind and of its lists, by name."""
        return {self.name: self._kind(printer), self.list_name: self._list(printer)}

    def _kind(self, printer: Printer) -> Tree:
        schema = self._version.read_openapi()
        if not printer.v3 and (not schema or schema.get(PRESERVE)):
            # kubectl would take all that is not named for unknown
            return {"type": "object", **self._marks(self._version.gvk.kind)}
        printed = _printed(schema, printer) if printer.v3 else _reduced(schema, printer)
        own = {name: _text(printer, A_KIND, name) for name in ("apiVersion", "kind")}
        own["metadata"] = _metadata(printer)
        printed["properties"] = dict(sorted(((printed.get("properties") or {}) | own).items()))
        return printed | self._marks(self._version.gvk.kind)

    def _list(self, printer: Printer) -> Tree:
        kind = self._version.gvk.kind
        items = {
            "description": f"List of {self._version.plural}. More info: {CONVENTIONS}", "type": "array",
            "items": printer.reference(self.name)}
        return {
            "description": f"{self._list_kind} is a list of {kind}", "type": "object", "required": ["items"], "properties": {
                "apiVersion": _text(printer, A_LIST, "apiVersion"), "items": items, "kind": _text(printer, A_LIST, "kind"),
                "metadata": _referring(printer, A_LIST, f"{META}ListMeta")},
            **self._marks(self._list_kind)}

    def _marks(self, kind: str) -> Tree:
        gvk = self._version.gvk
        marks: Tree = {"x-kubernetes-group-version-kind": [{"group": gvk.group, "kind": kind, "version": gvk.version}]}
        fields = self._version.entry.get("selectableFields")
        if fields:
            marks["x-kubernetes-selectable-fields"] = [{"fieldPath": field["jsonPath"].removeprefix(".")} for field in fields]
        return marks


def _text(printer: Printer, name: str, field: str) -> Tree:
    description = printer.description(name, field)
    return {"description": description, "type": "string"} if description else {"type": "string"}


def _metadata(printer: Printer) -> Tree:
    return _referring(printer, A_KIND, OBJECT_META)


def _referring(printer: Printer, described_by: str, name: str) -> Tree:
    """A field ``metadata`` that refers to a definition."""
    description = printer.description(described_by, "metadata")
    reference = printer.reference(name)
    return ({"description": description} if description else {}) | ({"allOf": [reference]} if printer.v3 else reference)


def _printed(schema: Tree, printer: Printer) -> Tree:
    """A node in version 3."""
    printed: Tree = {key: value for key, value in schema.items() if key not in ("properties", "items", "additionalProperties")}
    for name, below in _below(schema):
        _put(printed, name, _printed(below, printer))
    if schema.get("additionalProperties") in (True, False):
        printed["additionalProperties"] = schema["additionalProperties"]
    if schema.get(INT_OR_STRING) and not _says_either(schema):
        if "anyOf" in schema:
            printed["allOf"] = [{"anyOf": list(EITHER)}, *schema.get("allOf", ())]
        else:
            printed["anyOf"] = list(EITHER)
    return _with_embedded(printed, schema, printer)


def _says_either(schema: Tree) -> bool:
    """Whether an int-or-string says itself that it is one of the two."""
    first = (schema.get("allOf") or [{}])[0]
    return list(EITHER) in (schema.get("anyOf"), first.get("anyOf"))


def _reduced(schema: Tree, printer: Printer) -> Tree:
    """A node in version 2, without what that does not know or kubectl cannot read."""
    kept = {key: value for key, value in schema.items() if key not in (
        *JUNCTORS, "not", "default", "nullable", "properties", "items", "additionalProperties")}
    keeps_unknown, nullable = bool(schema.get(PRESERVE)), bool(schema.get("nullable"))
    for name, below in _below(schema):
        if (not nullable and not keeps_unknown) or name == ("additionalProperties",):
            _put(kept, name, _reduced(below, printer))
    if nullable or (keeps_unknown and kept.get("type") == "object") or (kept.get("type") == "array" and "items" not in kept):
        kept.pop("type", None)
    _drop_nullable(kept, schema)
    return kept if keeps_unknown else _with_embedded(kept, schema, printer)


def _drop_nullable(kept: Tree, schema: Tree) -> None:
    """Nullable fields are not required: kubectl would refuse null for them."""
    additional = schema.get("additionalProperties")
    fields = kept.get("properties") and schema["properties"]
    required = [name for name in kept.pop("required", ()) if not (fields or {}).get(name, {}).get("nullable")]
    if required and not (isinstance(additional, dict) and additional.get("nullable")):
        kept["required"] = required


def _with_embedded(printed: Tree, schema: Tree, printer: Printer) -> Tree:
    """The type and metadata of an object that is embedded."""
    if not schema.get("x-kubernetes-embedded-resource"):
        return printed
    own: Tree = {name: {"description": text, "type": "string"} for name, text in EMBEDDED.items()}
    own["metadata"] = _metadata(printer)
    required = list(printed.get("required") or ())
    required += [name for name in ("kind", "apiVersion") if name not in required]
    return printed | {"properties": (printed.get("properties") or {}) | own, "required": required}


def _below(schema: Tree) -> Iterable[tuple[tuple[str, ...], Tree]]:
    """The nodes below a node, with where they stand."""
    for name, below in sorted((schema.get("properties") or {}).items()):
        yield ("properties", name), below
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield (key,), schema[key]


def _put(tree: Tree, path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value
