"""Durations as people write them: ``1h30m``, ``90s``, ``500ms``, ``2d``, or plain seconds; and how
long Go's are.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
WHOLE = re.compile(rf"(?:{PART.pattern})+", re.ASCII)

_GO_NANOSECONDS = MappingProxyType({
    "ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
})
_GO_PART = re.compile("([0-9]*)(?:\\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")

LONGEST_SECONDS = (2**63 - 1) / 1e9
"""The longest ``time.Duration`` of Go, int64 nanoseconds: about 292 years."""

EARLIEST, LATEST = datetime(300, 1, 1, tzinfo=UTC), datetime(9700, 1, 1, tzinfo=UTC)
"""Between these a clock may stand: every duration of Go, before or after, leads to a year that RFC
3339 can write.
"""

Duration = str | float | timedelta
"""A text such as ``1h30m``, a number of seconds, or a timedelta."""


def seconds_of(value: Duration) -> float:
    """A duration in seconds, which are finite.

    Raises ValueError for what is none, and for one below zero.
    """
    try:
        seconds = value.total_seconds() if isinstance(value, timedelta) else (
            float(value) if isinstance(value, int | float) else _parse(value.strip()))
    except OverflowError:  # a whole number that no float holds
        seconds = math.inf
    if not math.isfinite(seconds):
        raise ValueError("so long a time cannot be counted")
    if seconds < 0:
        raise ValueError(f"{value!r} is below zero")
    return seconds


def _parse(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    # from its start only: trying at every place takes the square of the length
    if WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no duration: say 1h30m, 90s or 500ms")
    return sum(float(number) * UNITS[unit] for number, unit in PART.findall(text))


def go_nanoseconds(text: str) -> int | None:
    """How many nanoseconds Go's time.ParseDuration makes of ``-1h30m``; None if the text is none or
    too long.
    """
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return 0
    if not rest:
        return None
    total, position = 0, 0
    while position < len(rest):
        part = _GO_PART.match(rest, position)
        if part is None:
            return None
        whole, fraction, unit = part.groups()
        if (not whole and not fraction) or len(whole.lstrip("0")) > 19:
            return None
        scale = _GO_NANOSECONDS[unit]
        total += int(whole.lstrip("0") or "0") * scale
        if fraction:
            digits = fraction[:18]
            total += int(digits) * scale // 10 ** len(digits)
        if total > 2**63:
            return None
        position = part.end()
    total *= sign
    return total if -(2**63) <= total < 2**63 else None


def of_whole_seconds(count: int) -> float:
    """The seconds of Go's ``time.Duration(count) * time.Second``.

    Beyond int64 nanoseconds the product wraps, so that the largest counts are a second ago.
    """
    if -9_000_000_000 < count < 9_000_000_000:
        return float(count)
    return ((count * 10**9 + 2**63) % 2**64 - 2**63) / 1e9


def text_of(seconds: float) -> str:
    """``1 day, 2:03:04``. What is longer than Go's longest duration is as long as that."""
    return str(timedelta(seconds=min(seconds, LONGEST_SECONDS)))


def go_text(seconds: float) -> str:
    """What Go writes for a duration: ``5m0s``, ``1.5s``, ``20ms``; a duration below zero has a
    minus sign.
    """
    nanoseconds = round(seconds * 1e9)
    if not nanoseconds:
        return "0s"
    sign, nanoseconds = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if nanoseconds < size * 1000:
            return f"{sign}{_decimal(nanoseconds, size)}{unit}"
    whole, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(whole, 60)
    text = f"{_decimal(rest, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _decimal(count: int, size: int) -> str:
    whole, rest = divmod(count, size)
    digits = str(size + rest)[1:].rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
