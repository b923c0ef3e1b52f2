"""Everything that a live table prints, in plain lines and on a terminal."""

import io
import sys

import pytest

from fakekube.cli.live import LiveTable
from tests.cli.test_demos import Terminal


def table_on(output: io.StringIO, monkeypatch: pytest.MonkeyPatch, header: tuple[str, ...] = ("NAME", "KIND")) -> LiveTable:
    """A table that prints there, 60 columns wide."""
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    return LiveTable(header, lambda: "00:00:07")


def tell(table: LiveTable) -> None:
    """A little of everything."""
    table.say("Two are made.")
    table.put("a", ("a", "Pod"))
    table.put("a", ("a", "Pod"))
    table.put("b", ("b" * 24, "Job"))
    table.note("this is what an Event says in more words than a line of it has")
    table.paste("export KUBECONFIG=" + "x" * 60)
    table.quote("\nkind: Pod\n\n  metadata: {}\n")
    table.put("a", ("a", "Pods of a long kind"))
    table.drop("nobody")
    table.drop("b")
    table.end()
    table.drop("a")
    table.end()


def test_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no terminal, when a story is told, then each change is a line with its time below one
    header, columns grow with what comes, the same again is no line, and the end shows what is left.
    """
    output = io.StringIO()
    tell(table_on(output, monkeypatch))
    assert output.getvalue().splitlines() == [
        "", "Two are made.",
        "  TIME      NAME                    KIND",
        "  00:00:07  a                       Pod",
        "  00:00:07  bbbbbbbbbbbbbbbbbbbbbbbb  Job",
        "  00:00:07  this is what an Event says in more words than a",
        "            line of it has",
        "", "    export KUBECONFIG=" + "x" * 60,
        "", "    kind: Pod", "", "      metadata: {}",
        "  00:00:07  a                         Pods of a long kind",
        "  00:00:07  bbbbbbbbbbbbbbbbbbbbbbbb is gone",
        "", "At the end:", "    NAME  KIND", "    a     Pods of a long kind",
        "  00:00:07  a is gone",
        "", "At the end: no object of these is left."]


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a terminal, when a row comes, another is said, both go, then the table is erased and
    drawn again below each line, what is said is bold, no line tells of rows, and the end is shown
    only where nothing is left.
    """
    output = Terminal()
    table = table_on(output, monkeypatch)
    table.say("One is made.")
    table.skip_line()
    table.put("a", ("a", "Pod"))
    table.end()
    table.note("made")
    table.put("b", ("bcdef", "Job"))
    table.drop("a")
    table.drop("b")
    table.end()
    first = "    NAME  KIND\n    a     Pod\n"
    assert output.getvalue() == (
        "\x1b[1m\nOne is made.\x1b[0m\n" + first
        + "\x1b[2A\r\x1b[0J  00:00:07  made\n" + first
        + "\x1b[2A\r\x1b[0J    NAME   KIND\n    a      Pod\n    bcdef  Job\n"
        + "\x1b[3A\r\x1b[0J    NAME   KIND\n    bcdef  Job\n"
        + "\x1b[2A\r\x1b[0J\nAt the end: no object of these is left.\n")


@pytest.mark.parametrize(("header", "line"), [
    (("POD", "STATUS", "READY", "NODE"), "  TIME      POD                     STATUS       READY  NODE"),
    (("OBJECT", "KIND"), "  TIME      OBJECT                  KIND"),
    (("NAME", "X"), "  TIME      NAME                    X"),
])
def test_how_wide_columns_are_at_first(header: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given columns of names and statuses, when the first line comes, be it a note, then the header
    stands above it once, with room for what is usual.
    """
    output = io.StringIO()
    table = table_on(output, monkeypatch, header)
    table.note("a")
    table.note("b")
    assert output.getvalue().splitlines() == [line, "  00:00:07  a", "  00:00:07  b"]


def test_lines_are_at_most_so_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a very wide terminal, when something is said, then lines end at 100 columns, and words
    with hyphens stay whole.
    """
    output = io.StringIO()
    table = table_on(output, monkeypatch)
    monkeypatch.setenv("COLUMNS", "300")
    table.say(" ".join(["ab-cd-ef-"] * 11))
    assert [len(line) for line in output.getvalue().splitlines()] == [0, 99, 9]
    table.say("x" * 120)
    assert output.getvalue().splitlines()[-1] == "x" * 120
