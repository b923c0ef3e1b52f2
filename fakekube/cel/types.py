"""The types of CEL expressions.

A type is a value that compares by kind, name and parameters. Two types of objects are equal if
their names are: their fields may lead back to themselves.

Upstream: cel-go's common/types/types.go and checker/format.go.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Kind(enum.Enum):
    """What sort of type it is; parameters and names tell types of one kind apart."""

    ANY = enum.auto()
    BOOL = enum.auto()
    BYTES = enum.auto()
    DOUBLE = enum.auto()
    DURATION = enum.auto()
    DYN = enum.auto()
    ERROR = enum.auto()
    INT = enum.auto()
    LIST = enum.auto()
    MAP = enum.auto()
    NULL = enum.auto()
    OPAQUE = enum.auto()
    STRING = enum.auto()
    STRUCT = enum.auto()
    TIMESTAMP = enum.auto()
    TYPE = enum.auto()
    TYPE_PARAMETER = enum.auto()
    UINT = enum.auto()

    __hash__ = object.__hash__  # that of Enum is Python, and kinds are looked up all the time


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its kind, its name at run time, its parameters.

    ``wrapper`` marks a scalar type that also holds null.
    """

    kind: Kind
    name: str
    parameters: tuple["Type", ...] = ()
    wrapper: bool = False

    def __str__(self) -> str:
        return display(self)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object: its type, and under which key the tree holds it."""

    type: Type
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType(Type):
    """The type of objects with named fields; values are dicts.

    ``fields`` maps the names that expressions use to fields; it may be a mapping that makes them
    when they are asked for. ``known`` says that the type check may look a field up by name at all.
    ``absent_nulls`` says that a field that is null counts as one that is not there.
    """

    fields: Mapping[str, Field] = field(default_factory=dict, repr=False)
    known: bool = True
    absent_nulls: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


ANY = Type(Kind.ANY, "google.protobuf.Any")
BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "error")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE = Type(Kind.TYPE, "type")
UINT = Type(Kind.UINT, "uint")

_PLAIN_NAMES = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}


def list_of(element: Type) -> Type:
    """The type of lists of such elements."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of maps from such keys to such values."""
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of optionals of such values."""
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of_type(value: Type) -> Type:
    """The type of a type, for example of the identifier ``int``."""
    return Type(Kind.TYPE, "type", (value,))


def parameter(name: str) -> Type:
    """A type parameter, for example ``T`` in the declaration of a function."""
    return Type(Kind.TYPE_PARAMETER, name)


def opaque(name: str, *parameters: Type) -> Type:
    """An abstract type such as quantities: it has functions, and no fields."""
    return Type(Kind.OPAQUE, name, parameters)


def object_type(name: str, fields: Mapping[str, Type | Field]) -> ObjectType:
    """The type of objects with these fields, each under its own name unless a Field says else.

    Without fields it is one of which expressions can select nothing, such as a quantity.
    """
    declared = {key: value if isinstance(value, Field) else Field(value, key) for key, value in fields.items()}
    return ObjectType(Kind.STRUCT, name, fields=declared, known=bool(declared))


LIST = list_of(DYN)
MAP = map_of(DYN, DYN)


def is_optional(candidate: Type) -> bool:
    """Whether it is an optional of something."""
    return candidate.kind is Kind.OPAQUE and candidate.name == "optional_type"


def is_dyn(candidate: Type) -> bool:
    """Whether nothing is known of the value before run time."""
    return candidate.kind is Kind.DYN or candidate.kind is Kind.ANY


def display(shown: Type) -> str:
    """The type as errors of the type check name it: ``map(string, list(int))``."""
    plain = _PLAIN_NAMES.get(shown.kind)
    if plain is not None:
        return plain
    if shown.wrapper:
        return f"wrapper({shown.name})"
    if not shown.parameters:
        return shown.name
    return f"{shown.name}({', '.join(display(parameter) for parameter in shown.parameters)})"


def type_parameters(*of: Type) -> tuple[str, ...]:
    """The names of the type parameters in these types, each once, in order of appearance."""
    found: dict[str, None] = {}
    pending = list(reversed(of))
    while pending:
        current = pending.pop()
        if current.kind is Kind.TYPE_PARAMETER:
            found[current.name] = None
        pending.extend(reversed(current.parameters))
    return tuple(found)


