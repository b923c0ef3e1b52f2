"""Regular expressions of users."""

import pytest

from fakekube.util.patterns import BadPattern, compiled


def test_a_pattern_matches_as_in_go() -> None:
    """Given a pattern / when it is searched for / then it matches anywhere, unless it is anchored.
    """
    assert compiled("b+").search("abba")
    assert not compiled("^b+").search("abba")
    assert compiled("a(b|c)").fullmatch("ac")


def test_a_pattern_cannot_hold_the_loop() -> None:
    """Given a pattern that takes backtracking matchers for ever / when it is searched for / then
    there is an answer at once.
    """
    assert not compiled("(a*)*$b").search("a" * 10_000)


@pytest.mark.parametrize(("text", "words"), [
    ("a(", "error parsing regexp: missing closing ): `a(`"),
    ("[z-a]", "error parsing regexp: invalid character class range: `z-a`"),
])
def test_what_is_no_pattern_says_why(text: str, words: str) -> None:
    """Given a text that is no pattern / when it is compiled / then the error reads as Go's."""
    with pytest.raises(BadPattern) as error:
        compiled(text)
    assert str(error.value) == words
