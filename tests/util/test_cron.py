"""Schedules of CronJobs: what parses, and how the rest is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util import cron


@pytest.mark.parametrize("text", [
    "* * * * *", "*/5 0-6,12 1 JAN-mar SUN", "0 0 ? * 1-5", "@hourly", "@every 1h30m", "@midnight", "59 23 31 12 6",
])
def test_a_schedule(text: str) -> None:
    """Given a schedule of the usual grammar, when parsed, then nothing is wrong with it."""
    cron.parse(text)


@pytest.mark.parametrize(("text", "said"), [
    ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
    ("60 * * * *", "end of range (60) above maximum (59): 60"),
    ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
    ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
    ("*/0 * * * *", "step of range should be a positive number: */0"),
    ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
    ("1/2/3 * * * *", "too many slashes: 1/2/3"),
    ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ("@never", "unrecognized descriptor: @never"),
    ("", "empty spec string"),
])
def test_no_schedule(text: str, said: str) -> None:
    """Given something else, when parsed, then the complaint is that of robfig/cron, word by word.
    """
    with pytest.raises(cron.CronError) as caught:
        cron.parse(text)
    assert str(caught.value) == said


@pytest.mark.parametrize(("name", "known"), [("Europe/Zurich", True), ("UTC", True), ("Nowhere/None", False), ("", True)])
def test_time_zones(name: str, known: bool) -> None:
    """Given the name of a zone, when looked up, then the database knows it or not; no name is UTC.
    """
    assert cron.is_time_zone(name) is known


@pytest.mark.parametrize(("after", "zone", "text", "due"), [
    # what robfig/cron answered, three times in a row
    ("2026-10-24T20:00", "Europe/Berlin", "30 2 * * *", ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-26T01:30"]),
    ("2026-10-25T00:20", "Europe/Berlin", "*/20 * * * *", ["2026-10-25T00:40", "2026-10-25T01:00", "2026-10-25T01:20"]),
    ("2026-03-28T20:00", "Europe/Berlin", "30 2,3 * * *", ["2026-03-29T01:30", "2026-03-30T00:30", "2026-03-30T01:30"]),
    ("2018-11-03T12:00", "America/Sao_Paulo", "0 0 * * *", ["2018-11-05T02:00", "2018-11-06T02:00", "2018-11-07T02:00"]),
    ("2026-01-01T00:00", "Asia/Kolkata", "@weekly", ["2026-01-03T18:30", "2026-01-10T18:30", "2026-01-17T18:30"]),
    ("2026-01-02T00:00", "", "0 0 13 * 5", ["2026-01-09T00:00", "2026-01-13T00:00", "2026-01-16T00:00"]),
    ("2026-01-01T00:00", "", "0 0 */10 * 1", ["2026-01-05T00:00", "2026-01-11T00:00", "2026-01-12T00:00"]),
    ("2026-01-31T23:59", "", "50/3 8-20/5 1-7 feb,MAR ?", ["2026-02-01T08:50", "2026-02-01T08:53", "2026-02-01T08:56"]),
    ("2026-01-01T00:00", "", "0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]),
    ("2026-01-01T00:00", "", "TZ=Asia/Tokyo 0 0 1 * *", ["2026-01-31T15:00", "2026-02-28T15:00", "2026-03-31T15:00"]),
    ("2026-01-01T00:00", "", "@every 90m", ["2026-01-01T01:30", "2026-01-01T03:00", "2026-01-01T04:30"]),
    ("2026-01-01T00:00", "", "0 0 31 2 *", [None, None, None]),
    ("2097-01-01T00:00", "", "0 0 29 2 *", [None, None, None]),
    ("2026-01-01T00:00", "", ", 0 1 1 *", [None, None, None]),
])
def test_when_a_schedule_is_due(after: str, zone: str, text: str, due: list[str | None]) -> None:
    """Given a schedule, when asked for what comes after a time, then it answers as robfig/cron
    does: star or no star, days of week or of month, hours that the clocks skip or show twice, and
    never.
    """
    at: datetime | None = datetime.fromisoformat(after).replace(tzinfo=UTC)
    for expected in due:
        assert at is not None or expected is None
        at = cron.next_time(cron.parse(text), at, zone) if at is not None else None
        assert (at.strftime("%Y-%m-%dT%H:%M") if at else None) == expected


def _field(least: int, most: int) -> st.SearchStrategy[str]:
    number = st.integers(least, most)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    return st.one_of(st.just("*"), number.map(str), span, st.tuples(span, st.integers(1, 9)).map(lambda p: f"{p[0]}/{p[1]}"))


@given(
    st.tuples(_field(0, 59), _field(0, 23), _field(1, 31), _field(1, 12), _field(0, 6)).map(" ".join),
    st.integers(1577836800, 2208988800))
def test_what_is_due_fits_and_nothing_before_it_does(text: str, second: int) -> None:
    """Given any schedule in UTC and any time, when asked for the next time, then it is later and
    its minute, hour and month fit; asked from a second before it, the answer is the same.
    """
    schedule = cron.parse(text)
    assert isinstance(schedule, cron.Schedule)
    after = datetime.fromtimestamp(second, UTC)
    due = cron.next_time(schedule, after)
    if due is not None:
        assert due > after
        assert due.second == due.microsecond == 0
        fields = (schedule.minute, schedule.hour, schedule.month)
        assert all(value in field.numbers for value, field in zip((due.minute, due.hour, due.month), fields, strict=True))
        assert cron.next_time(schedule, max(after, due - timedelta(seconds=1))) == due
