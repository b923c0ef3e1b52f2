"""Times as the API writes and reads them: RFC 3339, whole seconds for Time, microseconds for
MicroTime, UTC on output.

Upstream: apimachinery/pkg/apis/meta/v1/{time,micro_time}.go, and Go's ``time.Parse`` for the
complaints. Inside, a time is Unix seconds. What an offset moves out of the years 0 to 9999 is
refused: Go takes it, and cannot read what it then writes.
"""

import re
from datetime import UTC, datetime, timedelta

from fakekube.util.memory import memoized

RFC3339 = "2006-01-02T15:04:05Z07:00"
RFC3339_MICRO = "2006-01-02T15:04:05.000000Z07:00"

KEPT_CHARACTERS = 40
"""Of a time whose seconds are remembered; Go writes 35 at most, and reads any number of digits."""

_CYCLE_YEARS = 400
_CYCLE_SECONDS = 146097 * 86400  # after so long the calendar repeats
_YEAR_0_SECONDS, _YEAR_1_SECONDS, _YEAR_10000_SECONDS = -62167219200, -62135596800, 253402300800

_SHAPE = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
# What Go looks for, in order: how it names the piece, and what the text must begin with there.
_PIECES = (
    ("2006", re.compile(r"\d{4}", re.ASCII)), ("-", re.compile("-")), ("01", re.compile(r"\d\d", re.ASCII)),
    ("-", re.compile("-")), ("02", re.compile(r"\d\d", re.ASCII)), ("T", re.compile("T")),
    ("15", re.compile(r"\d{1,2}", re.ASCII)), (":", re.compile(":")), ("04", re.compile(r"\d\d", re.ASCII)),
    (":", re.compile(":")), ("05", re.compile(r"\d\d", re.ASCII)),
)  # fmt: skip
_SECONDS_FRACTION = re.compile(r"[.,]\d+", re.ASCII)
_ZONE = ("Z07:00", re.compile(r"Z|[+-]\d\d:\d\d", re.ASCII))
_MICRO = (".000000", re.compile(r"\.\d{6}", re.ASCII))


class TimeError(ValueError):
    """A text that is no time; the message is Go's."""


def format_time(unix_seconds: float) -> str:
    """``2026-01-01T00:00:00Z``; fractions of the second are cut off."""
    return _format_second(int(unix_seconds // 1))


@memoized(4096)
def _format_second(second: int) -> str:
    second = min(max(second, _YEAR_0_SECONDS), _YEAR_10000_SECONDS - 1)  # years have four digits
    if second < _YEAR_1_SECONDS:  # a year that datetime does not have
        return f"0000{_format_second(second + _CYCLE_SECONDS)[4:]}"
    # strftime drops zeros of the year
    return f"{datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()}Z"


def format_micro_time(unix_seconds: float) -> str:
    """``2026-01-01T00:00:00.000000Z``, rounded to the microsecond."""
    second, micros = divmod(round(unix_seconds * 1_000_000), 1_000_000)
    return f"{_format_second(second)[:-1]}.{micros:06d}Z"


@memoized(8192, longest=KEPT_CHARACTERS)
def parse_time(text: str) -> float:
    """Unix seconds of an RFC 3339 time, with any offset and any number of fraction digits.

    Raises TimeError.
    """
    return _parse(text, RFC3339)


@memoized(8192, longest=KEPT_CHARACTERS)
def parse_micro_time(text: str) -> float:
    """As ``parse_time``, for a MicroTime: exactly six fraction digits. Raises TimeError."""
    return _parse(text, RFC3339_MICRO)


def _parse(text: str, layout: str) -> float:
    found = _SHAPE.fullmatch(text)
    if found is None or (layout == RFC3339_MICRO and len(found[7] or "") != 7):
        raise TimeError(_complaint(text, layout))
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    for name, value, low, high in (
        ("month", month, 1, 12),
        ("hour", hour, 0, 23),
        ("minute", minute, 0, 59),
        ("second", second, 0, 59),
    ):
        if not low <= value <= high:
            raise TimeError(f"parsing time {_quote(text)}: {name} out of range")
    fraction, zone = found[7], found[8]
    offset = timedelta() if zone == "Z" else timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    if zone != "Z":
        for limit, name, given in ((60, "minute", zone[4:6]), (24, "hour", zone[1:3])):
            if int(given) > limit:  # Go lets 24:60 pass
                raise TimeError(f"parsing time {_quote(text)}: time zone offset {name} out of range")
    # datetime begins with year 1: look at the same day of the calendar's next cycle
    early = year < 2
    try:
        at = datetime(year + _CYCLE_YEARS if early else year, month, day, hour, minute, second, tzinfo=UTC)
        at = at + offset if zone[0] == "-" else at - offset
    except (ValueError, OverflowError):
        raise TimeError(f"parsing time {_quote(text)}: day out of range") from None
    seconds = at.timestamp() - (_CYCLE_SECONDS if early else 0)
    if seconds < _YEAR_0_SECONDS:
        raise TimeError(f"parsing time {_quote(text)}: day out of range")
    # The fraction is added last, so that whole seconds stay exact.
    return seconds + (float("0." + fraction[1:]) if fraction else 0.0)


def _quote(text: str) -> str:
    """A text as Go's parser of times quotes it: byte by byte where it is not plain ASCII."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    if not plain.isascii() or not plain.isprintable():
        plain = "".join(
            letter if " " <= letter < "\x80" else "".join(f"\\x{byte:02x}" for byte in letter.encode(errors="surrogatepass"))
            for letter in plain)
    return f'"{plain}"'


def _complaint(text: str, layout: str) -> str:
    """Where Go's parser stops, in its words."""
    pieces = [*_PIECES, *([_MICRO] if layout == RFC3339_MICRO else []), _ZONE]
    rest = text
    for name, pattern in pieces:
        if name == "Z07:00" and layout == RFC3339 and (fraction := _SECONDS_FRACTION.match(rest)):
            rest = rest[fraction.end() :]
        found = pattern.match(rest)
        if found is None:
            wanted = f"cannot parse {_quote(rest)} as {_quote(name)}"
            return f"parsing time {_quote(text)} as {_quote(layout)}: {wanted}"
        rest = rest[found.end() :]
    return f"parsing time {_quote(text)}: extra text: {_quote(rest)}"
