"""The scalars of the API as Python values, each of which is written back as it was read.

A time reads as an aware datetime and a quantity as a text; both remember what stood in the tree, so
that an offset, the digits of a fraction or a number without quotes come back unchanged. A value
that a program makes has nothing to remember, and is written in upstream's canonical way. Nothing is
coerced: ``"5"`` is no number and ``1`` is no bool.
Upstream: apimachinery/pkg/apis/meta/v1 (Time, MicroTime), api/resource (Quantity), util/intstr
(IntOrString).
"""

from collections.abc import Callable
from copy import deepcopy
from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, PlainSerializer, Strict, WithJsonSchema, WrapValidator

from fakekube.apimachinery import quantity as quantities
from fakekube.apimachinery import times


class WrittenTime(datetime):
    """A time that was read, with the text it was read from. What is computed from it has no text.
    """

    __slots__ = ("text",)

    text: str

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _written_time, (datetime.fromisoformat(self.isoformat()), getattr(self, "text", ""))


class WrittenNumber(str):
    """A quantity that was written as a JSON number: its text, and the number."""

    __slots__ = ("number",)

    number: float

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _written_number, (self.number,)


def _written_time(value: datetime, text: str) -> WrittenTime:
    made = WrittenTime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, value.tzinfo,
    )
    made.text = text
    return made


def _written_number(number: float) -> WrittenNumber:
    made = WrittenNumber(number)
    made.number = number
    return made


def _read_time(value: Any, handler: Callable[[Any], datetime]) -> datetime:
    if isinstance(value, str):
        return _written_time(handler(value), value)
    if isinstance(value, datetime):
        return handler(value) if not isinstance(value, WrittenTime) else value
    raise ValueError("a time is a text, as in 2026-01-01T00:00:00Z, or an aware datetime")


def _read_quantity(value: Any, handler: Callable[[Any], str]) -> str:
    if isinstance(value, WrittenNumber):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _written_number(value)
    return handler(value)


def _write_time(value: datetime) -> str:
    return getattr(value, "text", "") or times.format_time(_seconds(value))


def _write_micro_time(value: datetime) -> str:
    return getattr(value, "text", "") or times.format_micro_time(_seconds(value))


def _seconds(value: datetime) -> float:
    if value.tzinfo is None:
        raise ValueError("a time needs a time zone: datetime(..., tzinfo=UTC)")
    return value.timestamp()


def _write_quantity(value: str) -> Any:
    return value.number if isinstance(value, WrittenNumber) else value


Int = Annotated[int, Strict()]
Bool = Annotated[bool, Strict()]
Number = Int | Annotated[float, Strict()]

Time = Annotated[AwareDatetime, WrapValidator(_read_time), PlainSerializer(_write_time, when_used="json")]
"""Whole seconds when written by us; an aware datetime."""

MicroTime = Annotated[AwareDatetime, WrapValidator(_read_time), PlainSerializer(_write_micro_time, when_used="json")]
"""Microseconds when written by us; an aware datetime."""

# what definitions of custom resources say of a field, as controller-gen writes it
_INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_UNSIGNED = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = _INT_OR_STRING | {
    "pattern": rf"^(\+|-)?{_UNSIGNED}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_UNSIGNED}))?$"}

Quantity = Annotated[
    str, WrapValidator(_read_quantity), PlainSerializer(_write_quantity, when_used="json"), WithJsonSchema(_QUANTITY)]
"""``500m``, ``1Gi``; a text. ``fakekube.types.quantity`` computes with it."""

IntOrString = Annotated[Int | str, WithJsonSchema(_INT_OR_STRING)]
"""``3`` or ``25%``."""

Json = Annotated[Any, BeforeValidator(deepcopy)]
"""Any JSON value, as a copy: a model never shares what it holds with the tree that it was read
from.
"""


def quantity(text: str) -> quantities.Quantity:
    """What a quantity amounts to: ``quantity("500m").milli_value`` is 500.

    Raises QuantityError, a ValueError.
    """
    return quantities.parse(text)
