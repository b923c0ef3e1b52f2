"""Every parameter of every command, as it is declared: what help does not say too.

``python -m tests.cli.answers.declarations`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fakekube.cli.main import cli

FILE = Path(__file__).parent / "declarations.txt"
SAID_ELSEWHERE = frozenset({"name", "help", "metavar", "default", "show_default", "param_type_name"})
"""The name stands at the beginning of the line; help says the others."""


def declarations() -> list[str]:
    """A line for each command, and one for each of its parameters."""
    return list(_lines("fakekube", cli))


def _lines(name: str, command: click.Command) -> Iterator[str]:
    yield f"{name}  {command.context_settings or ''}".rstrip()
    for parameter in command.params:
        yield f"  {parameter.name}: {_declared(parameter.to_info_dict())}"
    if isinstance(command, click.Group):
        for below, one in sorted(command.commands.items()):
            yield from _lines(f"{name} {below}", one)


def _declared(tree: dict[str, Any]) -> str:
    kind = {key: value for key, value in tree.pop("type").items() if value not in (False, None)}
    said = {key: value for key, value in tree.items() if key not in SAID_ELSEWHERE and value not in (False, None)}
    return "; ".join([*_told(said), f"type {', '.join(_told(kind))}"])


def _told(tree: dict[str, Any]) -> list[str]:
    return [f"{key} {' '.join(map(str, value)) if isinstance(value, list | tuple) else value}" for key, value in tree.items()]


if __name__ == "__main__":
    FILE.write_text("\n".join(declarations()) + "\n")
