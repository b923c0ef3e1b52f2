"""Values and types as Go prints them, for errors and columns. Upstream: fmt, strconv and reflect.
"""

import math

from fakekube.apimachinery.types import Json

_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4


def value_text(value: Json) -> str:
    """A value as ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{value_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(map(value_text, value)) + "]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_text(value) if isinstance(value, float) else str(value)


def string_text(value: Json) -> str:
    """A value as ``%s`` prints it, which is for texts: ``map[a:x b:%!s(int64=1)]``."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{string_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(string_text, value)) + "]"
    if isinstance(value, str):
        return value
    return type_text(value) if value is None else f"%!s({type_text(value)}={value_text(value)})"


def float_text(value: float) -> str:
    """A number as ``%v`` prints it: 10.5, 1e+06."""
    if isinstance(value, int):
        return str(value)
    digits = repr(abs(value))
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    figures = (whole + fraction).lstrip("0")
    sign = "-" if math.copysign(1, value) < 0 else ""
    if not figures:
        return f"{sign}0"
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(figures))
    figures = figures.rstrip("0")
    if not _EXPONENT_BELOW <= point - 1 < _EXPONENT_FROM:
        tail = f".{figures[1:]}" if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{tail}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    whole, fraction = figures[:point].ljust(point, "0"), figures[point:]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def type_text(value: Json) -> str:
    """The type of a decoded JSON value as reflect names it."""
    if value is None:
        return "%!s(<nil>)"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, bool):
        return "bool"
    return {int: "int64", float: "float64"}.get(type(value), "string")
