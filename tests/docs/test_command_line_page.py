"""The page about the command line names what there is."""

from pathlib import Path

from fakekube.cli.main import cli

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()


def test_every_command_is_named() -> None:
    """Given the commands, when the page is read, then each is there."""
    assert [name for name in cli.commands if f"`fakekube {name}`" not in PAGE] == []


def test_the_options_that_write_or_read_are_told() -> None:
    """Given the options of ``serve`` that the page is about, when they are looked up, then they
    exist, and the page names them.
    """
    options = {opt for option in cli.commands["serve"].params for opt in option.opts}
    for option in ("--kubeconfig", "--ready-file", "--load"):
        assert option in options
        assert f"`{option}" in PAGE or f" {option} " in PAGE
