"""Names with ``*`` and ``?`` in them, which stand for any characters and for any one.

They run on RE2, whose time is linear in the text: a name comes with every request.
"""

from collections.abc import Iterable

from fakekube.util.regex import Expression, compiled

WILD = {"*": ".*", "?": "."}
LONGEST = 1_024
"""Characters of one pattern: names of objects have 253 at most, user agents mostly fewer."""
MOST_WILD_CHARACTERS = 32
"""Stars and question marks of one pattern: RE2 takes steps for each at every character."""
LONGEST_TEXT = 8_192
"""Characters of what is compared; no pattern fits what is longer."""


class Globs:
    """Several patterns, of which one must fit."""

    __slots__ = ("_expressions", "_plain")

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._plain = frozenset(pattern for pattern in patterns if not is_wild(pattern))
        self._expressions: tuple[Expression, ...] = tuple(
            compiled("(?s)\\A" + "".join(WILD.get(one) or f"\\x{{{ord(one):x}}}" for one in pattern) + "\\z")
            for pattern in patterns if is_wild(pattern))

    def fit(self, text: str) -> bool:
        """Whether one of them is, or stands for, the text."""
        if text in self._plain:
            return True
        if len(text) > LONGEST_TEXT:
            return False
        if self._expressions and not text.isascii():  # a header may hold bytes that are no UTF-8
            text = text.encode(errors="replace").decode()
        return any(one.is_in_any(text) for one in self._expressions)


def is_wild(pattern: str) -> bool:
    """Whether a pattern stands for more than itself."""
    return not WILD.keys().isdisjoint(pattern)


def wildness(pattern: str) -> int:
    """How many stars and question marks a pattern has."""
    return sum(pattern.count(one) for one in WILD)
