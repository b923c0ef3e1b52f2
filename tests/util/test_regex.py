"""Regular expressions of users."""

import pytest

from fakekube.util.regex import RegexError, compiled


@pytest.mark.parametrize(("pattern", "text"), [
    ("(abc", "missing closing ): `(abc`"),
    ("abc)", "unexpected ): `abc)`"),
    ("[abc", "missing closing ]: `[abc`"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("[z-a]", "invalid character class range: `z-a`"),
    ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ("\\", "trailing backslash at end of expression: ``"),
    ("*a", "missing argument to repetition operator: `*`"),
    ("\\q", "invalid escape sequence: `\\q`"),
])
def test_a_mistake_is_told_as_go_tells_it(pattern: str, text: str) -> None:
    """Given a text that is no expression, when it is compiled, then the error is Go's."""
    with pytest.raises(RegexError) as error:
        compiled(pattern)
    assert str(error.value) == f"error parsing regexp: {text}"


def test_an_expression_that_would_hold_others_for_ever_is_searched_in_time() -> None:
    """Given an expression that backtracks elsewhere, when it is searched, then it answers."""
    assert compiled("^(a+)+$").search("a" * 50_000 + "b") is None
    assert compiled("^(a+)+$").search("a" * 50_000) is not None


def test_what_matches_is_what_go_finds() -> None:
    """Given an expression, when a text is searched, then it may stand anywhere in it."""
    assert compiled("[a-z]+[0-9]").search("--ab7--") is not None
    assert compiled("^[a-z]+$").search("ab\n") is None
