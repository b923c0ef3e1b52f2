"""Types of what a schema declares: fields, sizes, and how values become those of CEL.

Values stay trees. Where a schema says more than JSON (times, bytes, doubles, sets), ``convert``
makes the value of a tree; where it does not, it is None, and the planner converts nothing.

Upstream: apiserver/pkg/cel/types.go, escaping.go, limits.go, common/schemas.go and
common/valuesunstructured.go.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery.names import MAX_SUBDOMAIN_LENGTH
from fakekube.cel import conversion, types, values
from fakekube.cel.types import Field, ObjectType, Type
from fakekube.schema.structural import Schema, from_openapi

MAX_REQUEST_SIZE = 3 * 1024 * 1024  # bytes
_MAX_DURATION_SIZE = _MAX_DATE_TIME_SIZE = 32
_MIN_DURATION_SIZE, _DATE_SIZE, _MIN_DATE_TIME_SIZE = 3, 12, 21
_MIN_STRING_SIZE, _MIN_BOOL_SIZE, _MIN_NUMBER_SIZE = 2, 4, 1

RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_ESCAPED = re.compile(r"__|[-./]|[^a-zA-Z0-9\-./_]")
_SPELLED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

Convert = Callable[[Any], Any]


class DeclField(NamedTuple):
    """A field: its type, and the name that it has in trees."""

    decl: "DeclType"
    key: str


_NO_FIELDS: Mapping[str, DeclField] = MappingProxyType({})


class DeclType:
    """What a node of a schema declares.

    ``type`` is its type in expressions; ``fields``, ``key`` and ``element`` are what is below.
    ``max_elements`` bounds its size, ``min_size`` is the least number of bytes that its JSON has.
    """

    __slots__ = ("convert", "element", "fields", "key", "max_elements", "min_size", "type")

    def __init__(
        self,
        of: Type,
        min_size: int,
        max_elements: int = 0,
        *,
        fields: Mapping[str, DeclField] = _NO_FIELDS,
        key: "DeclType | None" = None,
        element: "DeclType | None" = None,
        convert: Convert | None = None,
    ) -> None:
        self.type = of
        self.min_size = min_size
        self.max_elements = max_elements
        self.fields = fields
        self.key = key
        self.element = element
        self.convert = convert


def optional_of(decl: DeclType) -> DeclType:
    """What an optional of a declared value is: ``oldSelf`` where there may be none."""
    inner = decl.convert

    def convert(found: Any) -> Any:
        if inner is None or found.__class__ is not values.OptionalValue or found.value is None:
            return found
        return values.OptionalValue(inner(found.value), found.present)

    return DeclType(
        types.optional_of(decl.type), decl.min_size, decl.max_elements,
        fields=decl.fields, key=decl.key, element=decl.element, convert=None if inner is None else convert,
    )  # fmt: skip


def escaped(name: str) -> str | None:
    """The identifier of a property: ``a-b`` is ``a__dash__b``; None if it cannot have any."""
    if not name or (name[0].isascii() and name[0].isdigit()):
        return None
    if name in RESERVED:
        return f"__{name}__"
    if name.isidentifier() and name.isascii() and "__" not in name:
        return name
    parts = [match.group() for match in _ESCAPED.finditer(name)]
    if any(part not in _SPELLED for part in parts):
        return None
    return _ESCAPED.sub(lambda match: _SPELLED[match.group()], name)


class _Inside(NamedTuple):
    """The definitions that a node stands in, and whether names of whole objects end."""

    definitions: tuple[str, ...]
    names_end: bool


def of_schema(schema: Schema, name: str = "selfType", *, root: bool = False, names_end: bool = False) -> DeclType | None:
    """What a schema declares; None if expressions cannot see it.

    ``name`` is that of its type, if it is an object. ``root`` says that a whole object stands here:
    ``apiVersion``, ``kind``, ``metadata.name`` and ``metadata.generateName`` are always known.
    ``names_end`` says that these two are no longer than names may be, as rules of custom resources
    have it since 1.37.
    """
    return _declare(schema, name, root=root, inside=_Inside((), names_end))


def _declare(schema: Schema, name: str, *, root: bool, inside: _Inside) -> DeclType | None:
    if schema.name:
        if schema.name in inside.definitions or schema.name == QUANTITY:  # a definition that holds itself ends here
            return None
        inside = inside._replace(definitions=(*inside.definitions, schema.name))
    if schema.int_or_string:
        return DeclType(types.DYN, 1, _max_length(schema, 4, MAX_REQUEST_SIZE - 2))
    if schema.type == "array":
        return _array(schema, name, inside)
    if schema.type == "object" or root:
        return _object(schema, name, root=root, inside=inside)
    if schema.type == "string":
        return _string(schema)
    if schema.type == "boolean":
        return DeclType(types.BOOL, _MIN_BOOL_SIZE)
    if schema.type == "number":
        return DeclType(types.DOUBLE, _MIN_NUMBER_SIZE, convert=conversion.double)
    if schema.type == "integer":
        return DeclType(types.INT, _MIN_NUMBER_SIZE)
    return None


def _array(schema: Schema, name: str, inside: _Inside) -> DeclType | None:
    if schema.items is None:
        return None
    element = _declare(schema.items, f"{name}.@idx", root=schema.items.embedded, inside=inside)
    if element is None:
        return None
    limit = schema.keywords.get("maxItems")
    most = max(limit, 0) if limit is not None else (MAX_REQUEST_SIZE - 2) // (element.min_size + 1)
    convert = conversion.list_of(schema.list_type, schema.list_map_keys, element.convert)
    return DeclType(types.list_of(element.type), 2, most, element=element, convert=convert)


def _object(schema: Schema, name: str, *, root: bool, inside: _Inside) -> DeclType | None:
    properties = _with_metadata(schema, names_end=inside.names_end) if root else schema.properties
    additional = schema.additional
    if additional is not None and (additional.type or additional.int_or_string or additional.preserve_unknown):
        element = _declare(additional, f"{name}.@elem", root=additional.embedded, inside=inside)
        if element is None:
            return None
        limit = schema.keywords.get("maxProperties")
        most = max(limit, 0) if limit is not None else (MAX_REQUEST_SIZE - 2) // (element.min_size + 6)
        of = types.map_of(types.STRING, element.type)
        return DeclType(of, 2, most, key=_PLAIN_STRING, element=element, convert=conversion.map_of(element.convert))
    fields: dict[str, DeclField] = {}
    size = 2
    converts: dict[str, Convert] = {}
    for key, child in properties.items():
        identifier = escaped(key)
        decl = _declare(child, f"{name}.{identifier or key}", root=child.embedded, inside=inside)
        if decl is None:
            continue
        if identifier is not None:
            fields[identifier] = DeclField(decl, key)
        if key in schema.required and child.default is None:
            size += len(key.encode()) + decl.min_size + 4
        if decl.convert is not None:
            converts[key] = decl.convert
    declared = ObjectType(types.Kind.STRUCT, name, fields=_types_of(fields), absent_nulls=True)
    return DeclType(declared, size, fields=fields, convert=conversion.object_of(converts))


def _types_of(fields: Mapping[str, DeclField]) -> dict[str, Field]:
    """The fields as the type check looks them up; reserved words may be written as they are."""
    found = {name: Field(field.decl.type, field.key) for name, field in fields.items()}
    for field in list(found.values()):
        if field.key in RESERVED:
            found.setdefault(field.key, field)
    return found


def _string(schema: Schema) -> DeclType:
    if schema.format == "byte":
        most = _max_length(schema, 1, MAX_REQUEST_SIZE - 2)
        return DeclType(types.BYTES, _MIN_STRING_SIZE, most, convert=conversion.byte)
    if schema.format == "duration":
        return DeclType(types.DURATION, _MIN_DURATION_SIZE, _MAX_DURATION_SIZE, convert=conversion.duration)
    if schema.format == "date":
        return DeclType(types.TIMESTAMP, _DATE_SIZE, _DATE_SIZE, convert=conversion.date)
    if schema.format == "date-time":
        return DeclType(types.TIMESTAMP, _MIN_DATE_TIME_SIZE, _MAX_DATE_TIME_SIZE, convert=conversion.date_time)
    enum = schema.keywords.get("enum")
    longest = MAX_REQUEST_SIZE - 2
    if enum:
        longest = max((len(value.encode()) for value in enum if isinstance(value, str)), default=0)
    return DeclType(types.STRING, _MIN_STRING_SIZE, _max_length(schema, 4, longest))


def _max_length(schema: Schema, bytes_each: int, otherwise: int) -> int:
    """How long a text may be: ``maxLength`` times the bytes of a character, or without it."""
    limit = schema.keywords.get("maxLength")
    return otherwise if limit is None else max(limit, 0) * bytes_each


QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
"""Upstream's definition of it has alternatives and no type, which no expression sees."""
_PLAIN_STRING = DeclType(types.STRING, _MIN_STRING_SIZE)


