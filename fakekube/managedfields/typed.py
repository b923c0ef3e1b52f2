"""What a tree is made of, seen through its schema: which parts stand alone, which are one, how items are known.

A ``Node`` is a schema node reduced to what field ownership asks of it. Nodes are made as values are walked and kept, so
that a walk costs a dict lookup a field. Upstream: structured-merge-diff/typed and kube-openapi/pkg/schemaconv.
Left out: sets that a schema change turned from granular to atomic, or back, since they were written.
"""

from typing import Any, NamedTuple

from fakekube.apimachinery.equality import equals_are_same, same
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldset import SELF, FieldSet, ordered
from fakekube.managedfields.fieldsv1 import key_element, named_element, value_element
from fakekube.schema.structural import GoStruct, Schema, no_reference
from fakekube.util.memory import remember

# Published schemas carry no defaults, but items are known by this key also when it is not given.
BUILT_IN_KEY_DEFAULTS = {"protocol": "TCP"}
DEFAULTS_OF_KEYS = {("LocalObjectReference", "name"): ""}
ZEROES = {"string": "", "integer": 0, "number": 0, "boolean": False}

MAP, LIST, SCALAR = "map", "list", "scalar"
LEAVES = (str, int, bool, float)
DIFFERENCES_KEPT = 32


class TypedError(ValueError):
    """A value that does not fit its schema; the message is upstream's."""


class Difference(NamedTuple):
    """What changed from one value to another; None when nothing did in that way."""

    removed: FieldSet | None
    modified: FieldSet | None
    added: FieldSet | None


CHANGED = Difference(None, {}, None)
NO_DIFFERENCE = Difference(None, None, None)


