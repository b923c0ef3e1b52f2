"""How commands find a served cluster, record it, and run controllers against it."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import orjson
import pytest
from click.testing import CliRunner

from fakekube.apimachinery.errors import APIError
from fakekube.cli import echo, operators, record, remote, servefiles, trace
from fakekube.cli.main import cli
from fakekube.client import kubeconfig
from fakekube.client.kubeconfig import ConfigError
from fakekube.client.transport import TransportError
from fakekube.composition.options import OptionError
from fakekube.runtime.component import WrongOption
from fakekube.server.kubeconfigfile import Owner

NOT_OURS = "what answers there is no fakekube that knows this command"


@pytest.mark.parametrize(("error", "text"), [
    (APIError(404, "NotFound", "no page"), NOT_OURS),
    (APIError(404, "NotFound", "no page", {}), NOT_OURS),
    (APIError(404, "NotFound", "no page", {"name": ""}), NOT_OURS),
    (APIError(404, "NotFound", 'pods "a" not found', {"name": "a"}), 'pods "a" not found'),
    (APIError(403, "Forbidden", "you may not"), "you may not"),
    (ConfigError("no config"), "no config"),
    (TransportError("no way"), "no way"),
])
def test_errors_of_a_client_are_sentences(error: Exception, text: str) -> None:
    """Given an error of a client, when it is told, then it is what the server says; a path that is
    not there means that the server is another one.
    """
    with pytest.raises(click.ClickException) as told, remote.told_in_a_sentence():
        raise error
    assert told.value.message == text


def test_which_cluster_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given an address, a kubeconfig, the variable, or the file here, when a client is made, then
    the first of them leads there.
    """
    made: list[Any] = []
    monkeypatch.setattr("fakekube.client.http.HTTP", made.append)
    monkeypatch.setattr("fakekube.client.client.Client", lambda _: None)
    monkeypatch.setattr(kubeconfig, "load_client", lambda path: made.append(("file", path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    remote.client_of("there:1", "file")
    remote.client_of("https://there", None)
    remote.client_of(None, None)
    Path("fakekube.kubeconfig").touch()
    remote.client_of(None, None)
    remote.client_of("", "file")
    monkeypatch.setenv("KUBECONFIG", "other")
    remote.client_of(None, None)
    assert made == [
        "http://there:1", "https://there", ("file", None), ("file", "fakekube.kubeconfig"), ("file", "file"), ("file", None)]


class Answering:
    """A client that answers always the same."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked, self.is_closed = answer, list[Any](), False

    async def request(self, *arguments: Any, **values: Any) -> Any:
        self.asked.append((*arguments, values))
        if isinstance(self.answer, Exception):
            raise self.answer
        return SimpleNamespace(body=self.answer)

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("answer", [b"x", APIError(403, "Forbidden", "no")])
def test_a_call_closes_its_client(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a call of a path, when it is answered, or refused, then the client is closed."""
    client = Answering(answer)
    monkeypatch.setattr(remote, "client_of", lambda server, file: client if (server, file) == ("s", "k") else None)
    with suppress(click.ClickException):
        assert remote.call("s", "k", "GET", "/p", b"b", query={"q": ["v"]}) == answer == b"x"
    assert (client.is_closed, client.asked) == (True, [("GET", "/p", {"query": {"q": ["v"]}, "body": b"b"})])


@pytest.mark.parametrize(("told", "release"), [
    (("1", "37"), "1.37"), (("1", "33+"), "1.33"), (("1", "25"), "1.25"), (("1", "24"), "1.37"), (("1", "99"), "1.37")])
def test_as_which_release_controllers_run(told: tuple[str, str], release: str) -> None:
    """Given a server, when its release is known, then controllers run as there; else as on the
    newest.
    """
    client: Any = Answering(orjson.dumps({"major": told[0], "minor": told[1]}))
    assert asyncio.run(operators._release(client)) == release
    assert client.asked == [("GET", "/version", {})]


def test_gates_of_controllers() -> None:
    """Given gates that are wanted, when controllers run, then they are so, others as by default,
    and one that there is not is an error.
    """
    assert operators._gates("1.37", {"GenericWorkload": True})["GenericWorkload"] is True
    with pytest.raises(OptionError, match=r"^unrecognized feature gate: Nothing$"):
        operators._gates("1.37", {"Nothing": True})


def run(names: tuple[str, ...], **values: Any) -> None:
    """Run controllers that way."""
    given: dict[str, Any] = {"nodes": 0, "lease": "", "gates": {}, "webhook_host": "h", **values}
    operators.run(names, "server", "file", **given)


@pytest.mark.parametrize(("names", "values", "text"), [
    (("job",), {"configs": {"kueue": "file"}}, "there is a configuration for kueue, which is not to run"),
    (("job",), {"nodes": 1}, "--nodes are registered by the kubelet, which is not to run"),
])
def test_what_cannot_run(names: tuple[str, ...], values: dict[str, Any], text: str) -> None:
    """Given a configuration or nodes of what does not run, when it is to run, then that is said."""
    with pytest.raises(OptionError) as told:
        run(names, **values)
    assert str(told.value) == text


def test_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given names, when they run, then each is made with its configuration, or without one, and all
    options are handed on; Ctrl-C is no error, and others are sentences.
    """
    ran: list[Any] = []
    errors: list[Exception | asyncio.CancelledError] = [
        asyncio.CancelledError(), APIError(403, "Forbidden", "a"), ConfigError("b"), TransportError("c"), WrongOption("d")]

    async def run_there(*arguments: Any) -> None:
        ran.append(arguments)
        raise errors.pop(0)

    monkeypatch.setattr(operators, "_run", run_there)
    monkeypatch.setattr(operators, "made", lambda name, config: (name, config))
    monkeypatch.setattr(remote, "client_of", lambda server, file: (server, file))
    run(("kubelet", "kueue"), configs={"kueue": "c"}, nodes=2, lease="l", gates={"A": True})
    assert ran == [(("server", "file"), [("kubelet", True), ("kueue", "c")], 2, "l", {"A": True}, "h")]
    for text in "abcd":
        with pytest.raises(click.ClickException) as told:
            run(("job",))
        assert told.value.message == text


def test_names_of_what_runs() -> None:
    """Given a name that is none, when it is looked for, then all that are installed are told."""
    with pytest.raises(OptionError) as told:
        operators.made("nobody")
    text, _, names = str(told.value).partition("one of ")
    assert text == "there is no controller or add-on 'nobody': say module:attribute, or "
    assert {"job", "kubelet", "kueue", "garbagecollector"} <= set(names.split(", "))
    assert (operators.made("job").name, operators.made("kueue").name) == ("job", "kueue")
    result = CliRunner().invoke(cli, ["crds", "job"])
    assert (result.exit_code, result.output) == (1, "Error: job is no add-on, and has no definitions\n")


@pytest.mark.parametrize(("before", "secrets", "options", "addopts"), [
    (None, False, "", "--fakekube-record='/a b'"),
    ("-q", True, "-o x=1", "-q --fakekube-record='/a b' --fakekube-record-secrets -o x=1"),
])
def test_how_a_command_is_recorded(
    before: str | None, secrets: bool, options: str, addopts: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a command in which pytest runs, when it is recorded, then pytest has the options beside
    those that it had, and the command's exit code is handed back.
    """
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTEST_ADDOPTS", before)
    code = f"import os, sys; sys.exit(7 if os.environ['PYTEST_ADDOPTS'] == {addopts!r} else os.environ['PYTEST_ADDOPTS'])"
    assert record.record_command((sys.executable, "-c", code), Path("/a b"), secrets=secrets, options=options) == 7
    with pytest.raises(click.ClickException) as told:
        record.record_command(("/nowhere/pytest",), Path("/a"), secrets=False)
    assert told.value.message == "/nowhere/pytest: No such file or directory"


@pytest.mark.parametrize("words", [["--server", "a"], ["--kubeconfig", "a"], ["--", "true"]])
def test_what_is_recorded_already_needs_nothing_else(words: list[str], tmp_path: Path) -> None:
    """Given a recording, when it is written in another form, then a cluster or a command is too
    much.
    """
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(cli, ["record", "--from", str(tmp_path / "file"), *words])
    assert (result.exit_code, result.output) == (
        2, "Error: --from takes what is recorded already: give no cluster and no command with it\n")


@pytest.mark.parametrize("source", [None, "file"])
def test_a_trace_is_sent(source: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given a collector, when a trace is asked for, of a cluster or a snapshot, then it is asked
    for as JSON, sent, and only the number of its spans is printed.
    """
    sent: list[str] = []
    found = SimpleNamespace(steps=[1, 2], send=sent.append)

    async def of_snapshot(*arguments: Any) -> Any:
        assert arguments == ("file", "pod/a", "n", "f", 3)
        return found

    def call(*arguments: Any, query: Any) -> bytes:
        assert arguments == (None, None, "GET", "/fakekube/v1/trace")
        assert query == {"object": ["pod/a"], "namespace": ["n"], "last": ["3"], "output": ["json"], "field": ["f"]}
        return b"{}"

    monkeypatch.setattr(trace, "_of_snapshot", of_snapshot)
    monkeypatch.setattr(remote, "call", call)
    monkeypatch.setattr("fakekube.tracing.trace.Trace.of", lambda _: found)
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    words = ["trace", "pod/a", "-n", "n", "--field", "f", "--last", "3", "-o", "chrome", "--otlp", "http://there"]
    result = CliRunner().invoke(cli, [*words, *(["--from", source] if source else [])])
    assert (result.output, result.exit_code, sent) == ("sent 2 spans to http://there\n", 0, ["http://there"])


@pytest.mark.parametrize(("answer", "alive"), [
    (b'{"kind":"Clock"}', True), (b"hello", False), (TimeoutError(), True), (ConnectionRefusedError(), False),
    (ValueError(), False), (b"x" * 1024 + b'"Clock"', False), (b"x" * 1017 + b'"Clock"', True)])
def test_whether_the_owner_of_a_kubeconfig_lives(answer: Any, alive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the address that a kubeconfig names, when a server of ours answers there, or somebody
    keeps silent, then its owner lives; it is asked for its clock, with its token.
    """
    asked: list[Any] = []

    def request(*arguments: Any, **values: Any) -> None:
        asked.append((*arguments, values))
        if isinstance(answer, Exception):
            raise answer

    def connection(*where: Any) -> Any:
        asked.append(where)
        response = SimpleNamespace(read=lambda size: answer[:size])
        return SimpleNamespace(request=request, getresponse=lambda: response, close=lambda: asked.append("close"))

    monkeypatch.setattr(servefiles, "_connection", connection)
    assert servefiles._answers(Owner("https://there:1/x", "t")) is alive
    assert asked == [
        ("https", "there", 1), ("GET", "/fakekube/v1/clock", {"headers": {"Authorization": "Bearer t"}}), "close"]


def test_how_the_owner_is_asked() -> None:
    """Given a scheme, when a connection is made, then only https is TLS, whose certificate nobody
    looks at, and neither waits longer than two seconds.
    """
    plain, secret = servefiles._connection("http", "h", 1), servefiles._connection("https", "h", 2)
    assert [(type(one).__name__, one.host, one.port, one.timeout) for one in (plain, secret)] == [
        ("HTTPConnection", "h", 1, 2.0), ("HTTPSConnection", "h", 2, 2.0)]
    context = secret._context  # type: ignore[attr-defined]
    assert (context.check_hostname, int(context.verify_mode)) == (False, 0)


@pytest.mark.parametrize(("text", "is_gone"), [
    ("http://127.0.0.1:1\n", True), ("https://[::1]:1", True), ("http://a/b\n", False), ("http://a\n\n", False),
    (" http://a\n", False), ("", False)])
def test_which_ready_file_is_removed(text: str, is_gone: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Given a ready file, when the server ends, then it goes where it holds an address alone; what
    holds something else stays, with a warning.
    """
    file = tmp_path / "ready"
    file.write_text(text)
    servefiles.ServeFiles("", str(file)).remove_ready()
    assert file.exists() is not is_gone
    assert capsys.readouterr().err == ("" if is_gone or not text else (
        f"Warning: ready-file: {file} holds something else than the address of a server, and is left as it is\n"))
    servefiles.ServeFiles("", "").remove_ready()


def test_errors_of_files_are_sentences() -> None:
    """Given an error, when it is told, then the file comes first, where there is one."""
    assert servefiles._text(OSError(2, "No such file", "a")) == "a: No such file"
    assert servefiles._text(OSError(2, "No such file")) == "[Errno 2] No such file"
    assert servefiles._text(OSError("broken")) == "broken"
    assert servefiles._text(ValueError("embedded null byte")) == "embedded null byte"


def test_what_nobody_reads_goes_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given standard output that is closed, or a pipe that is, when something is said, then nothing
    is raised, and no file stays open.
    """
    for output in (SimpleNamespace(), (tmp_path / "closed").open("w")):
        if not isinstance(output, SimpleNamespace):
            output.close()
        monkeypatch.setattr(sys, "stdout", output)
        before = len([*Path("/proc/self/fd").iterdir()])
        echo.forget_output()
        assert (sys.stdout, len([*Path("/proc/self/fd").iterdir()])) == (None, before)
    with (tmp_path / "open").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        echo.forget_output()
        print("lost")
    assert (tmp_path / "open").read_text() == ""

    def broken(_: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(click, "echo", broken)
    monkeypatch.setattr(sys, "stdout", None)
    echo.say("lost")
