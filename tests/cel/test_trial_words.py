"""What the command that tries expressions says, to the last letter."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakekube.cel import __main__ as command
from fakekube.cel import trial

HELP = """\
usage: python -m fakekube.cel [-h] [--data FILE] [--kubernetes-version R] [--new]
                              [--verbose]
                              expression

Evaluate an expression of CEL as Kubernetes would.

positional arguments:
  expression            the expression

options:
  -h, --help            show this help message and exit
  --data FILE           YAML or JSON: an object, which is self and object, or variables by their
                        names; - is standard input
  --kubernetes-version R
                        the release whose functions there are, 1.25 to 1.37 (default: 1.37)
  --new                 take the expression as one that is written anew, which may use less than
                        one that is stored already
  --verbose             print type and cost as well
"""
NO_MAPPING = "the data are no mapping: give an object, or variables by their names"


def test_the_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """given --help, when the command runs, then each option is told"""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert (ended.value.code, " ".join(capsys.readouterr().out.split())) == (0, " ".join(HELP.split()))


@pytest.mark.parametrize(("arguments", "given", "done", "out", "err"), [
    (["a + 1", "--data", "-"], "a: 1", 0, "2\n", ""),
    (["a", "--data", "-", "--verbose"], "a: [1]", 0, "[1]\n", "type: dyn\ncost: 1\n"),
    (["self == object", "--data", "-"], "{apiVersion: v1, kind: K}", 0, "true\n", ""),
    (["apiVersion", "--data", "-"], "{apiVersion: v1}", 0, '"v1"\n', ""),
    (["kind", "--data", "-"], "{kind: K}", 0, '"K"\n', ""),
    (["1", "--data", "-"], "", 0, "1\n", ""),
    (["1", "--data", "-"], "[1]", 1, "", f"{NO_MAPPING}\n"),
    (["1 / 0"], "", 1, "", "division by zero\n"),
    (["a"], "", 1, "", "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a\n | ^\n"),
    (["''.find('(')"], "", 1, "", "error parsing regexp: missing closing ): `(`\n"),
    (["[1].includes(1)"], "", 0, "true\n", ""),
    (["[2, 1].sort()", "--kubernetes-version", "1.35"], "", 0, "[1, 2]\n", ""),
])
def test_what_comes_of_it(
    arguments: list[str], given: str, done: int, out: str, err: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """given data on standard input, when an expression is tried, then the value goes to standard
    output, and what is wrong to standard error
    """
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given.encode())))
    found = command.main(arguments)
    printed = capsys.readouterr()
    assert (found, printed.out, printed.err) == (done, out, err)


def test_a_release_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    """given a release that there is not, when the command runs, then 2 is the exit code"""
    with pytest.raises(SystemExit) as ended:
        command.main(["1", "--kubernetes-version", "0.1"])
    assert (ended.value.code, "argument --kubernetes-version: invalid choice: '0.1'" in capsys.readouterr().err) == (2, True)


def test_data_from_a_file(tmp_path: Path) -> None:
    """given a file, none, or one that is not there, when it is read, then its data, nothing or an
    error come of it
    """
    (tmp_path / "data.yaml").write_text("a: 1\nb: [x]\n---\nc: 2\n")
    assert command.read(str(tmp_path / "data.yaml")) == {"a": 1, "b": ["x"]}
    assert command.read(None) is None
    with pytest.raises(FileNotFoundError):
        command.read(str(tmp_path / "none.yaml"))


@pytest.mark.parametrize(("data", "names"), [
    (None, []), ({}, []), ({"a": 1}, ["a"]), ({"apiVersion": "v1"}, ["apiVersion"]), ({"kind": "K"}, ["kind"]),
    ({"apiVersion": "v1", "kind": "K", "x": 1}, ["self", "object"]),
])
def test_the_variables(data: object, names: list[str]) -> None:
    """given data, when they name variables, then an object has two names, other data their keys"""
    assert list(trial.variables_of(data)) == names


@pytest.mark.parametrize(("text", "shown"), [
    ("[dyn(1), dyn('é'), dyn(2.5), dyn(null)]", '[1, "é", 2.5, null]'),
    ("{dyn('a'): dyn({1: true}), dyn(2u): dyn(b'x')}", '{"a": {1: true}, 2: b\'x\'}'),
    ("{dyn(true): 1, dyn(1): 2}", "{true: 1, 1: 2}"), ("optional.of(optional.none())", "optional.of(optional.none())"),
    ("timestamp('2020-01-02T03:04:05Z')", 'timestamp("2020-01-02T03:04:05Z")'), ("duration('0s')", 'duration("0s")'),
    ("1u", "1"), ("1.0", "1"), ("0.0/0.0", "NaN"), ("type([])", "list"), ("'\"'", '"\\""'), ("b'\\xff'", "b'\\xff'"),
    ("'a'.split('a')", '["", ""]'), ("ip('::1')", "::1"),
])
def test_how_values_are_shown(text: str, shown: str) -> None:
    """given values of every kind, when they are shown, then as JSON, or as CEL would write them"""
    assert trial.run(text, None, minor=37).value == shown
