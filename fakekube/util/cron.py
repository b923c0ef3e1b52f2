"""Cron schedules as Kubernetes reads them, and when they are due.

A schedule has five fields, or is a word such as ``@daily``. Upstream: github.com/robfig/cron/v3,
ParseStandard, whose error texts these are. The grammar is read here, since no library has those
texts; the calendar is cronsim's, which is given nothing but numbers and stars.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fakekube.util.durations import LONGEST_SECONDS
from fakekube.util.memory import memoized

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
DESCRIPTORS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}
ZONE_PREFIXES = ("TZ=", "CRON_TZ=")
DURATION_UNITS = {
    "ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}
SHORTEST_DELAY_SECONDS = 1
LONGEST_NUMBER = 1000  # Python reads no more than 4300 digits; 64 bits have 20
HORIZON_YEARS = 5
"""A schedule that is not due within so many years never is."""


_DURATION_PART = re.compile(r"(?=.)([0-9.]*)([^0-9.]*)", re.ASCII | re.DOTALL)


class CronError(ValueError):
    """A text that is no schedule; the message is upstream's."""


class Field(NamedTuple):
    """What one of the five fields may be: its numbers, and whether it was given as a star."""

    numbers: tuple[int, ...]
    starred: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """Five fields, read; ``zone`` is the name of a time zone that stood in front, or empty."""

    minute: Field
    hour: Field
    day_of_month: Field
    month: Field
    day_of_week: Field
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Every:
    """``@every 1h30m``: a constant delay, in whole seconds."""

    delay: timedelta


class _Bounds(NamedTuple):
    least: int
    most: int
    names: Mapping[str, int]


def _bounds() -> tuple[_Bounds, ...]:
    months = {name: number for number, name in enumerate(MONTHS, 1)}
    days = {name: number for number, name in enumerate(DAYS)}
    return _Bounds(0, 59, {}), _Bounds(0, 23, {}), _Bounds(1, 31, {}), _Bounds(1, 12, months), _Bounds(0, 6, days)


@memoized(256, longest=1024)
def parse(text: str) -> Schedule | Every:
    """Read a schedule. Raises CronError."""
    if not text:
        raise CronError("empty spec string")
    zone = ""
    if text.startswith(ZONE_PREFIXES):
        zone, text = _zone(text)
    if text.startswith("@"):
        if text.startswith("@every "):
            return Every(_delay(text))
        if text not in DESCRIPTORS:
            raise CronError(f"unrecognized descriptor: {text}")
        text = DESCRIPTORS[text]
    fields = text.split()
    if len(fields) != 5:
        raise CronError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    minute, hour, day, month, weekday = (
        _field(each, bounds) for each, bounds in zip(fields, _bounds(), strict=True))
    return Schedule(minute, hour, day, month, weekday, zone)


def _zone(text: str) -> tuple[str, str]:
    name, blank, rest = text.partition("=")[2].partition(" ")
    if not blank:
        raise CronError("invalid schedule format: runtime error: slice bounds out of range [:-1]")
    if not is_time_zone(name):
        raise CronError(f"provided bad location {name}: unknown time zone {name}")
    return name, rest.strip()


def next_time(schedule: Schedule | Every, after: datetime, zone: str = "") -> datetime | None:
    """The first instant after ``after`` (aware) at which a schedule is due, in UTC;

    None when there is none for years.

    Fields are read in the schedule's own time zone, else in ``zone`` (a name that ``is_time_zone``
    knows), else in UTC. What the clocks skip in spring is skipped, and what they show twice in
    autumn comes twice. A constant delay counts from ``after``.
    """
    after = after.astimezone(UTC).replace(microsecond=0)
    try:
        if isinstance(schedule, Every):
            return after + schedule.delay
        return _next_match(schedule, after, schedule.zone or zone)
    except OverflowError:  # beyond the years that there are
        return None


@memoized(1024)
def _next_match(schedule: Schedule, after: datetime, zone: str) -> datetime | None:
    from cronsim import CronSim, CronSimError

    fields = (schedule.minute, schedule.hour, schedule.day_of_month, schedule.month, schedule.day_of_week)
    if not all(field.numbers for field in fields):
        return None
    place = UTC if zone in ("", "UTC", "Local") else ZoneInfo(zone)
    # With the field for seconds in front, cronsim walks the hours that there are; with five fields
    # it does as Debian does.
    text = " ".join(["0", *("*" if field.starred else ",".join(map(str, field.numbers)) for field in fields)])
    try:
        found = next(CronSim(text, after.astimezone(place)))
        while found != found.astimezone(UTC).astimezone(place):  # a midnight that the clocks skip
            found = next(CronSim(text, found))
    except (CronSimError, StopIteration):
        return None
    if found.year > after.astimezone(place).year + HORIZON_YEARS:
        return None
    return found.astimezone(UTC)


def is_time_zone(name: str) -> bool:
    """Whether there is a time zone of that name, UTC and Local included."""
    if name in ("", "UTC", "Local"):
        return True
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _field(text: str, bounds: _Bounds) -> Field:
    numbers: list[int] = []
    starred = False
    for part in text.split(","):
        if part:
            found, star = _range(part, bounds)
            numbers += found
            starred = starred or star
    return Field(tuple(sorted(dict.fromkeys(numbers))), starred)


def _range(text: str, bounds: _Bounds) -> tuple[range, bool]:
    pieces = text.split("/")
    limits = pieces[0].split("-")
    starred = limits[0] in ("*", "?")
    if starred:
        first, last = bounds.least, bounds.most
    else:
        first = last = _number(limits[0], bounds.names)
        if len(limits) == 2:
            last = _number(limits[1], bounds.names)
        elif len(limits) > 2:
            raise CronError(f"too many hyphens: {text}")
    step = 1
    if len(pieces) == 2:
        step = _number(pieces[1], {})
        last = bounds.most if len(limits) == 1 else last
        starred = starred and step <= 1
    elif len(pieces) > 2:
        raise CronError(f"too many slashes: {text}")
    if first < bounds.least:
        raise CronError(f"beginning of range ({first}) below minimum ({bounds.least}): {text}")
    if last > bounds.most:
        raise CronError(f"end of range ({last}) above maximum ({bounds.most}): {text}")
    if first > last:
        raise CronError(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise CronError(f"step of range should be a positive number: {text}")
    return range(first, last + 1, step), starred


def _number(text: str, names: Mapping[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdecimal()):
        raise CronError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text) if len(text) <= LONGEST_NUMBER else 2**63
    if not -(2**63) <= number < 2**63:
        raise CronError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if number < 0:
        raise CronError(f"negative number ({number}) not allowed: {text}")
    return number


def _delay(text: str) -> timedelta:
    try:
        seconds = duration(text.removeprefix("@every "))
    except ValueError as error:
        raise CronError(f"failed to parse duration {text}: {error}") from None
    return timedelta(seconds=max(int(seconds), SHORTEST_DELAY_SECONDS))


def duration(text: str) -> float:
    """Seconds of a Go duration: ``1h30m``. Raises ValueError with Go's text."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    wrong = ValueError(f'time: invalid duration "{text}"')
    if not rest:
        raise wrong
    total = 0.0
    for part in _DURATION_PART.finditer(rest):
        number, unit = part.groups()
        if not any(letter.isdecimal() for letter in number) or number.count(".") > 1:
            raise wrong
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in DURATION_UNITS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += float(number) * DURATION_UNITS[unit]
        if total > LONGEST_SECONDS:
            raise wrong
    return -total if text.startswith("-") else total
