"""Spans of time as people read them: the ages of kubectl's tables.

Upstream: apimachinery/pkg/util/duration and pkg/api/meta/table/table.go.
"""

from fakekube.apimachinery.times import TimeError, parse_time

MINUTE, HOUR, DAY, YEAR = 60, 3600, 24 * 3600, 365 * 24 * 3600
UNKNOWN = "<unknown>"


def human_duration(seconds: float) -> str:
    """A span of time the way kubectl writes ages: ``90s``, ``5m30s``, ``3h20m``, ``4d``."""
    total = int(seconds)
    if total < -1:
        return "<invalid>"
    if total < 0:
        return "0s"
    years, days, hours, minutes = total // YEAR, total // DAY, total // HOUR, total // MINUTE
    if total < 2 * MINUTE:
        return f"{total}s"
    if minutes < 10:
        return _two(minutes, "m", total % MINUTE, "s")
    if minutes < 3 * 60:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _two(years, "y", days % 365, "d")
    return f"{years}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def unix(text: str | None) -> float | None:
    """The Unix seconds of a time in an object, None when there is none."""
    try:
        return parse_time(text) if text else None
    except TimeError:
        return None


def since(text: str | None, now: float) -> str:
    """How long ago a time was: ``5m``, or ``<unknown>``."""
    then = unix(text)
    return UNKNOWN if then is None else human_duration(now - then)
