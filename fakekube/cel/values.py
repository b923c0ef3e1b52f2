"""The values of CEL expressions, as Python holds them.

========== ==================================================
CEL        Python
========== ==================================================
null       None
bool       bool
int        int, always within 64 bits
uint       Uint
double     float
string     str
bytes      bytes
list       list, tuple, or SetList and MapList of a schema
map        dict; a bool among the keys is a BoolKey
object     dict
duration   Duration
timestamp  Timestamp
optional   OptionalValue
type       fakekube.cel.types.Type
abstract   any class with an attribute ``cel_type``
error      raised, as EvaluationError
========== ==================================================

Upstream: cel-go's common/types.
"""

import datetime as dt
import enum
import math
from dataclasses import dataclass, field
from typing import Any

from fakekube.cel import errors, types

MIN_INT, MAX_INT = -(2**63), 2**63 - 1
MAX_UINT = 2**64 - 1
NANOSECONDS = 10**9
MIN_SECONDS, MAX_SECONDS = -62135596800, 253402300799

Value = Any


class Uint(int):
    """An unsigned number."""

    __slots__ = ()


class BoolKey(enum.Enum):
    """A bool as the key of a dict, where Python could not tell it from 0 and 1."""

    FALSE = False
    TRUE = True


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds, within 64 bits."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, in nanoseconds since 1970-01-01T00:00:00Z, between the years 1 and 9999.

    ``offset_seconds`` is that of the time zone in which it was written; only its text shows it.
    """

    nanoseconds: int
    offset_seconds: int = field(default=0, compare=False)

    def datetime(self) -> dt.datetime:
        """The same point in Python's own type, cut to microseconds, in UTC."""
        seconds, rest = divmod(self.nanoseconds, NANOSECONDS)
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds, microseconds=rest // 1000)


@dataclass(frozen=True, slots=True, eq=False)
class OptionalValue:
    """A value, or none: ``present`` tells which."""

    value: Value = None
    present: bool = True


NONE = OptionalValue(None, present=False)


class SetList(list[Value]):
    """A list whose order does not count (``x-kubernetes-list-type: set``)."""

    __slots__ = ()


class MapList(list[Value]):
    """A list of objects told apart by keys (``x-kubernetes-list-type: map``)."""

    __slots__ = ("keys",)

    def __init__(self, elements: list[Value], keys: tuple[str, ...]) -> None:
        super().__init__(elements)
        self.keys = keys


_TYPES: dict[type, types.Type] = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
    list: types.LIST,
    tuple: types.LIST,
    SetList: types.LIST,
    MapList: types.LIST,
    dict: types.MAP,
    Duration: types.DURATION,
    Timestamp: types.TIMESTAMP,
    OptionalValue: types.optional_of(types.DYN),
    types.Type: types.TYPE,
    types.ObjectType: types.TYPE,
}
_NUMBERS = frozenset({int, Uint, float})
_LISTS = frozenset({list, tuple, SetList, MapList})
_SIZED = frozenset({str, bytes, dict, *_LISTS})
_PLAIN = frozenset({str, bytes, bool, type(None), Duration, Timestamp, int, Uint})


def type_of(value: Value) -> types.Type:
    """The type of a value at run time. Raises EvaluationError for what is no CEL value."""
    found = _TYPES.get(value.__class__)
    if found is None:
        found = getattr(value, "cel_type", None)
        if not isinstance(found, types.Type):
            raise errors.EvaluationError(f"unsupported conversion to ref.Val: ({value.__class__.__name__}){value!r}"[:200])
    return found


_GO_TYPES: dict[type, str] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    OptionalValue: "*types.Optional",
    types.Type: "*types.Type",
    types.ObjectType: "*types.Type",
    list: "*types.baseList",
    dict: "*types.baseMap",
}


def go_type(value: Value) -> str:
    """What Go calls the type that holds such a value; a few errors quote it."""
    return _GO_TYPES.get(value.__class__) or f"cel.{value.__class__.__name__}"


def matches(value: Value, declared: types.Type) -> bool:
    """Whether the value may be an argument of this type; the first entry of a list or map tells."""
    if declared.kind is types.Kind.DYN or declared.kind is types.Kind.TYPE_PARAMETER or declared.kind is types.Kind.ANY:
        return True
    actual = type_of(value)
    if declared.kind is types.Kind.STRUCT:
        return actual.name == declared.name or (actual.kind is types.Kind.MAP and getattr(declared, "known", True))
    if actual.kind is not declared.kind:
        return False
    if actual.kind is types.Kind.LIST:
        return not value or matches(value[0], declared.parameters[0])
    if actual.kind is types.Kind.MAP:
        key, element = next(iter(value.items()), (None, None))
        return not value or all(map(matches, (key_value(key), element), declared.parameters))
    return actual.kind is not types.Kind.OPAQUE or actual.name == declared.name


def checked_int(number: int) -> int:
    """The number, if 64 bits hold it. Raises EvaluationError otherwise."""
    if MIN_INT <= number <= MAX_INT:
        return number
    raise errors.EvaluationError("integer overflow")


def checked_uint(number: int) -> Uint:
    """The number as a Uint, if 64 bits hold it. Raises EvaluationError otherwise."""
    if 0 <= number <= MAX_UINT:
        return Uint(number)
    raise errors.EvaluationError("unsigned integer overflow")


