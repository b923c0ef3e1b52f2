"""Durations and timestamps: their texts and their parts.

Upstream: Go's time package as common/types/timestamp.go and duration.go use it.
"""

import datetime as dt
import re
import zoneinfo

from fakekube.cel import values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.values import NANOSECONDS, Duration, Timestamp
from fakekube.util.durations import go_nanoseconds

_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_EPOCH = dt.date(1970, 1, 1).toordinal()


def parse_duration(text: str) -> Duration:
    """The Duration that a text such as ``1h30m`` means. Raises EvaluationError."""
    found = go_nanoseconds(text)
    if found is None:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return Duration(found)


def duration_text(duration: Duration) -> str:
    """The seconds of a duration with as many digits as they need, and an ``s``."""
    seconds, rest = divmod(abs(duration.nanoseconds), NANOSECONDS)
    exact = float(seconds) + rest / 1e9
    text = f"{exact:.17g}" if exact != float(repr(exact)) else repr(exact)
    if "e" in text:
        text = f"{exact:.20f}".rstrip("0")
    text = text.removesuffix(".0")
    return f"{'-' if duration.nanoseconds < 0 else ''}{text}s"


def parse_timestamp(text: str) -> Timestamp:
    """The Timestamp that a text of RFC 3339 means. Raises EvaluationError."""
    found = timestamp(text)
    if found is None:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    return found


def timestamp(text: str) -> Timestamp | None:
    """The Timestamp of a text of RFC 3339; None if it is none. Raises EvaluationError."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month] + (leap and month == 2):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = 0
    if match[8] != "Z":
        hours, minutes = int(match[8][1:3]), int(match[8][4:])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * (-60 if match[8][0] == "-" else 60)
    days = (dt.date(year, month, day).toordinal() if year else dt.date(4, month, day).toordinal() - 1461) - _EPOCH
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    nanoseconds = int(((match[7] or "") + "0" * 9)[:9])
    return values.checked_timestamp(seconds * NANOSECONDS + nanoseconds, offset)


_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def timestamp_text(moment: Timestamp) -> str:
    """The text of RFC 3339 in the zone in which it was written, with the digits it needs."""
    local = moment.nanoseconds + moment.offset_seconds * NANOSECONDS
    seconds, rest = divmod(local, NANOSECONDS)
    days, second = divmod(seconds, 86400)
    date = dt.date.fromordinal(min(max(days + _EPOCH, 1), dt.date.max.toordinal()))
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    minutes = abs(moment.offset_seconds) // 60
    zone = f"{'-' if moment.offset_seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "Z"
    return f"{date.isoformat()}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}{fraction}{zone}"


def in_zone(moment: Timestamp, zone: str) -> dt.datetime:
    """What clocks show in a zone: ``Europe/Berlin``, ``+02:00``. Raises EvaluationError.

    Where that is in the year 0 or 10000, which Python has not, the year is ``_CYCLE_YEARS`` off.
    """
    utc = moment.datetime()
    try:
        return _shown(utc, zone)
    except OverflowError:
        return _shown(utc.replace(year=utc.year + (_CYCLE_YEARS if utc.year == dt.MINYEAR else -_CYCLE_YEARS)), zone)


_CYCLE_YEARS = 400
"""After so many years the calendar is the same."""


def _shown(utc: dt.datetime, zone: str) -> dt.datetime:
    if ":" in zone:
        return utc.replace(tzinfo=None) + dt.timedelta(minutes=_offset_minutes(zone))
    if zone in {"", "UTC", "Local"}:
        return utc
    return utc.astimezone(_location(zone))


def _offset_minutes(zone: str) -> int:
    hours, minutes = zone.split(":", 1)
    parts = []
    for part in (hours, minutes):
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", part, re.ASCII):
            raise EvaluationError(f'strconv.Atoi: parsing "{part}": invalid syntax')
        parts.append(int(part))
    return parts[0] * 60 - parts[1] if zone.startswith("-") else parts[0] * 60 + parts[1]


def _location(zone: str) -> zoneinfo.ZoneInfo:
    if ".." in zone or zone.startswith(("/", "\\")):
        raise EvaluationError("time: invalid location name")
    try:
        return zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {zone}") from None


def full_year(moment: Timestamp, zone: str = "UTC") -> int:
    """The year."""
    year, utc_year = in_zone(moment, zone).year, moment.datetime().year
    return year + round((utc_year - year) / _CYCLE_YEARS) * _CYCLE_YEARS


def month(moment: Timestamp, zone: str = "UTC") -> int:
    """The month, from 0."""
    return in_zone(moment, zone).month - 1


def day_of_year(moment: Timestamp, zone: str = "UTC") -> int:
    """The day of the year, from 0."""
    return in_zone(moment, zone).timetuple().tm_yday - 1


def day_of_month(moment: Timestamp, zone: str = "UTC") -> int:
    """The day of the month, from 0."""
    return in_zone(moment, zone).day - 1


def date(moment: Timestamp, zone: str = "UTC") -> int:
    """The day of the month, from 1."""
    return in_zone(moment, zone).day


def day_of_week(moment: Timestamp, zone: str = "UTC") -> int:
    """The day of the week; Sunday is 0."""
    return in_zone(moment, zone).isoweekday() % 7


def hours(moment: Timestamp, zone: str = "UTC") -> int:
    """The hour of the day."""
    return in_zone(moment, zone).hour


def minutes(moment: Timestamp, zone: str = "UTC") -> int:
    """The minute of the hour."""
    return in_zone(moment, zone).minute


def seconds(moment: Timestamp, zone: str = "UTC") -> int:
    """The second of the minute."""
    return in_zone(moment, zone).second


def milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    """The milliseconds of the second."""
    return in_zone(moment, zone).microsecond // 1000


def duration_hours(duration: Duration) -> int:
    """The whole hours in it."""
    return _whole(duration, 3600 * NANOSECONDS)


def duration_minutes(duration: Duration) -> int:
    """The whole minutes in it."""
    return _whole(duration, 60 * NANOSECONDS)


def duration_seconds(duration: Duration) -> int:
    """The whole seconds in it."""
    return _whole(duration, NANOSECONDS)


def duration_milliseconds(duration: Duration) -> int:
    """The whole milliseconds in it."""
    return _whole(duration, 10**6)


def _whole(duration: Duration, unit: int) -> int:
    count = abs(duration.nanoseconds) // unit
    return -count if duration.nanoseconds < 0 else count
