"""What expressions come to, to the last letter."""

from tests.cel.answers.answers import FOLDER, answer, expressions


def test_what_expressions_come_to() -> None:
    """Given expressions, when they are compiled and run, then value, type, cost and refusals are
    those that stand in the table.
    """
    assert [answer(text) for text in expressions()] == (FOLDER / "answers.txt").read_text().splitlines()
