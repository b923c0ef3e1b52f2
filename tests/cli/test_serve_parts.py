"""The steps of ``fakekube serve``, one by one."""

import asyncio
import io
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import fakekube
from fakekube.apimachinery.errors import APIError
from fakekube.cli import serve
from fakekube.cli.main import cli
from fakekube.cli.serve import _first, _import_server, _load, _log, _made, _manifests, _named_once, _python_objects, _runner
from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import ClusterOptions, OptionError

LISTEN = {"port": 0, "host": "127.0.0.1", "insecure": False}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What would be served; nothing is."""
    found: list[Any] = []
    monkeypatch.setattr(serve, "_serve", lambda *arguments: arguments)
    monkeypatch.setattr(serve, "_runner", lambda _: found.append)
    monkeypatch.setattr(serve, "_log", lambda verbosity: found.append(verbosity))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    return found


def test_what_is_served_by_default(served: list[Any]) -> None:
    """Given no option, when a cluster is served, then it has its defaults, listens on loopback at a
    free port, loads nothing, and writes its kubeconfig here.
    """
    assert CliRunner().invoke(cli, ["serve"]).output == ""
    [verbosity, (made_with, options, listen, loads, files)] = served
    assert (verbosity, listen, loads) == (0, LISTEN, [])
    assert (str(files.kubeconfig), files.ready) == ("fakekube.kubeconfig", None)
    assert made_with == {"options": options, "state": None, "schedule": None}
    assert options == ClusterOptions.of(clock="real")


def test_what_options_and_the_file_say(served: list[Any], tmp_path: Path) -> None:
    """Given a file and options, when a cluster is served, then what the command line says goes
    before the file, what neither says is left to the defaults, and Python objects stand apart.
    """
    (tmp_path / "config.yaml").write_text(
        "nodes: 3\nseed: 5\nport: 81\nv: 2\nload: a.yaml\nreadyFile: ready\nschedule: '1:3'\noutcome: a:b\n")
    (tmp_path / "a.yaml").write_text("")
    words = ["serve", "--config", "config.yaml", "--nodes", "1", "--port", "82", "--bind-address", "localhost", "--insecure"]
    assert CliRunner().invoke(cli, [*words, "--extra", "c:d", "--kubeconfig", ""]).output == ""
    [verbosity, (made_with, options, listen, loads, files)] = served
    assert (verbosity, listen) == (2, {"port": 82, "host": "localhost", "insecure": True})
    assert (options.nodes, options.seed) == (1, 5)
    assert loads == [Path("a.yaml")]
    assert (files.kubeconfig, files.ready) == (None, Path("ready"))
    assert made_with == {"options": options, "state": None, "outcome": "a:b", "extra": ("c:d",), "schedule": "1:3"}
    assert sys.path[0] == str(tmp_path)


def test_a_fleet_is_made_of_what_was_said(served: list[Any]) -> None:
    """Given names of several clusters, when they are served, then they are made with the names and
    the values that were said, and are in this order.
    """
    assert CliRunner().invoke(cli, ["serve", "--fleet", "b,a", "--nodes", "0", "--clock", "manual"]).output == ""
    made_with = served[1][0]
    assert (made_with["fleet"], made_with["nodes"], made_with["clock"]) == ("b,a", 0, "manual")
    assert "options" not in made_with
    made = _made(dict(made_with))
    assert isinstance(made, Fleet)
    assert [*made] == ["b", "a"]
    assert _first(made) is made["b"]


@pytest.mark.parametrize(("words", "text"), [
    (["--bind-address", " "], "bind-address: '' is no address: say 127.0.0.1, or an address of this machine"),
    (["--load", "-", "--load", "-"], "load: standard input can be read once only"),
    (["--load", "http://a/b"],
     "load: http://a/b is a URL, and nothing is fetched from the network here: fetch it, and name the file"),
    (["--load", "nothing.yaml"], "load: there is no file nothing.yaml"),
    (["--kubeconfig", "nowhere/a"], "kubeconfig: there is no directory nowhere"),
    (["--kubeconfig", "."], "kubeconfig: . is a directory"),
    (["--ready-file", "nowhere/a"], "ready-file: there is no directory nowhere"),
    (["--kubeconfig", "a:b"], "kubeconfig: a:b are several files: name one of them"),
])
def test_what_cannot_be_served(served: list[Any], words: list[str], text: str) -> None:
    """Given an option that cannot be meant, when a cluster is to be served, then one sentence says
    so, and none is.
    """
    result = CliRunner().invoke(cli, ["serve", *words])
    assert (result.exit_code, result.output, served) == (1, f"Error: {text}\n", [0])


def test_standard_input_is_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given manifests on standard input, when they are read, then they are text; what is no text,
    and no input at all, is told.
    """
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"kind: \xc3\xa9")))
    assert _manifests("-") == "kind: é"
    for broken in (SimpleNamespace(buffer=io.BytesIO(b"\xff")), None):
        monkeypatch.setattr(sys, "stdin", broken)
        with pytest.raises(OptionError, match=r"^load: standard input: "):
            _manifests("-")
    assert _named_once(["-", "a", "a"]) == ["-", "a", "a"]


