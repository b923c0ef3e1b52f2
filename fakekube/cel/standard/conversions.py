"""Conversions between types, as ``int('1')`` and ``string(1.5)``.

Upstream: ConvertToType of common/types, and Go's strconv.
"""

import math
import re
from typing import Any

from fakekube.cel import types, values
from fakekube.cel.errors import EvaluationError

_INT = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT = re.compile(r"[0-9]+", re.ASCII)
_DOUBLE = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_HEX_DOUBLE = re.compile(r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+", re.ASCII | re.IGNORECASE)
_SEPARATOR = re.compile(r"(?<=[0-9])_(?=[0-9])", re.ASCII)
_HEX_SEPARATOR = re.compile(r"(?<=[0-9a-fx])_(?=[0-9a-f])", re.ASCII | re.IGNORECASE)
"""Between digits, and behind the ``0x``."""
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
_LONGEST_NUMBER = 1000
_EXPONENT_FROM = 6  # from 1e+06 on


def _refused(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def string_to_int(text: str) -> int:
    """The number that the digits mean. Raises EvaluationError."""
    if _INT.fullmatch(text) and len(text) <= _LONGEST_NUMBER:
        number = int(text)
        if values.MIN_INT <= number <= values.MAX_INT:
            return number
    raise _refused("string", "int")


def string_to_uint(text: str) -> values.Uint:
    """The number that the digits mean. Raises EvaluationError."""
    if _UINT.fullmatch(text) and len(text) <= _LONGEST_NUMBER:
        number = int(text)
        if number <= values.MAX_UINT:
            return values.Uint(number)
    raise _refused("string", "uint")


def string_to_double(text: str) -> float:
    """The number that the text means. Raises EvaluationError."""
    if _DOUBLE.fullmatch(decimal := _SEPARATOR.sub("", text)):
        number = float(decimal)
    elif _HEX_DOUBLE.fullmatch(hexadecimal := _HEX_SEPARATOR.sub("", text)):
        try:
            number = float.fromhex(hexadecimal)
        except OverflowError:
            raise _refused("string", "double") from None
    else:
        raise _refused("string", "double")
    if math.isinf(number) and "n" not in text.lower():
        raise _refused("string", "double")
    return number


def string_to_bool(text: str) -> bool:
    """What ``true``, ``t``, ``1`` and their likes mean. Raises EvaluationError."""
    if text not in _BOOLS:
        raise _refused("string", "bool")
    return _BOOLS[text]


def string_to_bytes(text: str) -> bytes:
    """The text in UTF-8."""
    return text.encode(errors="surrogatepass")


def bytes_to_string(raw: bytes) -> str:
    """The text that the bytes mean in UTF-8. Raises EvaluationError."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_to_string(number: float) -> str:
    """The shortest text that means the number, as Go's ``%g``."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    if number == 0:
        return sign + "0"
    shortest = repr(abs(number))
    digits, point = _digits(shortest)
    exponent = point - 1
    if exponent < -4 or exponent >= _EXPONENT_FROM:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _digits(shortest: str) -> tuple[str, int]:
    """The digits of a positive number, and where its point stands among them."""
    mantissa, _, exponent = shortest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point = len(whole) - (len(digits) - len(stripped)) + int(exponent or "0")
    return stripped.rstrip("0") or "0", point


def int_to_timestamp(seconds: int) -> values.Timestamp:
    """The point in time so many seconds after 1970. Raises EvaluationError."""
    return values.checked_timestamp(seconds * values.NANOSECONDS)


def timestamp_to_int(moment: values.Timestamp) -> int:
    """The seconds since 1970."""
    return moment.nanoseconds // values.NANOSECONDS


def to_type(value: Any) -> types.Type:
    """The type of a value at run time."""
    return values.type_of(value)


def key_text(key: Any) -> str:
    """How errors show the key of a map."""
    if key.__class__ is bool:
        return "true" if key else "false"
    return double_to_string(key) if key.__class__ is float else str(key)
