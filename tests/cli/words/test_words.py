"""The command line's own words."""

from tests.cli.words.words import FOLDER, all_lines


def test_what_the_command_line_says() -> None:
    """Given lines with a broken option each, and some short ones, when they are given, then what is
    said is what stands there.
    """
    assert all_lines() == (FOLDER / "said.txt").read_text().splitlines()
