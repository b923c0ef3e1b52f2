"""A table that is redrawn in place, with lines of a story scrolling above it; on no terminal, plain
lines.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence

import click

CLEAR_BELOW = "\x1b[0J"
MAX_COLUMNS = 100
PLAIN_WIDTHS = {"NAME": 22, "POD": 22, "OBJECT": 22, "STATUS": 11}
"""How wide columns are in plain lines, which come one by one, before something longer came; others
as their headers.
"""
INDENT = "    "


class LiveTable:
    """Rows by key, in the order in which they came.

    ``clock()`` gives the time that stands in front of lines.
    """

    def __init__(self, header: Sequence[str], clock: Callable[[], str]) -> None:
        self.header = tuple(header)
        self.rows: dict[str, tuple[str, ...]] = {}
        self._clock = clock
        self._drawn = 0
        self._terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._widths = [PLAIN_WIDTHS.get(name, len(name)) for name in self.header]
        self._has_header = False

    def say(self, text: str) -> None:
        """A line of the story."""
        told = "\n" + _wrapped(text)
        self._line(click.style(told, bold=True) if self._terminal else told)

    def paste(self, line: str) -> None:
        """A line to be pasted somewhere, so that it is never broken."""
        self._line(f"\n{INDENT}{line}")

    def quote(self, text: str) -> None:
        """Lines as they are, for people who want to do the same."""
        self._line("\n" + "\n".join(f"{INDENT}{line}".rstrip() for line in text.strip("\n").splitlines()))

    def note(self, text: str) -> None:
        """A line of what happens."""
        self._put_header()
        before = f"  {self._clock()}  "
        self._line(_wrapped(text, before, " " * len(before)))

    def skip_line(self) -> None:
        """A line was typed below the table, and is to be erased with it."""
        if self._drawn:
            self._drawn += 1

    def put(self, key: str, row: Sequence[str]) -> None:
        """Set a row."""
        changed = self.rows.get(key) != tuple(row)
        self.rows[key] = tuple(row)
        if changed and not self._terminal:
            self._put_plain(row)
        self._draw()

    def drop(self, key: str) -> None:
        """Take a row out."""
        row = self.rows.pop(key, None)
        if row is not None and not self._terminal:
            self._line(f"  {self._clock()}  {row[0]} is gone")
        self._draw()

    def end(self) -> None:
        """Show what there is at the end; on a terminal it is there already, unless it is nothing.
        """
        if not self.rows:
            self._line("\nAt the end: no object of these is left.")
        elif not self._terminal:
            self._line("\nAt the end:")
            for line in self._lines():
                self._line(line)

    def _put_plain(self, row: Sequence[str]) -> None:
        self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, row, strict=True)]
        self._put_header()
        self._line(f"  {self._clock()}  {self._cells(row)}")

    def _put_header(self) -> None:
        """Before the first of the plain lines."""
        if not self._terminal and not self._has_header:
            self._has_header = True
            self._line(f"  {'TIME':<8}  {self._cells(self.header)}")

    def _cells(self, row: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, self._widths, strict=True)).rstrip()

    def _line(self, text: str) -> None:
        self._erase()
        click.echo(text)
        self._draw()

    def _erase(self) -> None:
        if self._drawn:
            click.echo(f"\x1b[{self._drawn}A\r{CLEAR_BELOW}", nl=False)
            self._drawn = 0

    def _draw(self) -> None:
        if not self._terminal:
            return
        self._erase()
        if not self.rows:
            return
        columns = shutil.get_terminal_size().columns
        lines = self._lines()
        for line in lines:
            click.echo(line[:columns])  # a line that the terminal breaks would be erased by half
        self._drawn = len(lines)

    def _lines(self) -> list[str]:
        table = [self.header, *self.rows.values()]
        widths = [max(len(row[place]) for row in table) + 2 for place in range(len(self.header))]
        return [INDENT + "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _wrapped(text: str, first: str = "", others: str = "") -> str:
    """A text in lines that fit; words are never broken, so that they can be searched for and
    copied.
    """
    return textwrap.fill(
        text, min(shutil.get_terminal_size().columns, MAX_COLUMNS), initial_indent=first, subsequent_indent=others,
        break_long_words=False, break_on_hyphens=False)