def checked_duration(nanoseconds: int) -> Duration:
    """The Duration of so many nanoseconds. Raises EvaluationError beyond 64 bits."""
    if MIN_INT <= nanoseconds <= MAX_INT:
        return Duration(nanoseconds)
    raise errors.EvaluationError("integer overflow")


def checked_timestamp(nanoseconds: int, offset_seconds: int = 0) -> Timestamp:
    """The Timestamp so long after 1970. Raises EvaluationError beyond the years 1 to 9999."""
    if MIN_SECONDS <= nanoseconds // NANOSECONDS <= MAX_SECONDS:
        return Timestamp(nanoseconds, offset_seconds)
    raise errors.EvaluationError("timestamp overflow")


def map_key(value: Value) -> Value:
    """The key under which a dict holds what belongs to this CEL key."""
    return BoolKey(value) if value.__class__ is bool else value


def key_value(key: Value) -> Value:
    """The CEL key that stands behind the key of a dict."""
    return key.value if key.__class__ is BoolKey else key


def size(value: Value) -> int:
    """The size of a string in code points, of bytes, of a list or a map; 1 for everything else.

    An optional has the size of its value. The unit of costs.
    """
    kind: Any = value.__class__
    if kind in _SIZED:
        return len(value)
    if kind is OptionalValue and value.present:
        return size(value.value)
    return 1




def equal_counted(left: Value, right: Value) -> tuple[bool, int]:
    """Whether two values are equal, and how many parts of the left one had to be looked at."""
    pending = [(left, right)]
    seen = 0
    while pending:
        one, other = pending.pop()
        seen += 1
        kind: Any = one.__class__
        against: Any = other.__class__
        if kind in _LISTS and kind is not SetList and kind is not MapList:
            if against not in _LISTS or len(one) != len(other):
                return False, seen
            seen += len(one)
            pending.extend(zip(one, other, strict=True))
        elif kind is dict:
            if against is not dict or len(one) != len(other):
                return False, seen
            seen += len(one)
            for key, value in one.items():
                if key not in other:
                    return False, seen
                pending.append((value, other[key]))
        else:
            seen += len(one) if kind in _LISTS else 0
            if not equal(one, other) and not is_incomparable(one, other):
                return False, seen
    return True, seen


def is_incomparable(left: Value, right: Value) -> bool:
    """Whether it is an error to compare the two: the first is abstract, and the second of another
    type. Of two elements of lists or maps that only means that they do not differ, as upstream has
    it.
    """
    kind: Any = left.__class__
    if kind is OptionalValue:
        if right.__class__ is not OptionalValue or not left.present or not right.present:
            return False
        return is_incomparable(left.value, right.value) or (right.value is None and _is_abstract(left.value))
    return kind is not right.__class__ and right is not None and _is_abstract(left)


def _is_abstract(value: Value) -> bool:
    declared = None if value.__class__ in _TYPES else getattr(value, "cel_type", None)
    return declared is not None and declared.kind in (types.Kind.OPAQUE, types.Kind.STRUCT)


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal: numbers across their types, lists and maps by elements."""
    kind: Any = left.__class__
    other: Any = right.__class__
    if kind is other and kind in _PLAIN:
        return bool(left == right)
    if kind in _NUMBERS:
        return other in _NUMBERS and compare_numbers(left, right) == 0
    if kind in _LISTS:
        return other in _LISTS and _equal_lists(left, right)
    if kind is dict:
        return other is dict and _equal_maps(left, right)
    if kind is OptionalValue:
        return (
            other is OptionalValue and left.present == right.present and (not left.present or equal(left.value, right.value))
        )
    if isinstance(left, types.Type):
        return isinstance(right, types.Type) and left.name == right.name
    return bool(kind is other and left == right)


def _equal_lists(left: list[Value], right: list[Value]) -> bool:
    if len(left) != len(right):
        return False
    if left.__class__ is SetList or left.__class__ is MapList:
        return _equal_unordered(left, right)
    return all(map(_do_not_differ, left, right))


def _do_not_differ(left: Value, right: Value) -> bool:
    return equal(left, right) or is_incomparable(left, right)


def _equal_unordered(left: list[Value], right: list[Value]) -> bool:
    """Whether each element of one list is found in the other: by its digest, then by comparison."""
    found: dict[Value, list[Value]] = {}
    for element in right:
        found.setdefault(digest(element), []).append(element)
    return all(any(equal(element, candidate) for candidate in found.get(digest(element), ())) for element in left)


def digest(value: Value) -> Value:
    """Something hashable that is the same for equal values, so that few need comparison."""
    kind: Any = value.__class__
    if kind in _NUMBERS:
        return float(value) if math.isfinite(value) else ("double", str(value))
    if kind is bool:
        return BoolKey(value)
    if kind in _LISTS:
        return ("list", len(value))
    if kind is dict:
        return ("map", len(value), *(digest(value[key]) for key in sorted(map(str, value)) if key in value))
    return value if kind in _PLAIN else kind


def _equal_maps(left: dict[Value, Value], right: dict[Value, Value]) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.items():
        other = right.get(key, right)
        if other is right or not _do_not_differ(value, other):
            return False
    return True


def compare_numbers(left: Any, right: Any) -> int:
    """-1, 0 or 1 as the numbers are ordered; 2 if one of them is no number.

    An int and a double are compared as doubles, as cel-go does.
    """
    if left.__class__ is float or right.__class__ is float:
        if left != left or right != right:
            return 2
        left, right = float(left), float(right)
    return int(left > right) - int(left < right)
