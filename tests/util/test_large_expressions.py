"""Expressions that are too large for some texts, or for all."""

import pytest

from fakekube.util import regex

LETTERS = r"(?:\pL\PL){500}"


def test_what_is_too_large_for_all_texts_is_refused() -> None:
    """Given an expression that is too large, and not of ASCII / when it is compiled / then it is
    refused with all of it, as Go does.
    """
    with pytest.raises(regex.RegexError) as error:
        regex.compiled(f"\u00e4{LETTERS}")
    assert str(error.value) == f"error parsing regexp: expression too large: `\u00e4{LETTERS}`"


def test_what_is_too_large_for_some_texts_is_not_found_there() -> None:
    """Given an expression that is small for ASCII alone / when it is searched for / then it is
    found there, and in no other text; there it has no size.
    """
    found = regex.compiled(LETTERS)
    text = "a1" * 500
    assert list(found.spans(f"-{text}-{text}")) == [(1, 1001), (1002, 2002)]
    assert (list(found.spans(f"\u00e4{text}")), found.is_in(f"\u00e4{text}"), found.is_in(text)) == ([], False, True)
    assert (found.instructions("\u00e4"), found.instructions("a") > 1000) == (0, True)
