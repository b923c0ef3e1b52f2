"""Every option and argument of every command, with values that cannot be meant: one sentence, and
never a traceback."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fakekube.cli.main import cli
from tests.cli.conftest import FAKEKUBE

Run = Callable[..., subprocess.CompletedProcess[str]]

VALUES = (
    "", " ", "-1", "99999999999999999999", "1e999", "nan", "\N{SNOWMAN}", "a=b=c", "x" * 5000, "/", "/dev/null", "nowhere/at/all",
    "binary", "http://[", "ftp://127.0.0.1:1", "127.0.0.1:1",
)
REFUSED = "apiVersion: v1\nkind: Fridge\nmetadata: {name: a}\n"
NEEDED = {"duration": "1h", "time": "2026-01-01T00:00:00Z", "shell": "bash", "first": "binary", "second": "binary", "name": "Job"}


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


ALL = dict(commands(cli))
PARAMETERS = [
    pytest.param(names, parameter, id=f"{' '.join(names)} {parameter.name}")
    for names, command in ALL.items() for parameter in command.params]


def words(names: tuple[str, ...], parameter: click.Parameter, value: str) -> list[str]:
    """The command line on which a parameter has a value, and which fails in the end whatever that
    is."""
    command = ALL[names]
    option = isinstance(parameter, click.Option)
    needed = [value if each is parameter else NEEDED.get(each.name or "", "a") for each in command.params
              if isinstance(each, click.Argument) and (each.required or each is parameter)]
    given = [f"{parameter.opts[-1]}={value}"] if option else []
    if names == ("serve",):
        given += ["--load", "refused.yaml"]
    elif names[0] in ("clock", "snapshot") and parameter.name not in ("server", "kubeconfig"):
        given += ["--server", "127.0.0.1:1"]
    return [*names, *given, *(["--", *needed] if needed else [])]


@pytest.mark.parametrize(("names", "parameter"), PARAMETERS)
def test_a_broken_value_is_one_sentence(
    names: tuple[str, ...], parameter: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a parameter of a command, when it has one value after another that cannot be meant, or
    that is the only thing that can be, then each time the command ends with 1 or 2 and one sentence
    on stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff\x00")
    (tmp_path / "refused.yaml").write_text(REFUSED)
    cel = names == ("cel",)  # where some are expressions, and the caret shows where the others fail
    for value in VALUES:
        if names[0] == "demo" and parameter.name == "seed" and value.isdecimal():
            continue  # any whole number is a seed, and a demonstration then begins
        done = CliRunner().invoke(cli, words(names, parameter, value), prog_name="fakekube", catch_exceptions=False)
        if cel and done.exit_code == 0:
            continue
        assert done.exit_code in (1, 2), (value, done.output)
        assert len(done.stderr.splitlines()) == 1 or cel, (value, done.stderr)
        assert done.stderr.lower().startswith("error: "), (value, done.stderr)
    if parameter.name not in ("audit_log", "record"):  # what can be a name is that of a new file
        assert sorted(each.name for each in tmp_path.iterdir()) == ["binary", "refused.yaml"]


@pytest.mark.parametrize(("arguments", "code", "text"), [
    (["serve", "--port", "99999"], 2, "99999 is not in the range"), (["nope"], 2, "No such command"),
    (["serve", "--clock", "1e9"], 1, "clock: '1e9' is too fast: a factor is at most 1,000,000"),
    (["serve", "--bind-address", ""], 1, "'' is no address"), (["serve", "--nope"], 2, "No such option"),
    (["serve", "--load", "binary"], 1, "binary: it is binary, and no YAML"), (["diff", "binary"], 2, "Missing argument"),
    (["serve", "--load", "http://127.0.0.1:1/a.yaml"], 1, "is a URL, and nothing is fetched"),
    (["serve", "--load", "empty"], 1, "empty: there is no file of *.yaml, *.yml, *.json in this directory"),
    (["serve", "--load", "-", "--load", "-"], 1, "standard input can be read once only"),
    (["serve", "--load", "-"], 1, "standard input"), (["serve", "--config", "binary"], 1, "binary: "),
    (["serve", "--kubeconfig", "a:b"], 1, "a:b are several files: name one of them"),
    (["clock", "--kubeconfig", "binary"], 1, "binary: "), (["completion", "csh"], 2, "'csh' is not one of"),
])
def test_what_is_wrong_is_said(fakekube: Run, tmp_path: Path, arguments: list[str], code: int, text: str) -> None:
    """Given a mistake, when the command is run by itself, then its one sentence says what is
    wrong."""
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff\x00")
    (tmp_path / "empty").mkdir()
    done = fakekube(*arguments, typed="kind: [")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)
    assert text in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read all")
def test_a_file_that_cannot_be_read_is_told(fakekube: Run, tmp_path: Path) -> None:
    """Given a file without permission to read it, when any option names it, then one sentence says
    so."""
    (tmp_path / "closed").touch(mode=0)
    for option in ("--load", "--from", "--config", "--kubeconfig"):
        done = fakekube("serve", option, "closed")
        assert done.returncode in (1, 2)
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["schema"], ["schema", "Job"], ["demo", "job", "--speed", "500"]])
def test_a_closed_pipe_ends_a_command_quietly(arguments: list[str]) -> None:
    """Given somebody who reads the first bytes alone, when a command goes on printing, then it ends
    without a word."""
    with subprocess.Popen([*FAKEKUBE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(30) in (0, 1)
    assert errors == b""
