"""Formats of texts, as Go's libraries judge them."""

import pytest

from fakekube.apimachinery import strfmt
from fakekube.util.durations import go_nanoseconds

DAY = 86400 * 10**9
UUID = "0123abcd-0123-4567-89AB-0123456789ab"


@pytest.mark.parametrize(("text", "nanoseconds"), [
    ("0", 0), ("-0", 0), ("1h30m", 5400 * 10**9), ("-1.5s", -1_500_000_000), (".5ms", 500_000), ("1.", None), ("", None),
    ("+", None),
    ("1", None), (".s", None), ("1\u00b5s2\u03bcs", 3000), ("9223372036854775807ns", 2**63 - 1), ("9223372036854775808ns", None),
    ("-9223372036854775808ns", -(2**63)), ("2562048h", None), ("0" * 5000 + "1s", 10**9), ("1d", None), ("1 s", None),
])
def test_durations_of_go(text: str, nanoseconds: int | None) -> None:
    """Given a text, when Go's time package would read it, then it is as long as there."""
    assert go_nanoseconds(text) == nanoseconds


@pytest.mark.parametrize(("text", "nanoseconds"), [
    ("1h", 3600 * 10**9), ("2 days 3 hours", 2 * DAY + 3 * 3600 * 10**9), ("1wk1D", 8 * DAY), ("3weeks", 21 * DAY), ("1", None),
    ("1 year", None), ("1 y 2 s", 2 * 10**9), ("9223372036854775807 m", -60 * 10**9), ("9223372036854775808 m", None),
    ("09223372036854775807d", -DAY),
])
def test_durations_of_schemas(text: str, nanoseconds: int | None) -> None:
    """Given a text with units as people write them, when a schema asks, then they are added up as
    64 bits hold them.
    """
    assert strfmt.duration(text) == nanoseconds


@pytest.mark.parametrize(("text", "of"), [
    ("2006-01-02", "date"), ("0000-02-29", "date"), ("2000-02-29", "date"), ("1900-02-29", ""), ("2006-1-2", ""),
    ("2006-01-02\n", ""),
    ("2006-01-02T15:04:05Z", "datetime"), ("2006-01-02t23:59:59,5-24:00", "datetime"), ("2006-01-02T23:59:60Z", ""),
    ("2006-01-02T15:04Z", ""), (UUID, "uuid"), (UUID.replace("-", ""), "uuid base64"),
    (UUID[:-1], ""), (UUID.replace("a", "g"), ""),
    ("QUI=", "base64"), ("", ""), ("QUI", ""), ("Q===", ""), ("QU-=", ""),
])
def test_formats_tell_texts(text: str, of: str) -> None:
    """Given a text, when each format is asked, then those say yes that Go's do."""
    tests = {"date": strfmt.is_date, "datetime": strfmt.is_date_time, "uuid": strfmt.is_uuid, "base64": strfmt.is_base64}
    assert [name for name, test in tests.items() if test(text)] == of.split()
