"""The help, and the demonstration that the README begins with."""

import subprocess
from collections.abc import Callable

import click
import pytest

from fakekube.cli.main import cli
from fakekube.options import ClusterOptions

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = [
    ("serve",), ("clock",), *(("clock", name) for name in ("now", "advance", "set", "pause", "resume")),
    ("snapshot",), ("diff",), ("demo",), ("demo", "job"),
]


def command(*names: str) -> click.Command:
    found: click.Command = cli
    for name in names:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    return found


def test_the_help_names_every_command(fakekube: Run) -> None:
    """Given the program alone, when its help is asked for, then every command is in it with a line of its own."""
    done = fakekube("--help")
    assert done.returncode == 0
    for name, one in cli.commands.items():
        assert any(line.split()[:1] == [name] and one.get_short_help_str(20)[:10] in line for line in done.stdout.splitlines())
    assert fakekube("--version").stdout.startswith("fakekube, version ")


@pytest.mark.parametrize("names", COMMANDS)
def test_every_option_is_explained(names: tuple[str, ...]) -> None:
    """Given a command, when its options are looked at, then each has a help text, and the command one of its own."""
    one = command(*names)
    assert one.help
    assert [option.name for option in one.params if isinstance(option, click.Option) and not option.help] == []


def test_the_command_line_knows_every_option_of_a_cluster() -> None:
    """Given what a cluster can be told, when the options of ``serve`` are compared, then none is missing but the start of
    virtual time, which means nothing to a server."""
    names = {option.name for option in command("serve").params}
    assert {name for name in ClusterOptions.__dataclass_fields__ if name not in names} == {"start"}


def test_the_demo_tells_a_jobs_life(fakekube: Run) -> None:
    """Given no terminal, when the demonstration runs at two hundred times the wall's speed, then its story is printed
    line by line, from the create to the moment when nothing is left."""
    done = fakekube("demo", "job", "--speed", "200")
    assert done.returncode == 0, done.stderr
    story = [
        "A cluster with two nodes is up", "the Job controller makes a pod: Created pod: hello-",
        "the scheduler picks a node: Successfully assigned default/hello-", "the kubelet starts the container",
        "A pod has failed", "Three pods have succeeded: the Job is Complete", "We delete the Job", "Nothing is left of hello",
    ]
    places = [done.stdout.find(text) for text in story]
    assert -1 not in places, story[places.index(-1)]
    assert places == sorted(places)
    assert "\x1b" not in done.stdout


def test_a_speed_that_is_none_is_told(fakekube: Run) -> None:
    """Given a speed of zero, when the demonstration is asked for, then one line says what is wrong."""
    done = fakekube("demo", "job", "--speed", "0")
    assert (done.returncode, done.stderr) == (1, "Error: the speed must be above 0\n")
