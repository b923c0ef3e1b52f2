"""What the printers share: durations, lists that are cut short, labels."""

import csv
from pathlib import Path

import pytest

from fakekube.apimachinery.ages import human_duration, since
from fakekube.apis.catalog import catalog
from fakekube.apis.printing import columns, format_labels, format_selector, limited

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "columns-1.37.tsv"
MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"), (-1.5, "0s"), (-0.5, "0s"), (0, "0s"), (1.9, "1s"), (119, "119s"), (120, "2m"), (121,
         "2m1s"),
        (9 * MINUTE + 59, "9m59s"), (10 * MINUTE + 1, "10m"), (179 * MINUTE, "179m"), (3 * HOUR, "3h"),
        (3 * HOUR + 20 * MINUTE, "3h20m"), (8 * HOUR + 20 * MINUTE, "8h"), (47 * HOUR, "47h"), (2 * DAY, "2d"),
        (7 * DAY + 23 * HOUR, "7d23h"), (8 * DAY + HOUR, "8d"), (729 * DAY, "729d"), (730 * DAY, "2y"),
        (800 * DAY, "2y70d"), (8 * 365 * DAY + 3 * DAY, "8y"),
    ],
)  # fmt: skip
def test_durations_read_as_kubectl_writes_them(seconds: float, text: str):
    """Given a span / when printed / then with the one or two units that kubectl users know."""
    assert human_duration(seconds) == text


def test_ages_of_unknown_times_are_unknown():
    """Given no time or one that is none / when an age is asked / then <unknown>."""
    assert since(None, 0) == "<unknown>"
    assert since("yesterday", 0) == "<unknown>"
    assert since("1970-01-01T00:00:10Z", 75) == "65s"
    assert since("1970-01-01T00:00:10.500000Z", 75) == "64s"


def test_long_lists_say_how_much_is_missing():
    """Given lists around the limit / when printed / then only longer ones are cut."""
    assert limited([], 3) == "<unset>"
    assert limited(["a", "b", "c"], 3) == "a,b,c"
    assert limited(["a", "b", "c", "d", "e"], 3) == "a,b,c + 2 more..."


def test_labels_and_selectors_are_sorted_text():
    """Given maps and selectors / when printed / then sorted, and words for none and for broken
    ones.
    """
    assert format_labels({"b": "2", "a": "1"}) == "a=1,b=2"
    assert format_labels(None) == "<none>"
    expressions = [{"key": "b", "operator": "In", "values": ["y", "x"]}, {"key": "a", "operator": "DoesNotExist"}]
    assert format_selector({"matchLabels": {"c": "1"}, "matchExpressions": expressions}) == "!a,b in (x,y),c=1"
    assert format_selector({}) == "<none>"
    assert format_selector(None) == "<none>"
    assert format_selector({"matchExpressions": [{"key": "a", "operator": "Near"}]}) == "<error>"


def test_columns_are_written_short():
    """Given specs / when read / then type, format and priority are what they say."""
    name, desired, selector = columns("Name", "Desired:integer", "Selector+")
    assert (name.type, name.format, name.priority) == ("string", "name", 0)
    assert (desired.type, desired.format, desired.priority) == ("integer", "", 0)
    assert (selector.type, selector.format, selector.priority) == ("string", "", 1)


def test_every_printer_copes_with_an_empty_object():
    """Given an object with a name only / when any kind prints it / then one cell a column comes
    out.
    """
    for kind in catalog("1.37", {}, {"api/all": True}).kinds:
        if kind.printer is not None:
            cells = kind.printer.cells({"kind": kind.kind, "metadata": {"name": "x"}}, 0.0)
            # upstream prints an age that has no column
            extra = 1 if kind.plural == "ipaddresses" else 0
            assert len(cells) == len(kind.printer.columns) + extra, kind


@pytest.mark.spec("API-070")
def test_the_columns_are_those_of_a_real_server():
    """Given the columns that a server answers / when compared / then names, types, formats and
    priorities agree.
    """
    if not RECORDED.exists():
        pytest.skip(f"no recorded columns here ({RECORDED})")
    expected: dict[tuple[str, str, str], list[tuple[str, str, str, int]]] = {}
    with RECORDED.open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            key = ("" if row["group"] == "core" else row["group"], row["version"], row["resource"])
            column = (row["column"], row["type"], row["format"] or "", int(row["priority"]))
            expected.setdefault(key, []).append(column)
    got = {}
    for kind in catalog("1.37", {}, {"api/all": True}).kinds:
        if kind.table:
            shown = kind.printer.columns if kind.printer else columns("Name", "Created At:date")
            got[kind.group, kind.version, kind.plural] = [(c.name, c.type, c.format, c.priority) for c in shown]
    assert got == expected
