"""Regular expressions that users send: in Go's dialect, in time linear to the text.

They run on RE2, as Go's do, never on ``re``: a pattern must not be able to hold the loop. Upstream:
the package regexp.
"""

from typing import Protocol, cast

from fakekube.util.memory import memoized

GO_WORDS = {
    "missing )": "missing closing )", "missing ]": "missing closing ]", "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator", "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax", "invalid named capture group": "invalid named capture",
}
"""Go's words for what RE2 says."""


class BadPattern(ValueError):
    """A text that is no regular expression; the message says why, in Go's words."""


class Pattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str) -> object | None:
        """Where it first matches; None when nowhere."""

    def fullmatch(self, text: str) -> object | None:
        """Whether it matches all of a text; None when not."""


@memoized(1024)
def compiled(text: str) -> Pattern:
    """A regular expression. Raises BadPattern."""
    import re2  # most clusters never see a pattern

    options = re2.Options()
    options.log_errors = False
    try:
        return cast("Pattern", re2.compile(text, options))
    except re2.error as error:
        why = error.args[0] if error.args else ""
        words = why.decode() if isinstance(why, bytes) else str(why)
        name, _, what = words.partition(": ")
        raise BadPattern(f"error parsing regexp: {GO_WORDS.get(name, name)}: `{what}`") from None
