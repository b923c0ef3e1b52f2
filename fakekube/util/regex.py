r"""Regular expressions that users send: RE2's, as in Go, whose time is linear in the text.

``re`` would let one expression hold the server for minutes. RE2 makes steps over bytes of an
expression, and a letter of any language (``\pL``) is a thousand of them. So an expression in ASCII
is compiled for texts in ASCII first, which most texts are, and for all others when one comes. What
is kept of compiled expressions is bounded, by their number and by the memory that each may use.
Upstream: Go's regexp package. Left out: where the two read an expression differently, which is in
repetitions above 1000 alone; and what takes RE2 more than ``MAX_BYTES``, which is found nowhere but
in ASCII.
"""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Protocol

from fakekube.util.memory import memoized

SMALL_BYTES, MAX_BYTES = 256 * 1024, 8 * 1024 * 1024
"""What nearly every expression gets along with, and what one may use."""


SHORT_CHARACTERS = 64
"""Of names, types and reasons, which are searched again and again."""

LONG_CHARACTERS = 4096
"""Of an expression; of those that have more, only a few are kept."""


class _Match(Protocol):
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""


class _Program(Protocol):
    """What RE2 makes of an expression, for texts or for bytes; as in ``re``."""

    @property
    def programsize(self) -> int:
        """How many instructions it has."""

    def search(self, text: str | bytes, /) -> _Match | None:
        """Where it is found first."""

    def finditer(self, text: str | bytes, /) -> Iterator[_Match]:
        """Where it is found, one after the other."""


_ANY_BYTE = "\\C"
"""What RE2 reads as any byte, and Go does not know."""
_LITERAL = re.compile(r"\\\\|\\Q.*?(?:\\E|$)", re.DOTALL)
_TOO_LARGE = "pattern too large - compile failed"
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
    _TOO_LARGE: "expression too large",
})


class RegexError(ValueError):
    """An expression that is none; says what Go says."""


class Expression:
    """A compiled expression."""

    __slots__ = ("_for_ascii", "_pattern")

    def __init__(self, pattern: str) -> None:
        """Raises RegexError."""
        if _ANY_BYTE in pattern and _ANY_BYTE in _LITERAL.sub("", pattern):
            raise RegexError(f"error parsing regexp: invalid escape sequence: `{_ANY_BYTE}`")
        self._pattern = pattern
        self._for_ascii = _for_ascii(pattern) if pattern.isascii() else None
        if self._for_ascii is None and _for_all(pattern) is None:
            raise RegexError(_worded(f"{_TOO_LARGE}: {pattern}"))

    def is_in(self, text: str) -> bool:
        """Whether it is found anywhere in a text."""
        return _is_in_short(self._pattern, text) if len(text) <= SHORT_CHARACTERS else self.is_in_any(text)

    def is_in_any(self, text: str) -> bool:
        """The same, always searched for."""
        if self._for_ascii is not None and text.isascii():
            return self._for_ascii.search(text.encode()) is not None
        program = self._program(text)
        return program is not None and program.search(text) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it is found, one after the other: where each begins and ends."""
        program = self._program(text)
        if program is None:
            return
        for found in program.finditer(text.encode() if program is self._for_ascii else text):
            yield found.span()

    def instructions(self, text: str) -> int:
        """How large it is, compiled for such a text.

        A class of many characters, repeated, has a hundred thousand.
        """
        program = self._program(text)
        return 0 if program is None else program.programsize

    def _program(self, text: str) -> _Program | None:
        if self._for_ascii is not None and text.isascii():
            return self._for_ascii
        return _for_all(self._pattern)


@memoized(2048, longest=LONG_CHARACTERS)
def _is_in_short(pattern: str, text: str) -> bool:
    return compiled(pattern).is_in_any(text)


def compiled(pattern: str) -> Expression:
    """An expression to search with.

    Raises RegexError, worded as Go does: "error parsing regexp: missing closing ): `(a`".
    """
    return _short(pattern) if len(pattern) <= LONG_CHARACTERS else _long(pattern)


@memoized(256, longest=LONG_CHARACTERS)
def _short(pattern: str) -> Expression:
    return Expression(pattern)


@memoized(8)
def _long(pattern: str) -> Expression:
    return Expression(pattern)


def instructions(pattern: str, text: str) -> int:
    """How large an expression is that is to be searched in a text, 0 for one that is none."""
    try:
        return compiled(pattern).instructions(text)
    except RegexError:
        return 0


def _for_ascii(pattern: str) -> _Program | None:
    """The program for bytes below 128; None if there is none, as of characters beyond 255."""
    try:
        return _program(pattern.encode(), SMALL_BYTES) or _program(pattern.encode(), MAX_BYTES)
    except RegexError:
        return None


def _for_all(pattern: str) -> _Program | None:
    """The program for any text; None if it is too large. Raises RegexError."""
    return (_small(pattern) if len(pattern) <= LONG_CHARACTERS else None) or _large(pattern)


@memoized(256, longest=LONG_CHARACTERS)
def _small(pattern: str) -> _Program | None:
    return _program(pattern, SMALL_BYTES)


@memoized(8)
def _large(pattern: str) -> _Program | None:
    return _program(pattern, MAX_BYTES)


def _program(pattern: str | bytes, size: int) -> _Program | None:
    """The program of so many bytes; None if it takes more. Raises RegexError."""
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, size
    if isinstance(pattern, bytes):
        options.encoding = re2.Options.Encoding.LATIN1
    try:
        program: _Program = re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0]
        text = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        if text == _TOO_LARGE:
            return None
        raise RegexError(_worded(text)) from error
    return program


def _worded(text: str) -> str:
    code, _, part = text.partition(": ")
    return f"error parsing regexp: {_IN_GO.get(code, code)}: `{part}`"
