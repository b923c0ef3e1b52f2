"""Field selectors: ``metadata.name=x,status.phase!=Running``.

Only equality and inequality, joined by commas; a backslash takes the meaning from a comma, an
equals sign or a backslash in a value. Which fields a kind knows is the kind's business
(``registry.kind.Selectable``).
Upstream: apimachinery/pkg/fields/selector.go.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from fakekube.util.memory import memoized

_TERMS = re.compile(r"((?:\\.|[^,\\]|\\$)*)(?:,|$)", re.DOTALL)
_OPERATOR = re.compile("!=|==|=")
_ESCAPE = re.compile(r"\\(.|$)|([,=])", re.DOTALL)


class SelectorError(ValueError):
    """A selector that cannot be read; the message is upstream's."""


class Term(NamedTuple):
    """One comparison of one field; ``equal`` False for ``!=``."""

    field: str
    value: str
    equal: bool = True

    def __str__(self) -> str:
        return f"{self.field}{'=' if self.equal else '!='}{escape(self.value)}"


class Selector:
    """Terms that all have to hold, in the order of their texts.

    Without any, it matches everything; immutable.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: tuple[Term, ...] = ()) -> None:
        self.terms = terms

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self.terms

    def matches(self, values: Mapping[str, str]) -> bool:
        """Whether an object whose fields have these texts is selected; an absent field is the empty
        text.
        """
        return all((values.get(term.field, "") == term.value) == term.equal for term in self.terms)

    def exact(self, field: str) -> str | None:
        """The value that the selector demands of a field, or None."""
        return next((term.value for term in self.terms if term.field == field and term.equal), None)

    def transformed(self, change: Callable[[str, str], tuple[str, str]]) -> "Selector":
        """The same with every field and value passed through ``change``; a field turned empty drops
        its term.
        """
        found = [(change(term.field, term.value), term.equal) for term in self.terms]
        return Selector(tuple(Term(field, value, equal) for (field, value), equal in found if field or value))

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))

    def __repr__(self) -> str:
        return f"Selector({str(self)!r})"


EVERYTHING = Selector()


@memoized(1024, longest=4096)
def parse(text: str) -> Selector:
    """The selector that a text describes. Raises SelectorError."""
    if not text:
        return EVERYTHING
    found = []
    for part in sorted(_split(text)):
        if not part:
            continue
        operator = _OPERATOR.search(part)
        if operator is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        field, value = part[: operator.start()], unescape(part[operator.end() :])
        if field or value:  # a comparison of nothing with nothing selects everything
            found.append(Term(field, value, operator[0] != "!="))
    return Selector(tuple(found))


def _split(text: str) -> list[str]:
    found, position = [], 0
    while position <= len(text):
        match = _TERMS.match(text, position)
        assert match is not None, "the pattern matches the empty text"
        found.append(match[1])
        position = match.end() + (match.end() == len(text) and not match[0].endswith(","))
    return found


def unescape(text: str) -> str:
    """A value without its backslashes. Raises SelectorError."""

    def plain(match: re.Match[str]) -> str:
        if match[2]:
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(match[2])}")
        if match[1] not in ("\\", ",", "="):
            raise SelectorError(f"invalid field selector: invalid escape sequence: {match[0]}")
        return match[1]

    return _ESCAPE.sub(plain, text)


def escape(text: str) -> str:
    """A value with backslashes before what has a meaning in a selector."""
    return re.sub(r"[\\,=]", lambda match: "\\" + match[0], text)
