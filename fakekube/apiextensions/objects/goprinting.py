"""Values as Go takes and prints them. Upstream: Go's fmt and strconv, go-openapi/swag/conv."""

import math

from fakekube.apimachinery.field_errors import Verbatim, go_json
from fakekube.apimachinery.types import Json

MAX_SAFE = float((1 << 53) - 1)
MAX_FLOAT32 = 3.4028235677973366e38  # half a step beyond the largest, which rounds down to it
EPSILON = 1e-9
_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4


def is_whole(value: Json) -> bool:
    """Whether a float is as good as an integer that JavaScript could hold."""
    number = float(value)
    if not abs(number) <= MAX_SAFE:
        return False
    nearest = math.floor(abs(number) + 0.5)
    return abs(abs(number) - nearest) < EPSILON * nearest or abs(number) == nearest


def fits_float32(value: float) -> bool:
    """Whether 32 bits hold the number, if not exactly."""
    return abs(value) < MAX_FLOAT32


def show_float(value: float) -> str:
    """A number as ``%v`` prints it: 10.5, 1e+06."""
    if isinstance(value, int):
        return str(value)
    digits = repr(abs(value)).lower()
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    figures = (whole + fraction).lstrip("0")
    if not figures:
        return "0"
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(figures))
    figures = figures.rstrip("0")
    sign = "-" if value < 0 else ""
    if not _EXPONENT_BELOW <= point - 1 < _EXPONENT_FROM:
        tail = f".{figures[1:]}" if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{tail}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    whole, fraction = figures[:point].ljust(point, "0"), figures[point:]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def as_shown(value: Json) -> Json:
    """A value for an error to print: floats as ``%v`` does, objects with their keys sorted."""
    if isinstance(value, float):
        return Verbatim(show_float(value))
    if isinstance(value, dict | list):
        return Verbatim(go_json(value, sort_keys=True))
    return value
