"""Formats of texts that schemas and expressions name alike: dates, durations, UUIDs, base64.

Upstream: kube-openapi/pkg/validation/strfmt. Left out: the formats that only schemas name, which
stand in ``fakekube/apiextensions/objects/formats.py``.
"""

import datetime as dt
import re
from types import MappingProxyType

from fakekube.apimachinery import names, strconv
from fakekube.util.durations import go_nanoseconds
from fakekube.util.memory import memoized

_HEX = "[0-9a-fA-F]"
_UUID = f"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}"
_BYTE = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_TIME = "([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))"
KEPT_CHARACTERS = 40
"""So long are those that are written at the same time again and again."""
_COUNTED_UNIT = re.compile("([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]+)")
_UNITS = MappingProxyType({
    ("ns", "nano"): 1,
    ("us", "\u00b5s", "micro"): 10**3,
    ("ms", "milli"): 10**6,
    ("s", "sec"): 10**9,
    ("m", "min"): 60 * 10**9,
    ("h", "hr", "hour"): 3600 * 10**9,
    ("d", "day"): 86400 * 10**9,
    ("w", "wk", "week"): 7 * 86400 * 10**9,
})
"""Nanoseconds by the names of a unit; what begins with the last of them is one, too."""


def is_uuid(text: str) -> bool:
    """Whether it is one, with dashes or without."""
    return names.matches(_UUID, text)


def is_base64(text: str) -> bool:
    """Whether it is a text in the standard alphabet, filled up to four."""
    return len(text) % 4 == 0 and names.matches(_BYTE, text)


def is_date(text: str) -> bool:
    """``2006-01-02``."""
    if not names.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    year, month, day = (int(part) for part in text.split("-"))
    try:
        dt.date(year or 4, month, day)  # the year 0 is a leap year that Python does not have
    except ValueError:
        return False
    return True


@memoized(256, longest=KEPT_CHARACTERS)
def is_date_time(text: str) -> bool:
    """``2006-01-02T15:04:05.999Z``, or with an offset, in any case."""
    parts = text.lower().split("t")
    if len(parts) < 2 or not is_date(parts[0]) or not names.matches(_TIME, parts[1]):
        return False
    return parts[1][:2] <= "23" and parts[1][3:5] <= "59" and parts[1][6:8] <= "59"


def duration(text: str) -> int | None:
    """The nanoseconds of ``1h30m`` as Go has it, or of ``2 days 3 hours`` as Scala has, which wrap
    at 64 bits; None if the text is no duration.
    """
    found = go_nanoseconds(text)
    return _counted_units(text) if found is None else found


def _counted_units(text: str) -> int | None:
    total, known = 0, False
    for digits, word in _COUNTED_UNIT.findall(text):
        try:
            count = strconv.parse_int(digits)
        except strconv.NumberError:
            return None
        unit = word.lower()
        for variants, nanoseconds in _UNITS.items():
            if unit in variants or unit.startswith(variants[-1]):
                known = True
                total += count * nanoseconds
    return (total + 2**63) % 2**64 - 2**63 if known else None
