"""What is said of wrong parts of definitions, word for word."""

from tests.apiextensions.refusals.told import FOLDER, lines


def test_what_is_said_of_what_is_wrong() -> None:
    """Given schemas, columns, paths and rules with mistakes, and some without / when they are
    looked at / then what is said is what stands there: all of it, in upstream's words and order.
    """
    assert "\n".join(lines()).split("\n") == (FOLDER / "told.txt").read_text().removesuffix("\n").split("\n")