def test_where_python_objects_are_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given names of Python objects, when any is given, then the current directory comes first
    where modules are looked for; else nothing changes.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/a"])
    assert (_python_objects({"outcome": "", "extra": ()}), sys.path) == ({}, ["/a"])
    assert _python_objects({"outcome": "a:b", "extra": ()}) == {"outcome": "a:b"}
    assert sys.path == [str(tmp_path), "/a"]


def test_certificates_of_the_system_are_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given one of the variables that name certificates, when the server is imported, then both are
    afterwards as they were.
    """
    monkeypatch.setenv("SSL_CERT_FILE", "/certificates")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    _import_server()
    assert (os.environ["SSL_CERT_FILE"], os.environ.get("SSL_CERT_DIR")) == ("/certificates", None)


def test_what_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a clock, when it is real and uvloop is there, then that runs the server; else asyncio.
    """
    monkeypatch.setitem(sys.modules, "uvloop", SimpleNamespace(run="uvloop"))
    assert _runner(ClusterOptions.of(clock="real")) == "uvloop"
    assert [_runner(ClusterOptions.of(clock=clock)) for clock in ("auto", "manual", 2.0)] == [asyncio.run] * 3
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert _runner(ClusterOptions.of(clock="real")) is asyncio.run


@pytest.mark.parametrize(("error", "manifests", "text"), [
    (APIError(code=409, reason="AlreadyExists", message="it exists"), Path("a.yaml"), "a.yaml: it exists"),
    (APIError(code=409, reason="AlreadyExists", message="it exists"), "kind: Pod", "standard input: it exists"),
    (OptionError("a.yaml:3: no kind"), Path("a.yaml"), "a.yaml:3: no kind"),
    (OptionError("no kind"), Path("a.yaml"), "a.yaml: no kind"),
    (OptionError("no kind"), "kind: Pod", "standard input: no kind"),
])
async def test_what_is_not_loaded_is_told_with_its_place(error: Exception, manifests: Path | str, text: str) -> None:
    """Given manifests that are refused, when they are loaded, then the sentence begins with where
    they stand, once.
    """
    async def load(_: object) -> None:
        raise error

    cluster: Any = SimpleNamespace(load=load)
    with pytest.raises(OptionError) as told:
        await _load(cluster, manifests)
    assert str(told.value) == text


def test_libraries_keep_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the highest verbosity, when logs are set up, then others' still begin with warnings,
    and a line is a letter, the time, and who says it.
    """
    said: list[Any] = []
    monkeypatch.setattr(logging, "basicConfig", lambda **values: said.append(values))
    before = {name: logging.getLogger(name).level for name in ("fakekube", "fakekube_controllers")}
    try:
        _log(10)
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
    assert said == [{"level": logging.WARNING, "format": "%(levelname).1s %(asctime)s %(name)s] %(message)s"}]


def test_what_the_package_offers() -> None:
    """Given the package itself, when a name is asked of it, then it has the cluster and its
    version, and says of any other that there is none.
    """
    assert fakekube.Cluster is Cluster
    assert (fakekube.__version__, fakekube.__all__) == ("0.1.0", ["Cluster", "__version__"])
    with pytest.raises(AttributeError, match=r"^module 'fakekube' has no attribute 'Nothing'$"):
        _ = fakekube.Nothing
