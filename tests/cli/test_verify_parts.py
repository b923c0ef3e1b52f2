"""The steps of ``fakekube verify`` and ``replay``, one by one."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.cli import operators, verify
from fakekube.cli.verify import Wanted
from fakekube.client import kubeconfig
from fakekube.recording import report
from fakekube.recording.player import Interrupted
from fakekube.recording.report import Found

VALUES: dict[str, Any] = {
    "kubeconfig": None, "context": "", "server": "http://there", "yes": True, "cluster_scoped": False, "alone": False,
    "any_setup": False, "wait": "10s", "jobs": 8, "state": False, "output": "text"}
WANTED = Wanted(**{**VALUES, "wait": 10.0})
TARGET = Found("http://there", "1.37")
MAY: Any = {"status": {"allowed": True}}


class Server:
    """A client whose answers stand here by path; what was asked is kept."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "/version": {"major": "1", "minor": "36+"}, verify.REVIEWS: MAY,
            "/api/v1/namespaces": {"items": [{"metadata": {"name": name}} for name in (
                "default", "kube-system", "kube-public", "kube-node-lease", "theirs")]},
            "/api/v1/nodes": {"items": [{}, {}]}, "/apis": {"groups": [{"name": "apps"}, {"name": "batch"}]},
            "/metrics": (
                'kubernetes_feature_enabled{name="A",stage="BETA"} 1\nkubernetes_feature_enabled{name="B",stage=""} 0\n'
                'kubernetes_feature_enabled{name="C",stage=""} 1\nother{name="D",stage=""} 1\n'), **answers}
        self.asked: list[Any] = []
        self.is_closed = False
        self.transport = SimpleNamespace(url="http://of-transport")

    async def request(self, method: str, path: str, *, body: bytes = b"", accept: str = "") -> Any:
        self.asked.append((method, path, orjson.loads(body) if body else None, accept))
        answer = self.answers[path]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(body=answer.encode() if isinstance(answer, str) else orjson.dumps(answer))

    async def close(self) -> None:
        self.is_closed = True


def review(verb: str) -> Any:
    """What is asked about a right."""
    return ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
            "resourceAttributes": {"verb": verb, "resource": "namespaces"}}}, "")


def test_what_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a cluster, when it is looked at, then its release, namespaces of others, nodes, gates
    and groups are found by these requests alone; without metrics no gate is known.
    """
    server = Server()
    monkeypatch.setattr(verify, "_client", lambda _: server)
    assert asyncio.run(verify._look(WANTED)) == Found(
        "http://there", "1.36", ("theirs",), 2, ("A", "C"), ("apps", "batch"))
    assert server.is_closed
    assert server.asked == [
        ("GET", "/version", None, ""), review("create"), review("delete"), ("GET", "/api/v1/namespaces", None, ""),
        ("GET", "/api/v1/nodes", None, ""), ("GET", "/apis", None, ""), ("GET", "/metrics", None, "*/*")]
    server.answers["/metrics"] = APIError(403, "Forbidden", "no")
    found = asyncio.run(verify._look(WANTED._replace(server=None, kubeconfig="file")))
    assert (found.url, found.gates) == ("http://of-transport", ())


def test_who_may_not_make_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a user without a right, when the cluster is looked at, then that is said, and the
    client is closed.
    """
    server = Server(**{verify.REVIEWS: {"status": {}}})
    monkeypatch.setattr(verify, "_client", lambda _: server)
    with pytest.raises(click.ClickException) as told:
        asyncio.run(verify._look(WANTED))
    assert told.value.message == "who asks may not create namespaces there, which is all that is needed"
    assert (server.asked[1:], server.is_closed) == ([review("create")], True)


