"""What selectors of devices and expressions of admission may cost."""

from tests.cel.answers.estimated.estimated import FILE, lines


def test_what_expressions_may_cost() -> None:
    """Given expressions on a device and on an admission request, when they are compiled, then type
    and estimates are those that stand in the table, and nothing else compiles.
    """
    assert [*lines()] == FILE.read_text().splitlines()
