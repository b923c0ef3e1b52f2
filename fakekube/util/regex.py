"""Regular expressions that users send: RE2's, as in Go, whose time is linear in the text.

``re`` would let one expression hold the server for minutes. Upstream: Go's regexp package. Left
out: where the two read an expression differently, which is in repetitions above 1000 alone.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Protocol

from fakekube.util.memory import memoized


class Match(Protocol):
    """Where an expression was found; as in ``re``."""

    def group(self, group: int | str = 0, /) -> str | None:
        """The text of a group; None where it is no part of what was found."""

    def groups(self) -> tuple[str | None, ...]:
        """The texts of all groups."""

    def span(self, group: int = 0, /) -> tuple[int, int]:
        """Where the text of a group begins and ends."""


class Expression(Protocol):
    """A compiled expression; as in ``re``."""

    @property
    def programsize(self) -> int:
        """How many instructions it has."""

    def search(self, text: str, pos: int = 0, /) -> Match | None:
        """Where it is found first, from a position on; what stands before it still counts."""

    def fullmatch(self, text: str, /) -> Match | None:
        """Whether it is the whole text."""

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Where it is found, one after the other."""


# what RE2 calls a mistake, and what Go does
_IN_GO = MappingProxyType({
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "trailing \\": "trailing backslash at end of expression",
    "invalid repetition size": "invalid repeat count",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid named capture group": "invalid named capture",
    "pattern too large - compile failed": "expression too large",
})


class RegexError(ValueError):
    """An expression that is none; says what Go says."""


@memoized(256)
def compiled(pattern: str) -> Expression:
    """An expression to search with.

    Raises RegexError, worded as Go does: "error parsing regexp: missing closing ): `(a`".
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        found: Expression = re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0]
        text = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        raise RegexError(_worded(text)) from None
    return found


def instructions(pattern: str) -> int:
    """How large an expression is once it is compiled, 0 for one that is none.

    A class of many characters, repeated, has a hundred thousand.
    """
    try:
        return compiled(pattern).programsize
    except RegexError:
        return 0


def _worded(text: str) -> str:
    code, _, part = text.partition(": ")
    return f"error parsing regexp: {_IN_GO.get(code, code)}: `{part}`"
