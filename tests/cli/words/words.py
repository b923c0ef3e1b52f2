"""How the command line refuses what is broken, what short commands print, and its help.

``python -m tests.cli.words.words`` writes it down again, for review.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from fakekube.cli.main import cli

FOLDER = Path(__file__).parent


def said(words: list[str]) -> list[str]:
    """The exit code, and every line."""
    runner = CliRunner(env={"COLUMNS": "100", "KUBECONFIG": "", "HOME": "/nowhere"})
    result = runner.invoke(cli, words, prog_name="fakekube", terminal_width=100)
    return [f"$ fakekube {shlex.join(words)}", f"exit code {result.exit_code}", *result.output.splitlines()]


def all_lines() -> list[str]:
    """Of every line that is broken what is said to it."""
    lines = map(shlex.split, (FOLDER / "broken.txt").read_text().splitlines())
    return [line for words in lines for line in said(words)]


def helps() -> list[str]:
    """The help of every command, and the schemas of the files that people write."""
    asked = [[*words, "--help"] for words in _commands(cli, ())]
    return [line for words in [*asked, ["schema", "config"], ["schema", "faults"]] for line in said(words)]


def _commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from _commands(below, (*words, name))


if __name__ == "__main__":
    (FOLDER / "said.txt").write_text("\n".join(all_lines()) + "\n")
    (FOLDER / "helps.txt").write_text("\n".join(helps()) + "\n")
