"""How the leaves of a body are read: one small class for each Go type that has its own way with
JSON.

Every shape has two paths. ``acceptor`` gives a function that says in a few nanoseconds whether a
value already is what Go would print; ``read`` takes any value, notes what is wrong with it and
gives what Go would print. Upstream: the UnmarshalJSON and MarshalJSON methods of metav1.Time,
resource.Quantity, intstr.IntOrString and others.
"""

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import Decimal

from fakekube.apimachinery import quantity, times
from fakekube.apimachinery.gojson import type_name
from fakekube.apimachinery.types import Json
from fakekube.schema.walk import DecodeError, Walk
from fakekube.util.memory import memoized

Acceptor = Callable[[Json], bool]
ChangeAcceptor = Callable[[Json, Json], bool]
"""As an Acceptor, for a value and the one that stood in its place before: what both share is not
looked at, nor changed.
"""

_ZERO_TIME_SECONDS = -62135596800.0  # 0001-01-01T00:00:00Z, which Go takes for "not set"
_INT64 = 1 << 63
_EXACT = 1 << 53  # floats below hold every whole number
_INTEGER_BITS = {
    "int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
    "uint": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
}  # fmt: skip


class Shape(ABC):
    """How one Go type is read and printed. ``go_type`` is its name in complaints."""

    omittable = True
    """Whether omitempty leaves the zero value out: true of scalars, lists and maps, false of
    structs.
    """

    def __init__(self, go_type: str) -> None:
        self.go_type = go_type

    @abstractmethod
    def acceptor(self, *, nonzero: bool) -> Acceptor:
        """A test for values that stay as they are; ``nonzero`` when a zero value would not be
        printed.
        """

    def change_acceptor(self, *, nonzero: bool) -> ChangeAcceptor:
        """The same test for what a patch made of a value that passed it before."""
        accept = self.acceptor(nonzero=nonzero)
        return lambda value, _: accept(value)

    @abstractmethod
    def read(self, value: Json, walk: Walk) -> Json:
        """What Go prints for a value that is not null.

        Raises DecodeError where Go gives up at once.
        """

    def zero(self) -> Json:
        """What Go prints when nothing was given; a new object each time."""
        return None


def any_text(value: Json) -> bool:
    """The acceptor of texts; those who test many values know it by identity and spare the call."""
    return value.__class__ is str


def filled_text(value: Json) -> bool:
    """The acceptor of texts that are left out when empty."""
    return value.__class__ is str and value != ""


class Text(Shape):
    """A string, or a named string type."""

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        return filled_text if nonzero else any_text

    def read(self, value: Json, walk: Walk) -> Json:
        if isinstance(value, str):
            return value
        walk.mismatch(walk.type_name(value), self.go_type)
        return ""

    def zero(self) -> Json:
        return ""


class Flag(Shape):
    """A bool."""

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        if nonzero:
            return lambda value: value is True
        return lambda value: value is True or value is False

    def read(self, value: Json, walk: Walk) -> Json:
        if isinstance(value, bool):
            return value
        walk.mismatch(walk.type_name(value), self.go_type)
        return False

    def zero(self) -> Json:
        return False


class Integer(Shape):
    """An integer of some width; JSON numbers with a fraction or an exponent are refused, even when
    whole.
    """

    def __init__(self, go_type: str) -> None:
        super().__init__(go_type)
        bits = _INTEGER_BITS.get(go_type, 64)
        unsigned = go_type.startswith("u")
        self.low = 0 if unsigned else -(1 << (bits - 1))
        self.high = (1 << bits) - 1 if unsigned else (1 << (bits - 1)) - 1

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        low, high = self.low, self.high
        if nonzero:
            return lambda value: value.__class__ is int and low <= value <= high and value != 0
        return lambda value: value.__class__ is int and low <= value <= high

    def read(self, value: Json, walk: Walk) -> Json:
        if value.__class__ is int and self.low <= value <= self.high:
            return value
        if walk.converts and (whole := _converted(value)) is not None:
            return self.low + (whole - self.low) % (self.high - self.low + 1)
        if isinstance(value, int | float) and not isinstance(value, bool):
            walk.mismatch(f"number {walk.number_text(value)}", self.go_type)
        else:
            walk.mismatch(walk.type_name(value), self.go_type)
        return 0

    def zero(self) -> Json:
        return 0


