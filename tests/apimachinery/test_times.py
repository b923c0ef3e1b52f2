"""Times are read and written as upstream does."""

import tracemalloc

import pytest

from fakekube.apimachinery import times
from fakekube.schema.scalars import Time
from fakekube.schema.walk import Walk


def test_times_are_printed_in_whole_seconds_and_microseconds() -> None:
    """Given Unix seconds / when they are printed / then Time has seconds and MicroTime six digits.
    """
    assert times.format_time(1767225600.9) == "2026-01-01T00:00:00Z"
    assert times.format_micro_time(1767225600.25) == "2026-01-01T00:00:00.250000Z"


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T02:00:00+02:00",
        "2025-12-31T22:30:00-01:30",
        "2026-01-01T00:00:00.000000Z",
    ],
)
def test_offsets_and_fractions_are_read(text: str) -> None:
    """Given one instant in several spellings / when they are read / then they are the same."""
    assert times.parse_time(text) == 1767225600


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'),
        ("2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'),
        ("2026-02-30T00:00:00Z", 'parsing time "2026-02-30T00:00:00Z": day out of range'),
        ("2026-01-01", 'parsing time "2026-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("é", r'parsing time "\xc3\xa9" as "2006-01-02T15:04:05Z07:00": cannot parse "\xc3\xa9" as "2006"'),
        ("2026-01-01T00:00:00Zx", 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'),
    ],
)
def test_a_bad_time_is_refused_in_gos_words(text: str, message: str) -> None:
    """Given a text that is no time / when it is read / then the error says where Go's parser stops.
    """
    with pytest.raises(times.TimeError) as error:
        times.parse_time(text)
    assert str(error.value) == message


def test_a_micro_time_needs_exactly_six_digits() -> None:
    """Given a time without a fraction / when a MicroTime is asked for / then it is refused."""
    with pytest.raises(times.TimeError) as error:
        times.parse_micro_time("2026-01-01T00:00:00Z")
    assert str(error.value) == (
        'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
    )


@pytest.mark.parametrize(("seconds", "text"), [
    (1e18, "9999-12-31T23:59:59Z"), (-1e18, "0000-01-01T00:00:00Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
    (-50_000_000_000, "0385-07-25T07:06:40Z"),
])
def test_a_time_outside_of_the_years_that_rfc_3339_can_write_is_the_nearest_in_them(seconds: float, text: str) -> None:
    """Given Unix seconds far off, when they are written, then there is a text that Go reads."""
    assert times.format_time(seconds) == text


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-01T00:00:00Z", "0000-02-29T12:00:00Z", "0000-12-31T23:59:59Z", "0001-01-01T00:00:01Z",
        "0009-10-11T12:13:14Z", "0999-12-31T23:59:59Z", "1000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    ],
)
def test_years_are_written_with_four_digits(text: str) -> None:
    """Given a time in a year below 1000, or in the last one / when it is read and written / then Go
    can read it, unchanged.
    """
    assert times.format_time(times.parse_time(text)) == text
    micro = text.replace("Z", ".000250Z")
    assert times.format_micro_time(times.parse_micro_time(micro)).startswith(text[:-1])


def test_an_offset_may_lead_into_another_year() -> None:
    """Given the first hour of year 1 east of UTC / when it is read / then it lies in year 0."""
    assert times.format_time(times.parse_time("0001-01-01T00:30:00+01:00")) == "0000-12-31T23:30:00Z"
    assert times.format_time(times.parse_time("0000-12-31T23:30:00-01:00")) == "0001-01-01T00:30:00Z"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"])
def test_what_would_lie_beyond_four_digits_is_refused(text: str) -> None:
    """Given a time whose offset moves it out of the years 0 to 9999 / when it is read / then it is
    refused.
    """
    with pytest.raises(times.TimeError, match="day out of range"):
        times.parse_time(text)


def test_day_and_month_of_year_0_are_checked() -> None:
    """Given 29 February of a year without one / when it is read / then it is refused, while year 0
    has that day.
    """
    with pytest.raises(times.TimeError, match="day out of range"):
        times.parse_time("0001-02-29T00:00:00Z")


def test_long_fractions_do_not_stay_in_memory() -> None:
    """Given a thousand times with ten thousand digits each / when they were read from bodies / then
    what is remembered of them is no tenth of their length.
    """
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(1000):
        text = f"2026-01-01T00:00:00.{number:010000}Z"
        assert Time("v1.Time").read(text, Walk()) == "2026-01-01T00:00:00Z"
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 1_000_000
