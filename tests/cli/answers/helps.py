"""The help of every command, and the schemas of the files that people write.

``python -m tests.cli.answers.helps`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from fakekube.cli.main import cli
from tests.cli.words.words import said

FILE = Path(__file__).parent / "helps.txt"


def helps() -> list[str]:
    """All that is said, by command."""
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
    FILE.write_text("\n".join(helps()) + "\n")
