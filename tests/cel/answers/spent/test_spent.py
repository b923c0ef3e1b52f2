"""What evaluations spend, and where they end."""

from tests.cel.answers.spent.spent import FOLDER, lines


def test_what_expressions_spend() -> None:
    """Given expressions, when they run with much to spend, in turns, and with little, then cost,
    work, turns and ends are those that stand in the table.
    """
    assert lines() == (FOLDER / "spent.txt").read_text().splitlines()
