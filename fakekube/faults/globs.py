"""Names with ``*`` and ``?`` in them, which stand for any characters and for any one.

They run on RE2, whose time is linear in the text: a name comes with every request.
"""

from collections.abc import Iterable

from fakekube.util.regex import Expression, compiled

WILD = {"*": ".*", "?": "."}
LONGEST = 1_024
"""Characters of one pattern: names of objects have 253 at most, user agents mostly fewer."""


class Globs:
    """Several patterns, of which one must fit."""

    __slots__ = ("_expressions", "_plain")

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._plain = frozenset(pattern for pattern in patterns if not _is_wild(pattern))
        self._expressions: tuple[Expression, ...] = tuple(
            compiled("(?s)\\A" + "".join(WILD.get(one) or f"\\x{{{ord(one):x}}}" for one in pattern) + "\\z")
            for pattern in patterns if _is_wild(pattern))

    def fit(self, text: str) -> bool:
        """Whether one of them is, or stands for, the text."""
        if text in self._plain:
            return True
        if self._expressions and not text.isascii():  # a header may hold bytes that are no UTF-8
            text = text.encode(errors="replace").decode()
        return any(one.is_in_any(text) for one in self._expressions)


def _is_wild(pattern: str) -> bool:
    return not WILD.keys().isdisjoint(pattern)