def _with_metadata(schema: Schema, *, names_end: bool) -> Mapping[str, Schema]:
    """The properties of a whole object: its own metadata if it says enough of it.

    A name that ends is no longer than names may be, or than its own schema says; what is generated
    for one adds a character at least.
    """
    own = schema.properties
    metadata = own.get("metadata")
    complete = (
        metadata is not None
        and all(name in own and own[name].type == "string" for name in ("apiVersion", "kind"))
        and metadata.type == "object"
        and (schema.is_struct or not metadata.is_struct)
        and all(name in metadata.properties and metadata.properties[name].type == "string" for name in ("name", "generateName"))
    )
    if complete:
        return own
    declared = metadata.properties if metadata is not None else {}
    text: dict[str, Any] = {"type": "string"}
    names: dict[str, Any] = {}
    for name, most in (("name", MAX_SUBDOMAIN_LENGTH), ("generateName", MAX_SUBDOMAIN_LENGTH - 1)):
        limit = declared[name].keywords.get("maxLength", most) if name in declared else most
        names[name] = {**text, "maxLength": min(limit, most)} if names_end else text
    added: dict[str, Any] = {"apiVersion": text, "kind": text, "metadata": {"type": "object", "properties": names}}
    return {**own, **{name: from_openapi(tree) for name, tree in added.items()}}
