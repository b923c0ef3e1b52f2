"""The plugin's own words."""

from tests.plugin.answers.words import FILE, lines


def test_what_the_help_of_pytest_says() -> None:
    """Given the plugin, when it adds its options, then their names, types and texts are what stands
    there, and so is its marker.
    """
    assert list(lines()) == FILE.read_text().splitlines()