def _converted(value: Json) -> int | None:
    """The 64 bits that the converter makes of a number before it cuts it to the width of its field;
    None for what is no integer.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value) if -_INT64 <= value < _INT64 else -_INT64  # as processors do


class Number(Shape):
    """A float64. Go prints whole ones without a fraction, by the fewest digits that tell them from
    others, then zeros; here those that 64 bits do not hold keep their exponent.
    """

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        return lambda value: value.__class__ is int and (value != 0 or not nonzero) and -_EXACT <= value <= _EXACT

    def read(self, value: Json, walk: Walk) -> Json:
        if isinstance(value, bool) or not isinstance(value, int | float):
            walk.mismatch(walk.type_name(value), self.go_type)
            return 0
        if abs(value) == float("inf"):
            walk.mismatch(f"number {walk.number_text(value)}", self.go_type)
            return 0
        number = float(value)
        if not number.is_integer():
            return number
        whole = int(number) if abs(number) < _EXACT else int(Decimal(repr(number)))
        return whole if -_INT64 <= whole < 2 * _INT64 else number

    def zero(self) -> Json:
        return 0


class Bytes(Shape):
    """A []byte: base64 in JSON. Line breaks in it are dropped."""

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        def accept(value: Json) -> bool:
            if value.__class__ is not str or (nonzero and not value):
                return False
            try:
                # Encoding again tells whether unused bits were set: Go ignores and clears them.
                data = binascii.a2b_base64(value, strict_mode=True)
                return binascii.b2a_base64(data, newline=False).decode() == str(value)
            except ValueError:
                return value == ""

        return accept

    def read(self, value: Json, walk: Walk) -> Json:
        if isinstance(value, list):
            return self._read_numbers(value, walk)
        if not isinstance(value, str):
            walk.mismatch(walk.type_name(value), self.go_type)
            return None
        wrong = corrupt_base64(value)
        if wrong is not None:
            walk.remember(f"illegal base64 data at input byte {wrong}")
            return None
        return base64.b64encode(base64.b64decode(value.replace("\n", "").replace("\r", ""))).decode()

    def _read_numbers(self, value: list[Json], walk: Walk) -> Json:
        octet = Integer("uint8")
        return base64.b64encode(bytes(octet.read(item or 0, walk) for item in value)).decode()


def corrupt_base64(text: str) -> int | None:
    """The offset that Go's base64.StdEncoding complains of, or None when the text is sound."""
    data = text.encode()
    alphabet = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    breaks = b"\r\n"
    at = filled = 0
    while at < len(data):
        byte = data[at]
        at += 1
        if byte in alphabet:
            filled = (filled + 1) % 4
        elif byte in breaks:
            continue
        elif byte != ord("=") or filled < 2:
            return at - 1
        else:
            return _after_padding(data, at, filled)
    return None if filled == 0 else len(data) - filled


def _after_padding(data: bytes, at: int, filled: int) -> int | None:
    """What is wrong after the first ``=`` of a group that holds ``filled`` letters."""
    breaks = b"\r\n"
    if filled == 2:
        while at < len(data) and data[at] in breaks:
            at += 1
        if at == len(data):
            return len(data)
        if data[at] != ord("="):
            return at - 1
        at += 1
    while at < len(data) and data[at] in breaks:
        at += 1
    return at if at < len(data) else None


class Amount(Shape):
    """A resource.Quantity: a text or a number, printed in canonical form."""

    omittable = False

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        return lambda value: value.__class__ is str and quantity.is_canonical(value)

    def read(self, value: Json, walk: Walk) -> Json:
        try:
            if isinstance(value, float):
                return quantity.canonical(walk.number_text(value))
            return quantity.canonical(value)
        except ValueError as error:
            raise DecodeError(str(error)) from None

    def zero(self) -> Json:
        return "0"


@memoized(8192, longest=times.KEPT_CHARACTERS)
def _canonical_time(text: str) -> str | None:
    """A Time as it is written, None for the zero time. Raises ValueError."""
    seconds = times.parse_time(text)
    return None if seconds == _ZERO_TIME_SECONDS else times.format_time(seconds)


@memoized(8192, longest=times.KEPT_CHARACTERS)
def _canonical_micro_time(text: str) -> str | None:
    """A MicroTime as it is written, None for the zero time. Raises ValueError."""
    seconds = times.parse_micro_time(text)
    return None if seconds == _ZERO_TIME_SECONDS else times.format_micro_time(seconds)


class Time(Shape):
    """A metav1.Time: whole seconds, UTC."""

    omittable = False
    _canonical = staticmethod(_canonical_time)

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        canonical = self._canonical

        def accept(value: Json) -> bool:
            try:
                return isinstance(value, str) and canonical(value) == value
            except ValueError:
                return False

        return accept

    def read(self, value: Json, walk: Walk) -> Json:
        if not isinstance(value, str):
            raise DecodeError(walk.mismatch_text(type_name(value), "string"))
        try:
            return self._canonical(value)
        except ValueError as error:
            raise DecodeError(str(error)) from None


class MicroTime(Time):
    """A metav1.MicroTime: six fraction digits, UTC."""

    _canonical = staticmethod(_canonical_micro_time)


class IntOrString(Shape):
    """An intstr.IntOrString. What is no text must be an int32."""

    omittable = False

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        low, high = -(1 << 31), (1 << 31) - 1
        return lambda value: value.__class__ is str or (value.__class__ is int and low <= value <= high)

    def read(self, value: Json, walk: Walk) -> Json:
        if isinstance(value, str):
            return value
        inner = Walk()
        inner.struct, inner.fields = walk.struct, walk.fields
        number = Integer("int32").read(value, inner)
        walk.inexact = walk.inexact or inner.inexact
        if inner.error is not None:
            raise DecodeError(inner.error)
        return number

    def zero(self) -> Json:
        return 0


class Anything(Shape):
    """A runtime.RawExtension, metav1.FieldsV1 or apiextensions JSON: kept as it stands."""

    omittable = False

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        return lambda value: value is not None

    def read(self, value: Json, walk: Walk) -> Json:
        return value