class Node:
    """One place in a kind's structure.

    ``atom`` says what may stand here: one of MAP, LIST, SCALAR, or empty when anything may. ``granular`` is about maps,
    ``keyed`` (with ``keys``) and ``is_set`` about lists; what is none of these is one indivisible leaf.
    ``scalar`` is string, numeric, boolean or untyped.
    """

    __slots__ = (
        "_children", "_differences", "_element", "_extra", "_known", "_memo", "_schema", "atom", "granular", "is_set",
        "key_defaults", "keyed", "keys", "scalar",
    )  # fmt: skip

    def __init__(self, schema: Schema | None, memo: "dict[int, Node]", *, inherits_unknown: bool = False) -> None:
        self._schema, self._memo = schema, memo
        self._children: dict[str, Node] = {}
        self._differences: dict[tuple[int, int], tuple[list[Json], list[Json], Difference]] = {}
        self._known: tuple[str, ...] = ()
        self._element: Node | None = None
        self._extra: Node | None = None
        self.keys: tuple[str, ...] = ()
        self.key_defaults: dict[str, Json] | None = None
        self.is_set = self.keyed = False
        self.atom, self.scalar, self.granular = "", "untyped", True
        if schema is None:
            self._extra = self
        else:
            self._read(schema, inherits_unknown or schema.preserve_unknown)

    def _read(self, schema: Schema, unknown: bool) -> None:
        if schema.name.endswith(".Quantity") or (schema.int_or_string and not schema.name):
            self.atom = SCALAR
        elif schema.name.endswith((".RawExtension", ".IntOrString")):  # anything, as one
            self.granular, self._extra = False, ANYTHING
        elif schema.type in ("object", "array", ""):
            self.atom = {"object": MAP, "array": LIST, "": ""}[schema.type]
            self.granular = schema.map_type != "atomic"
            self._read_list(schema)
            if schema.additional is not None:
                self._extra = self._node(schema.additional, unknown)
            elif schema.type != "array" and (unknown or not schema.properties):
                self._extra = ANYTHING
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

    def _node(self, schema: Schema, unknown: bool = False) -> "Node":
        found = self._memo.get(id(schema))
        if found is None:
            inherits = unknown and not schema.name
            found = self._memo[id(schema)] = Node(schema, self._memo, inherits_unknown=inherits)
        return found

    def child(self, name: str) -> "Node | None":
        """What a map has under a name; None when the schema knows no such field."""
        found = self._children.get(name)
        if found is None and self._schema is not None:
            schema = self._schema.properties.get(name)
            if schema is not None:
                found = self._children[name] = self._node(schema, self._schema.preserve_unknown)
        return found or self._extra

    def know(self, name: str, child: "Node") -> None:
        """Say what a field is, whatever the schema says of it."""
        self._children[name] = child
        self._known = (*self._known, name)

    def declares(self, name: str) -> bool:
        """Whether a map has the field by name, and not just as any entry."""
        return name in self._known or (self._schema is not None and name in self._schema.properties)

    @property
    def element(self) -> "Node":
        """What a list's items are."""
        if self._element is None:
            items = self._schema.items if self._schema is not None else None
            self._element = self._node(items) if items is not None else ANYTHING_WHOLE
        return self._element

    def item(self, value: Json) -> str:
        """The path element of a list's item. Raises TypedError when it cannot be told apart from others."""
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
        keys = self.keys
        if len(keys) == 1 and type(value.get(keys[0])) is str:
            return named_element(keys[0], value[keys[0]])
        found = {key: value[key] for key in keys if key in value}
        if len(found) < len(keys):
            found = self._defaulted_keys(found)
        return key_element(found)

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
        """A list's items by their path elements; several under one when there are duplicates. Raises TypedError."""
        found: dict[str, list[Json]] = {}
        for number, value in enumerate(values):
            try:
                found.setdefault(self.item(value), []).append(value)
            except TypedError as error:
                raise TypedError(f"element {number}: {error}") from None
        return found

    def _named(self, values: list[Json]) -> dict[str, Json] | None:
        """A list's items by their path elements, if each is known by one key that holds a text of its own."""
        if not self.keyed or len(self.keys) != 1:
            return None
        key, found = self.keys[0], {}
        for value in values:
            name = value.get(key) if value.__class__ is dict else None
            if name.__class__ is not str:
                return None
            found[named_element(key, name)] = value
        return found if len(found) == len(values) else None

    @property
    def associative(self) -> bool:
        """Whether a list's items are owned one by one."""
        return self.keyed or self.is_set

    def members(self, value: Json) -> FieldSet:
        """Everything in a value, the value included, as it is owned by who brings it as a whole."""
        if type(value) is dict:
            if not value or not self.granular or self.atom not in (MAP, ""):
                return {}
            result: FieldSet = {SELF: {}}
            children = self._children
            for name in sorted(value):
                inner = value[name]
                if type(inner) is not dict and type(inner) is not list:
                    result[f"f:{name}"] = {}
                    continue
                child = children.get(name) or self.child(name) or ANYTHING
                result[f"f:{name}"] = child.members(inner)
            return result
        if type(value) is list and value and (self.keyed or self.is_set):
            element = self.element
            found = {item: element.members(alike[0]) if len(alike) == 1 else {} for item, alike in self.items(value).items()}
            return ordered({SELF: {}, **found})
        return {}

    def difference(self, old: Json, new: Json) -> Difference:
        """What has to change for ``old`` to become ``new``; the two differ. Raises TypedError."""
        before, after = self.atom_of(old), self.atom_of(new)
        if before != after:
            removed = self.members(old) if before == MAP and old else None
            added = self.members(new) if after == MAP and new else None
            return Difference(_below(removed), {}, _below(added))
        if not (old or new):
            return CHANGED
        if after == MAP and self.granular:
            return self._map_difference(_of_type(dict, old), _of_type(dict, new))
        if after == LIST and self.associative:
            return self._list_difference(_of_type(list, old), _of_type(list, new))
        return CHANGED

    def atom_of(self, value: Json) -> str:
        """Which of the three a value is taken for here."""
        if self.atom:
            return self.atom
        if isinstance(value, dict):
            return MAP
        return LIST if isinstance(value, list) else SCALAR if value is not None else MAP

    def whole_field(self, name: str, value: Json) -> FieldSet:
        """``members`` of one field of a map."""
        return (self.child(name) or ANYTHING).members(value)

    def field_difference(self, name: str, old: Json, new: Json) -> Difference:
        """``difference`` of one field of a map; nothing when the two are equal. Raises TypedError."""
        return NO_DIFFERENCE if same(old, new) else (self.child(name) or ANYTHING).difference(old, new)

    def _map_difference(self, old: dict[str, Json], new: dict[str, Json]) -> Difference:
        removed: FieldSet = {}
        modified: FieldSet = {}
        added: FieldSet = {}
        for name, value in new.items():
            if name in old:
                known = old[name]
                if known is value or (known == value and (value.__class__ is str or equals_are_same(known, value))):
                    continue
                child = self._children.get(name) or self.child(name) or ANYTHING
                if value.__class__ in LEAVES and known.__class__ in LEAVES and child.atom in ("", SCALAR):
                    modified[f"f:{name}"] = {}
                else:
                    collect(f"f:{name}", child.difference(known, value), removed, modified, added)
            elif type(value) is dict or type(value) is list:
                added[f"f:{name}"] = (self.child(name) or ANYTHING).members(value)
            else:
                added[f"f:{name}"] = {}
        for name, value in old.items():
            if name not in new:
                removed[f"f:{name}"] = (self.child(name) or ANYTHING).members(value)
        return _sorted_difference(removed, modified, added)

    def _list_difference(self, old: list[Json], new: list[Json]) -> Difference:
        """Objects that live side by side share their lists, so the latest differences are remembered with what they are of."""
        pair = id(old), id(new)
        found = self._differences.get(pair)
        if found is None:
            found = old, new, self._list_difference_of(old, new)
            remember(self._differences, pair, found, DIFFERENCES_KEPT)
        return found[2]

    def _list_difference_of(self, old: list[Json], new: list[Json]) -> Difference:
        removed: FieldSet = {}
        modified: FieldSet = {}
        added: FieldSet = {}
        element = self.element
        if (there := self._named(old)) is not None and (wanted := self._named(new)) is not None:
            for item, value in wanted.items():
                if item not in there:
                    added[item] = element.members(value)
                elif not same(known := there[item], value):
                    collect(item, element.difference(known, value), removed, modified, added)
            removed |= {item: element.members(value) for item, value in there.items() if item not in wanted}
            return _sorted_difference(removed, modified, added)
        before, after = self.items(old), self.items(new)
        for item in [*before, *(item for item in after if item not in before)]:
            left, right = before.get(item, []), after.get(item, [])
            if same(left, right):
                continue
            if len(left) == len(right) == 1:
                collect(item, element.difference(left[0], right[0]), removed, modified, added)
            elif len(left) > 1 and len(right) > 1:
                modified[item] = {}
            else:
                # Duplicates are one indivisible thing; a single item next to nothing, or to them, is itself.
                if left:
                    removed[item] = element.members(left[0]) if len(left) == 1 else {}
                if right:
                    added[item] = element.members(right[0]) if len(right) == 1 else {}
        return _sorted_difference(removed, modified, added)

    def to_set(self, value: Json) -> FieldSet:
        """What an applied configuration speaks of: leaves and items, not the maps on the way. Never raises TypedError
        for a value that ``check`` has passed.
        """
        result: FieldSet = {}
        if isinstance(value, dict) and self.granular:
            for name in sorted(value):
                inner = value[name]
                if type(inner) is not dict and type(inner) is not list:
                    result[f"f:{name}"] = {}
                    continue
                below = (self.child(name) or ANYTHING).part(inner, declared=self.declares(name))
                if below is not None:
                    result[f"f:{name}"] = below
        elif isinstance(value, list) and self.associative:
            for item, alike in self.items(value).items():
                owned = self.element.part(alike[0], declared=False) if len(alike) == 1 else {}
                result[item] = {} if owned is None else owned
            result = ordered(result)
        return result

    def part(self, value: Json, *, declared: bool) -> FieldSet | None:
        """The dict below an element that holds ``value``; None when there is nothing to own."""
        kind = self.atom_of(value)
        if kind == SCALAR or (kind == MAP and not self.granular) or (kind == LIST and not self.associative):
            return {}
        below = self.to_set(value)
        member = not declared or value is None or value == {}
        if not below:
            return {} if member else None
        return {SELF: {}, **below} if member else below


