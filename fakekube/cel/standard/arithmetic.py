"""Numbers: arithmetic within 64 bits, order across types, conversions.

Upstream: common/types/int.go, uint.go, double.go, overflow.go and compare.go.
"""

import math
from typing import Any

from fakekube.cel import values
from fakekube.cel.errors import EvaluationError, no_such_overload
from fakekube.cel.values import MAX_INT, MIN_INT, Duration, Timestamp, Uint


def add_ints(left: int, right: int) -> int:
    """The sum. Raises EvaluationError on overflow."""
    result = left + right
    if MIN_INT <= result <= MAX_INT:
        return result
    raise EvaluationError("integer overflow")


def subtract_ints(left: int, right: int) -> int:
    """The difference. Raises EvaluationError on overflow."""
    return values.checked_int(left - right)


def multiply_ints(left: int, right: int) -> int:
    """The product. Raises EvaluationError on overflow."""
    return values.checked_int(left * right)


def divide_ints(left: int, right: int) -> int:
    """The quotient, cut towards zero. Raises EvaluationError."""
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return values.checked_int(quotient if (left < 0) == (right < 0) else -quotient)


def modulo_ints(left: int, right: int) -> int:
    """What division leaves, with the sign of the dividend. Raises EvaluationError."""
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise EvaluationError("integer overflow")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def negate_int(number: int) -> int:
    """The number with the other sign. Raises EvaluationError on overflow."""
    return values.checked_int(-number)


def add_uints(left: int, right: int) -> Uint:
    """The sum. Raises EvaluationError on overflow."""
    return values.checked_uint(int(left) + right)


def subtract_uints(left: int, right: int) -> Uint:
    """The difference. Raises EvaluationError on overflow."""
    return values.checked_uint(int(left) - right)


def multiply_uints(left: int, right: int) -> Uint:
    """The product. Raises EvaluationError on overflow."""
    return values.checked_uint(int(left) * right)


def divide_uints(left: int, right: int) -> Uint:
    """The quotient. Raises EvaluationError."""
    if right == 0:
        raise EvaluationError("division by zero")
    return Uint(int(left) // right)


def modulo_uints(left: int, right: int) -> Uint:
    """What division leaves. Raises EvaluationError."""
    if right == 0:
        raise EvaluationError("modulus by zero")
    return Uint(int(left) % right)


def divide_doubles(left: float, right: float) -> float:
    """The quotient as IEEE 754 has it."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def add_durations(left: Duration, right: Duration) -> Duration:
    """The sum. Raises EvaluationError on overflow."""
    return values.checked_duration(left.nanoseconds + right.nanoseconds)


def subtract_durations(left: Duration, right: Duration) -> Duration:
    """The difference. Raises EvaluationError on overflow."""
    return values.checked_duration(left.nanoseconds - right.nanoseconds)


def add_timestamp_duration(left: Timestamp, right: Duration) -> Timestamp:
    """The point in time later by the duration. Raises EvaluationError on overflow."""
    return values.checked_timestamp(left.nanoseconds + right.nanoseconds, left.offset_seconds)


def add_duration_timestamp(left: Duration, right: Timestamp) -> Timestamp:
    """The point in time later by the duration. Raises EvaluationError on overflow."""
    return add_timestamp_duration(right, left)


def subtract_timestamp_duration(left: Timestamp, right: Duration) -> Timestamp:
    """The point in time earlier by the duration. Raises EvaluationError on overflow."""
    return values.checked_timestamp(left.nanoseconds - right.nanoseconds, left.offset_seconds)


def subtract_timestamps(left: Timestamp, right: Timestamp) -> Duration:
    """The time between. Raises EvaluationError on overflow."""
    return values.checked_duration(left.nanoseconds - right.nanoseconds)


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 as two values are ordered that may be. Raises EvaluationError for no number."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        order = values.compare_numbers(left, right)
        if order == 2:
            raise EvaluationError("NaN values cannot be ordered")
        return order
    if left.__class__ is not right.__class__:
        raise no_such_overload()
    return int(left > right) - int(left < right)


def less(left: Any, right: Any) -> bool:
    """Whether the left one is smaller. Raises EvaluationError for no number."""
    return compare(left, right) < 0


def less_equals(left: Any, right: Any) -> bool:
    """Whether the left one is not greater. Raises EvaluationError for no number."""
    return compare(left, right) <= 0


def greater(left: Any, right: Any) -> bool:
    """Whether the left one is greater. Raises EvaluationError for no number."""
    return compare(left, right) > 0


def greater_equals(left: Any, right: Any) -> bool:
    """Whether the left one is not smaller. Raises EvaluationError for no number."""
    return compare(left, right) >= 0


def double_to_int(number: float) -> int:
    """The number without its fraction. Raises EvaluationError beyond 64 bits."""
    if not math.isfinite(number) or not -(2.0**63) < number < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(number)


def double_to_uint(number: float) -> Uint:
    """The number without its fraction. Raises EvaluationError beyond 64 bits and below 0."""
    if not math.isfinite(number) or not 0 <= number < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return Uint(int(number))


def int_to_uint(number: int) -> Uint:
    """The number as a uint. Raises EvaluationError below 0."""
    return values.checked_uint(number)


def uint_to_int(number: int) -> int:
    """The number as an int. Raises EvaluationError beyond 63 bits."""
    return values.checked_int(int(number))


