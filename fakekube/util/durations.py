"""Durations as people write them: ``1h30m``, ``90s``, ``500ms``, ``2d``, or plain seconds."""

import re
from datetime import timedelta

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")

Duration = str | float | timedelta
"""A text such as ``1h30m``, a number of seconds, or a timedelta."""


def seconds_of(value: Duration) -> float:
    """A duration in seconds. Raises ValueError for what is none, and for one below zero."""
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, int | float):
        seconds = float(value)
    else:
        seconds = _parse(value.strip())
    if seconds < 0:
        raise ValueError(f"{value!r} is below zero")
    return seconds


def _parse(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is no duration: say 1h30m, 90s or 500ms")
    return sum(float(number) * UNITS[unit] for number, unit in parts)
