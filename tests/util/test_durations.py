"""Durations as people write them, and as Go counts them."""

from datetime import timedelta

import pytest

from fakekube.util import cron
from fakekube.util.durations import LONGEST_SECONDS, of_whole_seconds, seconds_of, text_of


@pytest.mark.parametrize("value", ["9" * 400 + "h", "9" * 400, 10**400, float("inf"), float("nan")])
def test_a_time_that_no_number_holds_is_no_duration(value: object) -> None:
    """Given a duration too long to count, when it is read, then that is a ValueError and no other
    error.
    """
    with pytest.raises(ValueError, match="cannot be counted"):
        seconds_of(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["9" * 1_000_000, "1h" * 500_000])
def test_reading_a_duration_takes_time_linear_in_its_length(text: str) -> None:
    """Given a million digits without a unit behind letters, or half a million parts, when it is
    read, then at once.
    """
    with pytest.raises(ValueError, match="is no duration"):
        seconds_of(text + "?")


@pytest.mark.parametrize(("count", "seconds"), [
    (30, 30.0), (-5, -5.0), (2**63 - 1, -1.0), (9_223_372_036, 9_223_372_036.0), (9_223_372_037, -9_223_372_036.709551),
    (-(2**63), 0.0), (2**31 - 1, 2147483647.0),
])
def test_seconds_beyond_int64_nanoseconds_wrap_as_go_wraps_them(count: int, seconds: float) -> None:
    """Given a count of seconds, when Go multiplies it by time.Second, then this is what comes out.
    """
    assert of_whole_seconds(count) == pytest.approx(seconds)


def test_a_long_time_has_a_text() -> None:
    """Given more seconds than a timedelta holds, when they are told, then as Go's longest duration.
    """
    assert text_of(1e300) == str(timedelta(seconds=LONGEST_SECONDS))
    assert text_of(90) == "0:01:30"


@pytest.mark.parametrize("text", [
    "9" * 100_000 + " * * * *", "*/" + "9" * 100_000 + " * * * *", "+" + "9" * 5000 + " * * * *", "-" + "9" * 5000 + " * * * *",
    "@every " + "9" * 400 + "h", "@every 9999999h"])
def test_a_schedule_of_huge_numbers_is_refused(text: str) -> None:
    """Given a schedule with a number of many digits, when it is read, then it is a CronError with
    Go's words.
    """
    with pytest.raises(cron.CronError):
        cron.parse(text)


def test_a_schedule_of_many_parts_is_read_at_once() -> None:
    """Given a duration of a million parts that stays below 292 years, when it is read, then each
    part once.
    """
    assert cron.parse("@every 1h" + "1ms" * 1_000_000) == cron.Every(timedelta(seconds=4600))


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("zone", ["", "Asia/Tokyo", "America/New_York"])
def test_a_schedule_at_the_end_of_all_years(year: int, zone: str) -> None:
    """Given the first or the last day of all years, when the next run is asked for, then there is
    one, or none, and no error.
    """
    from datetime import UTC, datetime

    edge = datetime(year, 1, 1, tzinfo=UTC) if year == 1 else datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    for text in ("0 0 * * *", "@every 24h"):
        found = cron.next_time(cron.parse(text), edge, zone)
        assert found is None or found > edge
        assert year == 1 or found is None
