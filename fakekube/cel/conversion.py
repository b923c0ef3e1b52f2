"""From what a tree holds to what CEL says it is: times, bytes, doubles, lists whose order is free.

Upstream: UnstructuredToVal of apiserver/pkg/cel/common/valuesunstructured.go, and the formats of
kube-openapi's strfmt.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from fakekube.apimachinery import strfmt
from fakekube.cel import values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.standard import times

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_LOCAL_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?", re.ASCII)
Convert = Callable[[Any], Any]


def double(value: Any) -> Any:
    """A number as a double, whether it was written with a fraction or not."""
    return float(value) if value.__class__ is int else value


def byte(value: Any) -> Any:
    """The bytes that a text means in base64. Raises EvaluationError."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError(f"Invalid byte formatted string {value}: illegal base64 data") from None


def duration(value: Any) -> Any:
    """The Duration of a text: Go's, or numbers with units such as ``3 days``."""
    if not isinstance(value, str):
        return value
    found = strfmt.duration(value)
    if found is None:
        raise EvaluationError(f"Invalid duration {value}: unable to parse {value} as duration")
    return values.Duration(found)


def date(value: Any) -> Any:
    """The Timestamp of the day's start. Raises EvaluationError."""
    if not isinstance(value, str):
        return value
    found = times.timestamp(f"{value}T00:00:00Z") if _DATE.fullmatch(value) else None
    if found is None:
        raise EvaluationError(f"Invalid date formatted string {value}: parsing time")
    return found


def date_time(value: Any) -> Any:
    """The Timestamp of a text. Raises EvaluationError."""
    if not isinstance(value, str):
        return value
    if not value:
        return values.Timestamp(0)
    found = times.timestamp(f"{value}Z" if _LOCAL_TIME.fullmatch(value) else value)
    if found is None:
        raise EvaluationError(f"Invalid date-time formatted string {value}: parsing time")
    return found


def list_of(list_type: str, keys: tuple[str, ...], element: Convert | None) -> Convert | None:
    """How a list is converted; None if it stays as it is."""
    if list_type == "set":
        return lambda value: values.SetList(_each(value, element)) if isinstance(value, list) else value
    if list_type == "map":
        return lambda value: values.MapList(_each(value, element), keys) if isinstance(value, list) else value
    if element is None:
        return None
    return lambda value: _each(value, element) if isinstance(value, list) else value


def _each(value: list[Any], element: Convert | None) -> list[Any]:
    return value if element is None else [element(item) for item in value]


def map_of(element: Convert | None) -> Convert | None:
    """How a map is converted; None if it stays as it is."""
    if element is None:
        return None
    return lambda value: {key: element(item) for key, item in value.items()} if isinstance(value, dict) else value


def object_of(fields: Mapping[str, Convert]) -> Convert | None:
    """How an object is converted; None if it stays as it is."""
    if not fields:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        changed = {key: made(value[key]) for key, made in fields.items() if key in value}
        return {**value, **changed} if changed else value

    return convert
