"""The help, and the demonstration that the README begins with."""

import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import click
import pytest

from fakekube.cli.main import cli

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = [
    ("serve",), ("clock",), *(("clock", name) for name in ("now", "advance", "set", "pause", "resume")),
    ("schema",), ("snapshot",), ("diff",), ("demo",), ("demo", "job"), ("demo", "rollout"),
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


STORIES = {
    "job": [
        "A cluster with two nodes is up", "the Job controller makes a pod: Created pod: hello-",
        "the scheduler picks a node: Successfully assigned default/hello-", "the kubelet starts the container",
        "A pod has failed", "Three pods have succeeded: the Job is Complete", "We delete the Job", "Nothing is left of hello",
    ],
    "failure-policy": [
        "Three Jobs with the same podFailurePolicy", "flaky has exited with 1", "hopeless has exited with 42: FailJob",
        "is evicted through the API", "failures that it was charged with: 0",
    ],
    "success-policy": [
        "An Indexed Job of four pods", "All four run", "SuccessCriteriaMet", "succeeded 1 of 4, completed indexes '0'",
    ],
    "cronjob": [
        "A CronJob for every minute", "made: Created job report-", "The second one takes ninety seconds",
        "concurrencyPolicy Forbid", "We suspend it", "The newest Job is still report-",
        "One run was started for the minutes that were missed",
    ],
    "rollout": [
        "Version 1 serves", "the Deployment: Scaled up replica set", "Three pods of version 2 are ready",
        "ProgressDeadlineExceeded. 3 pods of version 2 serve on", "We go back",
    ],
    "node-failure": [
        "All four run", "the node controller: Node node-1 status is now: NodeNotReady", "calls the node Unknown",
        "a taint drives a pod away", "They stay Terminating", "Four pods are ready again", "Ready for new pods",
    ],
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "job" else pytest.mark.slow) for name in STORIES])
def test_a_demo_tells_its_story(fakekube: Run, name: str) -> None:
    """Given no terminal, when a demonstration runs much faster than the wall, then its story is printed in order."""
    done = fakekube("demo", name, "--speed", "150")
    assert done.returncode == 0, done.stderr
    assert [text for text in STORIES[name] if text not in done.stdout] == []
    lines = done.stdout.splitlines()
    story = "\n".join(line for before, line in pairwise(lines) if not before)  # Events are told as they come
    places = [story.find(text) for text in STORIES[name] if text in story]
    assert places == sorted(places)
    assert "\x1b" not in done.stdout


def test_every_demo_has_a_story_that_is_tested_and_a_page() -> None:
    """Given the demonstrations, when tests and pages are looked for, then each has both."""
    assert set(cli.commands["demo"].commands) == set(STORIES)
    for name in STORIES:
        assert (Path(__file__).parents[2] / "docs" / "demos" / f"{name}.md").exists()


def test_time_stands_while_people_read(fakekube: Run) -> None:
    """Given pauses and somebody who presses Enter once and leaves, when the demonstration runs, then it waits after the first
    step, and goes on without pauses once nobody is there."""
    done = fakekube("demo", "success-policy", "--speed", "150", "--pause", typed="\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[Enter]") == 2
    assert "completed indexes '0'" in done.stdout


def test_a_speed_that_is_none_is_told(fakekube: Run) -> None:
    """Given a speed of zero, when the demonstration is asked for, then one line says what is wrong."""
    done = fakekube("demo", "job", "--speed", "0")
    assert (done.returncode, done.stderr) == (1, "Error: the speed must be above 0\n")
