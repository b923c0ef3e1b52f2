"""Values as Go takes and prints them. Upstream: Go's fmt and strconv, go-openapi/swag/conv."""

import math

from fakekube.apimachinery.field_errors import Verbatim, go_json
from fakekube.apimachinery.gotext import float_text
from fakekube.apimachinery.types import Json

MAX_SAFE = float((1 << 53) - 1)
MAX_FLOAT32 = 3.4028235677973366e38  # half a step beyond the largest, which rounds down to it
EPSILON = 1e-9


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


def as_shown(value: Json) -> Json:
    """A value for an error to print: floats as ``%v`` does, objects with their keys sorted."""
    if isinstance(value, float):
        return Verbatim(float_text(value))
    if isinstance(value, dict | list):
        return Verbatim(go_json(value, sort_keys=True))
    return value