def test_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an address with and without a scheme, and a kubeconfig, when a client is made, then it
    leads there, and may ask for others.
    """
    made: list[Any] = []
    monkeypatch.setattr("fakekube.client.http.HTTP", lambda url, **values: made.append((url, values)))
    monkeypatch.setattr("fakekube.client.client.Client", lambda _: "client")
    monkeypatch.setattr(kubeconfig, "load_client", lambda path, **values: made.append((path, values)))
    client: Any = verify._client(WANTED._replace(server="there:1"))
    assert client == "client"
    verify._client(WANTED._replace(server="https://there"))
    verify._client(WANTED._replace(server=None, kubeconfig="file", context="c"))
    assert made == [
        ("http://there:1", {"impersonate": True}), ("https://there", {"impersonate": True}),
        ("file", {"context": "c", "impersonate": True})]


@pytest.mark.parametrize(("values", "text"), [
    ({"server": None}, "say which cluster is asked: --against KUBECONFIG or --server URL"),
    ({"kubeconfig": "file"}, "say which cluster is asked: --against KUBECONFIG or --server URL"),
    ({"wait": "soon"}, "--wait: 'soon' is no duration: say 1h30m, 90s or 500ms"),
])
def test_what_cannot_be_wanted(values: dict[str, Any], text: str) -> None:
    """Given no cluster, two, or a wait that is none, when the options are read, then that is said.
    """
    with pytest.raises(click.UsageError) as told:
        verify._wanted({**VALUES, **values})
    assert told.value.message == text
    assert verify._wanted(VALUES) == WANTED
    assert verify._wanted({**VALUES, "server": None, "kubeconfig": "file", "wait": "1m"}).wait == 60


@pytest.mark.parametrize(("release", "code", "options", "said"), [
    ("1.36", 0, "-o fakekube_kubernetes_version=1.36", ""),
    ("1.99", 0, "", "the cluster is Kubernetes 1.99, which is not known here: tests run as they are\n"),
    ("1.36", 3, "-o fakekube_kubernetes_version=1.36", "pytest ended with 3; what was asked is played all the same\n"),
])
def test_tests_are_run_as_on_its_release(
    release: str, code: int, options: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """Given tests, when they are verified, then pytest records them with all values, as on the
    release of the cluster if that is known, and what was recorded is played, whatever came of them.
    """
    calls: list[Any] = []

    async def look(_: Wanted) -> Found:
        return TARGET._replace(release=release)

    def record(command: tuple[str, ...], path: Path, *, secrets: bool, options: str) -> int:
        calls.append((command, secrets, options))
        path.write_text("x")
        return code

    monkeypatch.setattr(verify, "_look", look)
    monkeypatch.setattr(verify, "record_command", record)
    monkeypatch.setattr(verify, "_conversations", lambda file, target, wanted: [file.read_text(), target.release, wanted])
    monkeypatch.setattr(verify, "_play", lambda conversations, target, wanted: (conversations, target.release, wanted))
    assert verify.verify(("a", "b"), VALUES) == (["x", release, WANTED], release, WANTED)  # type: ignore[comparison-overlap]
    assert calls == [((sys.executable, "-m", "pytest", "a", "b"), True, options)]
    assert tuple(capsys.readouterr()) == ("", said)
    monkeypatch.setattr(verify, "record_command", lambda *_, **__: 5)
    with pytest.raises(click.ClickException) as told:
        verify.verify((), VALUES)
    assert told.value.message == "nothing was recorded: pytest ended with 5, and no cluster of fakekube was used"


def play(
    monkeypatch: pytest.MonkeyPatch, wanted: Wanted, *, played: int = 1, typed: bool | None = None, equal: bool = True,
) -> int:
    """Play a conversation of so many requests; ``typed`` is what a person at a terminal answers."""
    async def done(*_: Any) -> list[Any]:
        return ["plays"]

    def confirm(text: str, *, err: bool) -> bool | None:
        click.echo(text, err=err)
        return typed

    monkeypatch.setattr(verify, "_played", done)
    monkeypatch.setattr(report, "of_plan", lambda *_, alone: [f"plan {alone}"])
    monkeypatch.setattr(report, "of_plays", lambda plays, state: [f"{plays} {state}"])
    monkeypatch.setattr(report, "tree", lambda plays, _: {"plays": plays})
    monkeypatch.setattr(report, "totals", lambda _: SimpleNamespace(is_equal=equal))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: typed is not None))
    monkeypatch.setattr(click, "confirm", confirm)
    return verify._play([SimpleNamespace(played=played)], TARGET, wanted)  # type: ignore[list-item]


@pytest.mark.parametrize(("wanted", "more", "code", "out", "err"), [
    ({}, {}, 0, "plan False\n['plays'] False\n", ""),
    ({"alone": True, "state": True}, {"equal": False}, 1, "plan True\n['plays'] True\n", ""),
    ({"output": "json"}, {}, 0, '{\n  "plays": [\n    "plays"\n  ]\n}\n', "plan False\n"),
    ({"yes": False}, {"typed": True}, 0, "plan False\n['plays'] False\n", "Go on?\n"),
])
def test_what_is_shown(
    wanted: dict[str, Any], more: dict[str, Any], code: int, out: str, err: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Given a plan, when it is played, then it is shown first and what came of it afterwards, for
    people or for programs; the code says whether all is equal.
    """
    assert play(monkeypatch, WANTED._replace(**wanted), **more) == code
    assert tuple(capsys.readouterr()) == (out, err)


