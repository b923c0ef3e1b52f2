"""What the command line says of itself, and how it refuses: help of every command, broken options.

``python -m tests.cli.words.words`` writes it down again, for review.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from fakekube.cli.main import cli

FOLDER = Path(__file__).parent


def commands(command: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that lead to each command."""
    yield path
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from commands(command.commands[name], (*path, name))


def said(words: list[str]) -> list[str]:
    """The exit code, and every line."""
    runner = CliRunner(env={"COLUMNS": "100", "KUBECONFIG": "", "HOME": "/nowhere"})
    result = runner.invoke(cli, words, prog_name="fakekube", terminal_width=100)
    return [f"$ fakekube {shlex.join(words)}", f"exit code {result.exit_code}", *result.output.splitlines()]


def all_lines() -> list[str]:
    """Of every command its help, and of every broken line what is said to it."""
    broken = map(shlex.split, (FOLDER / "broken.txt").read_text().splitlines())
    return [line for words in [*([*path, "--help"] for path in commands()), *broken] for line in said(words)]


if __name__ == "__main__":
    (FOLDER / "said.txt").write_text("\n".join(all_lines()) + "\n")
