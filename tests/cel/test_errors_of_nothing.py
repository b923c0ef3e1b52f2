"""An expression without a letter."""

from fakekube.cel.errors import Issue, render


def test_nothing_is_told_of_before_the_first_column():
    """Given an empty expression, and one of a blank / when their end is complained of / then the
    first has no column, and neither shows a line that has nothing.
    """
    assert render("", [Issue("x", 0)]) == "ERROR: <input>:1:0: x"
    assert render(" ", [Issue("x", 1)]).startswith("ERROR: <input>:1:2: x")
