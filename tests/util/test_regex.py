"""Regular expressions of users."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util import regex
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
    assert not compiled("^(a+)+$").is_in("a" * 50_000 + "b")
    assert compiled("^(a+)+$").is_in("a" * 50_000)


def test_what_matches_is_what_go_finds() -> None:
    """Given an expression, when a text is searched, then it may stand anywhere in it."""
    assert compiled("[a-z]+[0-9]").is_in("--ab7--")
    assert not compiled("^[a-z]+$").is_in("ab\n")


PARTS = st.sampled_from((
    "a", "B", "é", "K", ".", "[^a]", "[a-z]", r"\pL", r"\w", r"\W", r"\b", "^", "$", "(?i)k", r"[\x{e9}-\x{ff}]", r"\x{4e00}",
    "(a|b)", "a*", "x{2,3}", r"\D", r"[[:alpha:]]"))
TEXTS = st.text(alphabet="aBkKxé\u212a一 \n7", max_size=12)


@given(pattern=st.lists(PARTS, max_size=4).map("".join), text=TEXTS)
def test_texts_in_ascii_and_others_are_searched_alike(pattern: str, text: str) -> None:
    """Given any expression and text / then it is found where RE2 finds it."""
    options = re2.Options()
    options.log_errors = False
    try:
        expected = [found.span() for found in re2.compile(pattern, options).finditer(text)]
    except re2.error:
        with pytest.raises(RegexError):
            compiled(pattern)
        return
    assert list(compiled(pattern).spans(text)) == expected
    assert compiled(pattern).is_in(text) is bool(expected)


def test_what_is_large_is_made_ready_for_the_texts_that_need_it() -> None:
    """Given a class of many characters, repeated / when it is searched in ASCII / then it is small;
    in other texts it is large, and found all the same; too large, it is found in ASCII alone.
    """
    letters = compiled(r"^\pL{1,60}$")
    assert letters.is_in("abc")
    assert letters.instructions("abc") < 1000 < 50_000 < letters.instructions("äbc")
    assert letters.is_in("äbc")
    assert not letters.is_in("äbc1")
    beyond = compiled(r"^\pL{1,1000}$")
    assert beyond.is_in("abc")
    assert not beyond.is_in("äbc")


def test_what_is_kept_is_bounded_in_bytes() -> None:
    """Given expressions of any size / then each program may use what its memo says, no more."""
    assert regex.SMALL_BYTES * 256 + regex.MAX_BYTES * 8 <= 128 * 1024 * 1024
