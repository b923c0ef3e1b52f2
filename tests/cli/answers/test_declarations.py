"""How the parameters of the command line are declared."""

from tests.cli.answers.declarations import FILE, declarations


def test_how_parameters_are_declared() -> None:
    """Given every command, when its parameters are looked at, then names, flags, types, ranges, how
    many words they take, and which paths must be there are what stands there.
    """
    assert declarations() == FILE.read_text().splitlines()