@pytest.mark.parametrize(("wanted", "more", "text"), [
    ({}, {"played": 0}, "there is nothing to play"),
    ({"yes": False}, {}, "nothing was done: say --yes to go on"),
    ({"yes": False}, {"typed": False}, "nothing was done: say --yes to go on"),
])
def test_what_is_not_played(
    wanted: dict[str, Any], more: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given nothing to play, nobody to ask, or somebody who says no, when it would be played, then
    it is not.
    """
    with pytest.raises(click.ClickException) as told:
        play(monkeypatch, WANTED._replace(**wanted), **more)
    assert told.value.message == text


@pytest.mark.parametrize(("left", "text"), [
    (["a", "b"], "interrupted; still there: a, b"), ([], "interrupted; what was made is removed")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_in_between(
    left: list[str], text: str, number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """Given a play, when it is interrupted twice, then it is told at once what goes on, once that
    it still does, and at the end what is left; the client is closed.
    """
    server, told_again = Server(), asyncio.Event()
    given: dict[str, Any] = {}
    echo = click.echo

    def say(text: str, *, err: bool) -> None:
        echo(text, err=err)
        if text == "what was made is being removed":
            told_again.set()

    async def play_all(target: Any, conversations: list[Any], *, suffix: Callable[[], str], **values: Any) -> Any:
        given.update(values, target=target, conversations=conversations, suffix=len(suffix()))
        os.kill(os.getpid(), number)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            os.kill(os.getpid(), number)
            await told_again.wait()
            raise Interrupted(left) from None

    monkeypatch.setattr(verify, "_client", lambda _: server)
    monkeypatch.setattr(verify, "play_all", play_all)
    monkeypatch.setattr(verify, "Target", lambda transport, clock: (transport, type(clock).__name__))
    monkeypatch.setattr(click, "echo", say)
    played: Any = SimpleNamespace(played=1)
    with pytest.raises(click.ClickException) as told:
        asyncio.run(verify._played([played, SimpleNamespace(played=0)], WANTED))  # type: ignore[list-item]
    assert told.value.message == text
    assert tuple(capsys.readouterr()) == (
        "", "ending: removing the namespaces fakekube-verify-*\nwhat was made is being removed\n")
    assert (server.is_closed, given) == (True, {
        "wait_seconds": 10.0, "jobs": 8, "target": (server.transport, "RealClock"), "conversations": [played], "suffix": 5})


def test_groups_of_an_add_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an add-on that is installed, and one that is not, when its API groups are asked for,
    then each is there once, and there are none.
    """
    assert verify._groups_of("kueue") == ("kueue.x-k8s.io",)
    assert verify._groups_of("nothing") == ()
    monkeypatch.setattr(operators, "made", lambda _: None)
    trees = [{"spec": {"group": group}} for group in ("b", "a", "b")]
    monkeypatch.setattr("fakekube.composition.addons.definitions_of", lambda _: trees)
    assert verify._groups_of("x") == ("b", "a")
