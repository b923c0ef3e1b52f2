"""What a tree is made of, seen through its schema: which parts stand alone, which are one, how
items are known.

A ``Node`` is a schema node reduced to what field ownership asks of it. Nodes are made as values are
walked and kept, so that a walk costs a dict lookup a field. Upstream: structured-merge-diff/schema
and kube-openapi/pkg/schemaconv.
Left out: sets that a schema change turned from granular to atomic, or back, since they were
written.
"""

from typing import Any

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldsv1 import key_element, quoted, value_element
from fakekube.schema.structural import OF_EVERY_OBJECT, GoStruct, Schema, no_reference

# Published schemas carry no defaults, but items are known by this key also when it is not given.
BUILT_IN_KEY_DEFAULTS = {"protocol": "TCP"}
DEFAULTS_OF_KEYS = {("LocalObjectReference", "name"): ""}
ZEROES = {"string": "", "integer": 0, "number": 0, "boolean": False}

MAP, LIST, SCALAR = "map", "list", "scalar"


class TypedError(ValueError):
    """A value that does not fit its schema; the message is upstream's."""


class Node:
    """One place in a kind's structure.

    ``atom`` says what may stand here: one of MAP, LIST, SCALAR, or empty when anything may.
    ``granular`` is about maps, ``keyed`` (with ``keys``) and ``is_set`` about lists; what is none
    of these is one indivisible leaf. ``scalar`` is string, numeric, boolean or untyped, and
    ``takes_text`` says whether any text may stand here. ``named`` are granular maps of which the
    schema names fields.

    ``children`` and ``elements`` hold, of the fields that the schema names and that were met, the
    nodes and the path elements (``f:spec``): walks look there before they ask ``child_of`` and
    ``element_of``.
    """

    __slots__ = (
        "_element", "_extra", "_nodes", "_overridden", "_prefix", "_schema", "_unknown", "atom", "children", "elements",
        "granular", "is_set", "key_defaults", "keyed", "keys", "named", "only_key", "scalar", "takes_text",
    )  # fmt: skip

    def __init__(self, schema: Schema | None, nodes: "dict[int, Node]", *, inherits_unknown: bool = False) -> None:
        self._schema, self._nodes = schema, nodes
        self.children: dict[str, Node] = {}
        self.elements: dict[str, str] = {}
        self._overridden: tuple[str, ...] = ()
        self._element: Node | None = None
        self._extra: Node | None = None
        self.keys: tuple[str, ...] = ()
        self.only_key = self._prefix = ""
        self.key_defaults: dict[str, Json] | None = None
        self.is_set = self.keyed = self.named = False
        self.atom, self.scalar, self.granular = "", "untyped", True
        self._unknown = inherits_unknown or (schema is not None and schema.preserve_unknown)
        if schema is None:
            self._extra = self
        else:
            self._read(schema, self._unknown)
        self.takes_text = self.atom in (SCALAR, "") and self.scalar in ("string", "untyped")

    def _read(self, schema: Schema, unknown: bool) -> None:
        if schema.name.endswith(".Quantity"):
            self.atom = SCALAR
        elif schema.name.endswith((".RawExtension", ".IntOrString")):  # anything, as one
            self.granular, self._extra = False, ANYTHING
        elif schema.type in ("object", "array", ""):
            self.atom = {"object": MAP, "array": LIST, "": ""}[schema.type]
            self.granular = schema.map_type != "atomic"
            self.named = self.granular and schema.type != "array" and bool(schema.properties)
            self._read_list(schema)
            if schema.additional is not None:
                self._extra = self._node(schema.additional, unknown)
            elif schema.type != "array" and (unknown or not schema.properties):
                self._extra = ANYTHING
            if schema.embedded:
                for name, definition in OF_EVERY_OBJECT.items():
                    self.override(name, self._node(schema.sibling(definition)))
        else:
            self.atom = SCALAR
            self.scalar = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}.get(schema.type, "string")
            if schema.type == "string" and schema.format not in ("", "byte"):
                self.scalar = "untyped"

    def _read_list(self, schema: Schema) -> None:
        merged = not schema.list_type and "merge" in schema.patch_strategy.split(",")
        self.is_set = schema.list_type == "set" or (merged and not schema.merge_key)
        self.keyed = schema.list_type == "map" or (merged and bool(schema.merge_key))
        if self.keyed:
            self.keys = schema.list_map_keys or (schema.merge_key,)
            if len(self.keys) == 1:
                self.only_key = self.keys[0]
                self._prefix = f"k:{{{quoted(self.only_key)}:"

    def _node(self, schema: Schema, unknown: bool = False) -> "Node":
        found = self._nodes.get(id(schema))
        if found is None:
            inherits = unknown and not schema.name
            found = self._nodes[id(schema)] = Node(schema, self._nodes, inherits_unknown=inherits)
        return found

    def child(self, name: str) -> "Node | None":
        """What a map has under a name; None when the schema knows no such field."""
        found = self.children.get(name)
        if found is None and self._schema is not None:
            schema = self._schema.properties.get(name)
            if schema is not None:
                found = self.children[name] = self._node(schema, self._unknown)
        return found or self._extra

    def child_of(self, name: str) -> "Node":
        """What a map has under a name; anything, when the schema knows no such field."""
        return self.child(name) or ANYTHING

    def element_of(self, name: str) -> str:
        """The path element of a map's field: ``f:spec``."""
        element = f"f:{name}"
        if self.declares(name):
            self.elements[name] = element
        return element

    def override(self, name: str, child: "Node") -> None:
        """Say what a field is, whatever the schema says of it."""
        self.children[name] = child
        self._overridden = (*self._overridden, name)
        self.named = True

    def declares(self, name: str) -> bool:
        """Whether a map has the field by name, and not just as any entry."""
        return name in self._overridden or (self._schema is not None and name in self._schema.properties)

    @property
    def element(self) -> "Node":
        """What a list's items are."""
        if self._element is None:
            items = self._schema.items if self._schema is not None else None
            self._element = self._node(items, self._unknown) if items is not None else ANYTHING_WHOLE
        return self._element

    @property
    def associative(self) -> bool:
        """Whether a list's items are owned one by one."""
        return self.keyed or self.is_set

    def atom_of(self, value: Json) -> str:
        """Which of the three a value is taken for here."""
        if self.atom:
            return self.atom
        if isinstance(value, dict):
            return MAP
        return LIST if isinstance(value, list) else SCALAR if value is not None else MAP

    def item(self, value: Json) -> str:
        """The path element of a list's item.

        Raises TypedError when it cannot be told apart from others.
        """
        if self.is_set:
            if isinstance(value, dict):
                raise TypedError("associative list without keys has an element that's a map type")
            if isinstance(value, list):
                raise TypedError("not supported: associative list with lists as elements")
            if value is None:
                raise TypedError("associative list without keys has an element that's an explicit null")
            return value_element(value)
        if value is None:
            raise TypedError("associative list with keys may not have a null element")
        if not isinstance(value, dict):
            raise TypedError("associative list with keys may not have non-map elements")
        if self.only_key and type(value.get(self.only_key)) is str:
            return self.item_with(value[self.only_key])
        found = {key: value[key] for key in self.keys if key in value}
        if len(found) < len(self.keys):
            found = self._defaulted_keys(found)
        return key_element(found)

    def item_with(self, text: str) -> str:
        """The path element of an item whose ``only_key`` holds a text: ``k:{"name":"c"}``."""
        # there is nothing to escape in it
        if text.isidentifier() or text.replace("-", "_").isidentifier():
            return f'{self._prefix}"{text}"}}'
        return f"{self._prefix}{quoted(text)}}}"

    def _defaulted_keys(self, found: dict[str, Json]) -> dict[str, Json]:
        if self.key_defaults is None:
            properties: Any = self.element._schema.properties if self.element._schema is not None else {}
            struct = self.element._schema.go if self.element._schema is not None else None
            defaults = {key: properties[key].default for key in self.keys if key in properties}
            if struct is not None:
                defaults |= {key: _default_of(struct, key, properties[key].type) for key in self.keys if key in properties}
            self.key_defaults = {key: value for key, value in defaults.items() if value is not None}
        result = self.key_defaults | found
        if not result:
            raise TypedError(
                f"associative list with keys has an element that omits all key fields {_go_list(self.keys)} "
                "(and doesn't have default values for any key fields)"
            )
        return result

    def items(self, values: list[Json]) -> dict[str, list[Json]]:
        """A list's items by their path elements; several under one when there are duplicates.

        Raises TypedError.
        """
        found: dict[str, list[Json]] = {}
        for number, value in enumerate(values):
            try:
                found.setdefault(self.item(value), []).append(value)
            except TypedError as error:
                raise TypedError(f"element {number}: {error}") from None
        return found

    def items_by_text(self, values: list[Any]) -> dict[str, dict[str, Json]] | None:
        """A list's items by what ``only_key`` holds, if that is a text of its own in each.

        Texts sort as path elements do.
        """
        key, found = self.only_key, {}
        if not key:
            return None
        for value in values:
            name = value.get(key) if type(value) is dict else None
            if type(name) is not str:
                return None
            found[name] = value
        return found if len(found) == len(values) else None


