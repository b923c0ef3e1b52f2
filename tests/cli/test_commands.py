"""The help of every command."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from fakekube.cli.main import cli

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = [
    ("serve",), ("clock",), *(("clock", name) for name in ("now", "advance", "set", "pause", "resume")),
    ("cel",), ("schema",), ("snapshot",), ("diff",), ("demo",), ("demo", "job"), ("demo", "rollout"),
]


def command(*names: str) -> click.Command:
    found: click.Command = cli
    for name in names:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    return found


def test_the_help_names_every_command(fakekube: Run) -> None:
    """Given the program alone, when its help is asked for, then every command is in it with a line
    of its own.
    """
    done = fakekube("--help")
    assert done.returncode == 0
    for name, one in cli.commands.items():
        assert any(line.split()[:1] == [name] and one.get_short_help_str(20)[:10] in line for line in done.stdout.splitlines())
    assert fakekube("--version").stdout.startswith("fakekube, version ")


@pytest.mark.parametrize("names", COMMANDS)
def test_every_option_is_explained(names: tuple[str, ...]) -> None:
    """Given a command, when its options are looked at, then each has a help text, and the command
    one of its own.
    """
    one = command(*names)
    assert one.help
    assert [option.name for option in one.params if isinstance(option, click.Option) and not option.help] == []




def test_cel_evaluates_an_expression(fakekube: Run, tmp_path: Path) -> None:
    """Given an object in a file, when an expression is evaluated, then its value is printed.

    What is wrong is said with a caret.
    """
    path = tmp_path / "object.yaml"
    path.write_text("{apiVersion: v1, kind: ConfigMap, data: {a: b}}")
    done = fakekube("cel", "self.data.a + '!'", "--data", str(path), "--verbose")
    assert (done.returncode, done.stdout) == (0, '"b!"\n')
    assert done.stderr.startswith("type: string\ncost: ")
    wrong = fakekube("cel", "self.data.a + none", "--data", str(path))
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.endswith("undeclared reference to 'none' (in container '')\n | self.data.a + none\n | ..............^\n")
    for release in ("7", "1.99"):
        old = fakekube("cel", "1", "--kubernetes-version", release)
        assert (old.returncode, old.stderr.count("\n")) == (1, 1)
