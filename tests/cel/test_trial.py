"""Expressions tried out on the command line."""

import json
from pathlib import Path

import pytest

from fakekube.cel import __main__ as command

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": 3}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with an object."""
    path = tmp_path / "deployment.yaml"
    path.write_text(json.dumps(DEPLOYMENT))
    return path


@pytest.mark.parametrize(("expression", "value"), [
    ("self.spec.replicas * 2", "6"),
    ("object.metadata", '{"name": "a"}'),
    ("[1.5, 1e10]", "[1.5, 1e+10]"),
    ("duration('90m')", 'duration("5400s")'),
    ("optional.of('a')", 'optional.of("a")'),
    ("optional.none()", "optional.none()"),
    ("[ip('10.0.0.1')]", "[10.0.0.1]"),
    ("cidr('10.0.0.1/8').masked()", "10.0.0.0/8"),
    ("quantity('1500m').add(1)", "2500m"),
    ("semver('v1.02-', true)", None),
    ("semver('1.2.3-a.1+b')", "1.2.3-a.1"),
    ("url('http://a/b?c#d')", "http://a/b?c#d"),
    ("format.uuid()", "uuid"),
    ("type(1)", "int"),
    ("{1: b'a'}", "{1: b'a'}"),
    ("[true, false]", "[true, false]"),
    ("null", "null"),
])
def test_a_value_is_printed(expression: str, value: str | None, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """given an object in a file, when an expression is tried, then its value is printed, or 1 says
    that there is none
    """
    done = command.main([expression, "--data", str(data)])
    printed = capsys.readouterr()
    assert (done, printed.out) == ((0, f"{value}\n") if value is not None else (1, ""))


def test_variables_have_the_names_of_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """given data without a kind, when an expression is tried, then the keys are variables"""
    path = tmp_path / "data.json"
    path.write_text('{"a": 1, "b": [2, 3]}')
    assert command.main(["b.map(each, each + a)", "--data", str(path), "--verbose"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "[3, 4]\n"
    assert printed.err.startswith("type: list(dyn)\ncost: ")


@pytest.mark.parametrize(("arguments", "said"), [
    (["self.a +"], "ERROR: <input>:1:9: Syntax error: "),
    (["1 / 0"], "division by zero\n"),
    (["[1].includes(1)", "--new"], "ERROR: <input>:1:13: undeclared reference to 'includes'"),
    (["[2, 1].sort()", "--kubernetes-version", "1.33"], "ERROR: <input>:1:12: undeclared reference to 'sort'"),
    (["a", "--data", "/nowhere.yaml"], "[Errno 2] No such file or directory"),
])
def test_what_is_wrong_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """given what cannot be, when it is tried, then standard error says why, and 1 is given back"""
    assert command.main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(said)


@pytest.mark.parametrize("text", ["[1]", "1", "{1: 2, ", "a: b: c"])
def test_data_that_name_no_variables_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """given a file that is no mapping, when an expression is tried on it, then that is said"""
    path = tmp_path / "data.yaml"
    path.write_text(text)
    assert command.main(["1", "--data", str(path)]) == 1
    assert capsys.readouterr().err
