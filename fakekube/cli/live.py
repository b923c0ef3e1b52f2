"""A table that is redrawn in place, with lines of a story scrolling above it; on no terminal, plain lines."""

import sys
from collections.abc import Callable, Sequence

import click

CLEAR_BELOW = "\x1b[0J"
MAX_NOTE = 100


class LiveTable:
    """Rows by key, in the order in which they came. ``clock()`` gives the time that stands in front of lines."""

    def __init__(self, header: Sequence[str], clock: Callable[[], str]) -> None:
        self.header = tuple(header)
        self.rows: dict[str, tuple[str, ...]] = {}
        self._clock = clock
        self._drawn = 0
        self._terminal = sys.stdout.isatty()

    def say(self, text: str) -> None:
        """A line of the story."""
        self._line(click.style(f"\n{text}", bold=True) if self._terminal else f"\n{text}")

    def note(self, text: str) -> None:
        """A line of what happens."""
        self._line(f"  {self._clock()}  {text[:MAX_NOTE]}")

    def put(self, key: str, row: Sequence[str]) -> None:
        """Set a row."""
        changed = self.rows.get(key) != tuple(row)
        self.rows[key] = tuple(row)
        if changed and not self._terminal:
            self._line("  " + self._clock() + "  " + "  ".join(f"{cell:<12}" for cell in row).rstrip())
        self._draw()

    def drop(self, key: str) -> None:
        """Take a row out."""
        row = self.rows.pop(key, None)
        if row is not None and not self._terminal:
            self._line(f"  {self._clock()}  {row[0]} is gone")
        self._draw()

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
        table = [self.header, *self.rows.values()]
        widths = [max(len(row[i]) for row in table) + 2 for i in range(len(self.header))]
        for row in table:
            click.echo("    " + "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        self._drawn = len(table)
