"""In which order long-running commands do what they do, and how they end."""

import asyncio
import gc
import os
import runpy
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import orjson
import pytest
from click.testing import CliRunner

import fakekube.cli
from fakekube.cli import commandline, operators, record, serve
from fakekube.cli.demos import joining, stage
from fakekube.client.transport import TransportError
from fakekube.composition import apiserviceserver, controllermanager, webhookserver
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.runtime import standalone
from fakekube.runtime.demo import Demo

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


class Steps(list[Any]):
    """What was done, in order."""

    def step(self, name: str, result: Any = None) -> Callable[..., Any]:
        """A function that is noted with its arguments."""
        def done(*arguments: Any, **values: Any) -> Any:
            self.append((name, *arguments, *([values] if values else [])))
            return result

        return done

    def awaited(self, name: str, result: Any = None) -> Callable[..., Any]:
        """The same, to be awaited."""
        async def done(*arguments: Any, **values: Any) -> Any:
            return self.step(name, result)(*arguments, **values)

        return done


@SIGNALS
@pytest.mark.parametrize("written", [False, True])
def test_a_server_from_start_to_end(number: int, written: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a cluster and files to load, when it is served until it is told to end, then it answers
    before its controllers run, files come last and go first, and all is stopped.
    """
    steps = Steps()
    cluster: Any = SimpleNamespace(
        serve=steps.awaited("serve", "server"), start=steps.awaited("start"), settle=steps.awaited("settle"),
        stop=steps.awaited("stop"))
    files: Any = SimpleNamespace(
        write=steps.awaited("write", written), remove_ready=steps.step("remove"), kubeconfig="config")

    def say(text: str) -> None:
        steps.append(("say", text))
        if text == "hello":
            os.kill(os.getpid(), number)

    collector = SimpleNamespace(start=steps.step("collect"), stop=steps.step("collect no more"))
    monkeypatch.setattr(serve, "_import_server", steps.step("import"))
    monkeypatch.setattr(serve, "_made", steps.step("made", cluster))
    monkeypatch.setattr(serve, "_first", lambda made: ("first of", made))
    monkeypatch.setattr(serve, "_load", steps.awaited("load"))
    monkeypatch.setattr(serve, "_greeting", steps.step("greet", "hello"))
    monkeypatch.setattr(serve, "PacedCollector", lambda _: collector)
    monkeypatch.setattr(serve, "say", say)
    options = ClusterOptions.of()
    asyncio.run(serve._serve({"a": 1}, options, {"port": 7}, ["x", "y"], files))
    assert steps == [
        ("import",), ("made", {"a": 1}), ("serve", {"port": 7}), ("start",), ("settle",),
        ("load", ("first of", cluster), "x"), ("load", ("first of", cluster), "y"), ("write", "server"),
        ("greet", "server", "config" if written else None, options, {"port": 7}), ("say", "hello"), ("collect",), ("remove",),
        ("say", "stopping"), ("collect no more",), ("stop",)]
    steps.clear()
    cluster.settle = None
    with pytest.raises(TypeError):
        asyncio.run(serve._serve({}, options, {}, [], files))
    assert steps[-3:] == [("start",), ("collect no more",), ("stop",)]


@SIGNALS
def test_controllers_outside_from_start_to_end(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """Given parts with controllers, webhooks, conversions and APIs, when they run, then servers
    listen first, then all is installed and registered, then controllers run, with what was wanted;
    what is not served is told; the end closes the client.
    """
    steps = Steps()
    client: Any = SimpleNamespace(close=steps.awaited("close"))
    working = {"b": "controller b"}
    manager = SimpleNamespace(is_running=working.__contains__, working=working.get)
    finds: list[Callable[[str], Any]] = []

    def listening(name: str, **more: Any) -> Callable[..., Any]:
        @asynccontextmanager
        async def server(*arguments: Any, **values: Any) -> AsyncIterator[Any]:
            finds.append(values.pop("find", None) or arguments[-1])
            steps.append((name, *(each for each in arguments if not callable(each)), values))
            yield SimpleNamespace(register=steps.awaited(f"{name} registers"), **more)
            steps.append(f"{name} ends")

        return server

    async def run_components(*arguments: Any, on_start: Callable[[Any], None], **values: Any) -> None:
        steps.append(("run", *arguments, values))
        assert [find("b") for find in finds] == [None, None]
        on_start(manager)
        assert [(find("a"), find("b")) for find in finds] == [(None, "controller b")] * 2
        os.kill(os.getpid(), number)
        await asyncio.Event().wait()

    apis = [SimpleNamespace(name="api-x"), SimpleNamespace(name="api-y")]
    controllers = [SimpleNamespace(name="x"), SimpleNamespace(name="y")]
    monkeypatch.setattr(operators, "_release", steps.awaited("release", "1.36"))
    monkeypatch.setattr(operators, "_gates", lambda release, wanted: (release, wanted))
    monkeypatch.setattr(controllermanager, "parts_of", lambda part: [controllers[part]])
    monkeypatch.setattr(controllermanager, "apis_of", lambda part: [apis[part]])
    monkeypatch.setattr(controllermanager, "webhooks_of", lambda part: [f"hook {part}"])
    monkeypatch.setattr(controllermanager, "conversions_of", lambda part: {f"kind {part}": part})
    monkeypatch.setattr(controllermanager, "install", steps.awaited("install"))
    monkeypatch.setattr(webhookserver, "WebhookServer", listening("hooks", conversion="conversion"))
    monkeypatch.setattr(apiserviceserver, "APIServiceServer", listening("apis", refusal="no TLS"))
    monkeypatch.setattr(standalone, "run_components", run_components)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(operators._run(client, [0, 1], 3, "lease", {"A": True}, "h"))
    assert steps == [
        ("release", client), ("hooks", client, ["hook 0", "hook 1"], {"kind 0": 0, "kind 1": 1}, {"host": "h"}),
        ("apis", client, apis, {"host": "h"}), ("install", client, 0, "conversion"), ("install", client, 1, "conversion"),
        ("hooks registers",), ("apis registers",),
        ("run", client, controllers, {
            "version": "1.36", "gates": ("1.36", {"A": True}), "options": {"nodes": 3}, "lease": "lease"}),
        ("close",)]
    assert capsys.readouterr().err == "not served: api-x, api-y: no TLS\nrunning x, y; Ctrl-C ends it\n"


@SIGNALS
def test_a_recording_from_start_to_end(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:
    """Given a served cluster, when it is recorded until Ctrl-C, or until it is gone, then what it
    has is fetched again and again, and it is told to stop, or that is told.
    """
    asked: list[Any] = []
    gone = False

    async def request(method: str, path: str, *, body: bytes = b"") -> Any:
        asked.append((method, path, orjson.loads(body) if body else None))
        if method == "GET":
            if gone:
                raise TransportError("gone")
            if len(asked) == 3:
                os.kill(os.getpid(), number)
        return SimpleNamespace(body=f"{len(asked)} ".encode())

    async def close() -> None:
        asked.append("close")

    async def sleep(seconds: float) -> None:
        assert seconds == 0.5
        await asyncio.sleep(0)

    monkeypatch.setattr(record, "client_of", lambda *_: SimpleNamespace(request=request, close=close))
    monkeypatch.setattr(record, "RealClock", lambda: SimpleNamespace(sleep=sleep))
    file = tmp_path / "file"
    record.record_cluster("s", None, file, secrets=True)
    path = "/fakekube/v1/recording"
    fetches = len(asked) - 3
    assert asked == [
        ("POST", path, {"start": True, "secrets": True}), *[("GET", path, None)] * fetches,
        ("POST", path, {"stop": True}), "close"]
    assert file.read_text() == "".join(f"{place} " for place in range(2, 2 + fetches))
    asked.clear()
    gone = True
    record.record_cluster("s", None, file, secrets=False)
    assert asked == [("POST", path, {"start": True, "secrets": False}), ("GET", path, None), "close"]
    assert capsys.readouterr().err == "recording; Ctrl-C ends it\nrecording; Ctrl-C ends it\nthe cluster has ended\n"


@SIGNALS
def test_a_story_that_is_joined(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:
    """Given a story that others join, when it is told, then the line that leads there is shown
    before and after it, it stays until it is ended, and no handler of signals stays behind.
    """
    files: list[bool] = []

    async def tell(story: Any) -> None:
        files.append((tmp_path / "a b").exists())
        os.kill(os.getpid(), number)

    async def play() -> None:
        story = stage.declared(Demo(tell, "", nodes=0))
        with pytest.raises(asyncio.CancelledError):
            await stage._play_joined(story, 2.5, str(tmp_path / "a b"))
        assert asyncio.get_running_loop().remove_signal_handler(number) is False

    monkeypatch.setenv("COLUMNS", "100")
    asyncio.run(play())
    line = f"    export KUBECONFIG='{tmp_path}/a b'"
    assert files == [True]
    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == ["", "The cluster is open to kubectl in another terminal, once this line was pasted there:", "", line]


async def test_a_kubeconfig_that_cannot_be_written(tmp_path: Path) -> None:
    """Given a place where no file can be, when a story is joined, then that is said."""
    async def serving() -> Any:
        def write(path: Path) -> None:
            raise OSError(f"{path.name} is lost")

        return SimpleNamespace(write_kubeconfig=write)

    cluster: Any = SimpleNamespace(serve=serving)
    with pytest.raises(click.ClickException) as told:
        async with joining.served(cluster, str(tmp_path / "x")):
            pass
    assert told.value.message == "kubeconfig: x is lost"


@pytest.mark.parametrize(("error", "code", "text"), [
    (click.UsageError("no\n  such thing"), 2, "Error: no such thing\n"),
    (OptionError("no\n  such thing"), 1, "Error: no such thing\n"),
    (OSError("no file"), 1, "Error: no file\n"),
    (UnicodeError("no text"), 1, "Error: no text\n"),
    (click.ClickException("no"), 1, "Error: no\n"),
    (BrokenPipeError(), 1, ""),
])
def test_how_commands_fail(error: Exception, code: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an error, when a command raises it, then it is one line, and a code; who closed the
    pipe is told nothing.
    """
    forgotten: list[bool] = []
    monkeypatch.setattr(commandline, "forget_output", lambda: forgotten.append(True))

    @click.group(cls=commandline.CommandLine)
    def group() -> None:
        """A group."""

    @group.command()
    def fail() -> None:
        raise error

    result = CliRunner().invoke(group, ["fail"])
    assert (result.exit_code, result.output) == (code, text)
    assert forgotten == [True] * isinstance(error, BrokenPipeError)


def test_the_console_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the script, when it is called, then the collector runs rarely, and the command goes by
    its name.
    """
    before, called = gc.get_threshold(), list[Any]()

    def cli(**values: Any) -> int:
        called.append((values, gc.get_threshold()))
        return 7

    monkeypatch.setattr(import_module("fakekube.cli.main"), "cli", cli)
    try:
        found = runpy.run_path(str(fakekube.cli.__file__))["main"]()
    finally:
        gc.set_threshold(*before)
    assert (found, called) == (7, [({"prog_name": "fakekube"}, (50_000, 50, 1000))])
