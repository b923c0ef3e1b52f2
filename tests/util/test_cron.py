"""Schedules of CronJobs: what parses, and how the rest is refused."""

import pytest

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
    """Given something else, when parsed, then the complaint is that of robfig/cron, word by word."""
    with pytest.raises(cron.CronError) as caught:
        cron.parse(text)
    assert str(caught.value) == said


@pytest.mark.parametrize(("name", "known"), [("Europe/Zurich", True), ("UTC", True), ("Nowhere/None", False), ("", True)])
def test_time_zones(name: str, known: bool) -> None:
    """Given the name of a zone, when looked up, then the database knows it or not; no name is UTC."""
    assert cron.is_time_zone(name) is known