def root_node(schema: Schema | None, metadata: Schema | None = None) -> Node:
    """The node of a whole object; ``metadata`` for custom resources, whose schemas say little of it."""
    memo: dict[int, Node] = {}
    root = Node(schema, memo)
    if metadata is not None:
        root.know("metadata", Node(metadata, memo))
        for name in ("apiVersion", "kind"):
            root.know(name, Node(Schema({"type": "string"}, no_reference), memo))
    return root


def _of_type(kind: type[Any], value: Json) -> Any:
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypedError(f"expected {'map' if kind is dict else 'list'}, got {value}")
    return value


def _below(whole: FieldSet | None) -> FieldSet | None:
    """What lies below an element that is no member itself."""
    if not whole:
        return None
    return {element: below for element, below in whole.items() if element != SELF}


def collect(element: str, inner: Difference, removed: FieldSet, modified: FieldSet, added: FieldSet) -> None:
    """Hang what changed below one element into the sets of the level above."""
    if inner.removed is not None:
        removed[element] = inner.removed
    if inner.modified is not None:
        modified[element] = inner.modified
    if inner.added is not None:
        added[element] = inner.added


def _sorted_difference(removed: FieldSet, modified: FieldSet, added: FieldSet) -> Difference:
    gone = ordered(removed) if removed else None
    other = ordered(modified) if modified else None
    return Difference(gone, other, ordered(added) if added else None)


def _default_of(struct: GoStruct, key: str, kind: str) -> Json:
    """What a key has that is not given: what Go's zero value is, where Go always prints the field, or a default by name."""
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