def root_node(schema: Schema | None, metadata: Schema | None = None) -> Node:
    """The node of a whole object; ``metadata`` for custom resources, whose schemas say little of
    it.
    """
    nodes: dict[int, Node] = {}
    root = Node(schema, nodes)
    if metadata is not None:
        root.override("metadata", Node(metadata, nodes))
        for name in ("apiVersion", "kind"):
            root.override(name, Node(Schema({"type": "string"}, no_reference), nodes))
    return root


def _default_of(struct: GoStruct, key: str, kind: str) -> Json:
    """What a key has that is not given: what Go's zero value is, where Go always prints the field,
    or a default by name.
    """
    if (struct.name, key) in DEFAULTS_OF_KEYS or key in BUILT_IN_KEY_DEFAULTS:
        return DEFAULTS_OF_KEYS.get((struct.name, key), BUILT_IN_KEY_DEFAULTS.get(key))
    field = struct.fields.get(key)
    if field is None or field.pointer or field.omit_empty:
        return None
    return ZEROES.get(kind)


def _go_list(names: tuple[str, ...]) -> str:
    return "[" + " ".join(map(go_quote, names)) + "]"


ANYTHING = Node(None, {})
ANYTHING_WHOLE = Node(None, {})
ANYTHING_WHOLE.granular = False
