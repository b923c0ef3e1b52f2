"""The help of all commands, and the schemas that the command line prints."""

from tests.cli.answers.helps import FILE, helps


def test_what_help_says() -> None:
    """Given every command, when its help is asked for, and the schemas of the files that people
    write, then what is said is what stands there: options with their defaults and ranges, in order.
    """
    assert helps() == FILE.read_text().splitlines()
