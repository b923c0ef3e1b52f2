"""What each command asks of a served cluster, and how the answer is shown."""

from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from fakekube.cli import remote
from fakekube.cli.main import cli

FAULTS: dict[str, Any] = {"kind": "FaultList", "items": [], "meetings": []}
CLOCK: dict[str, Any] = {"mode": "real", "paused": False, "factor": 1.0, "now": "2026-01-01T00:00:07.500000Z"}
NOT_OURS = "Error: what answers there is no fakekube that knows this command\n"


class Asked:
    """Stands in for a served cluster: keeps what was asked, and answers always the same."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.calls: list[tuple[Any, ...]] = []

    def __call__(
        self, server: str | None, kubeconfig: str | None, method: str, path: str, body: bytes = b"", *, query: Any = None,
    ) -> bytes:
        self.calls.append((server, kubeconfig, method, path, body.decode(), query))
        return self.answer


def said(words: str, answer: bytes, monkeypatch: pytest.MonkeyPatch, typed: str = "") -> tuple[list[tuple[Any, ...]], int, str]:
    """What was asked, the exit code, and what was printed."""
    asked = Asked(answer)
    monkeypatch.setattr(remote, "call", asked)
    result = CliRunner().invoke(cli, words.split(), input=typed)
    return asked.calls, result.exit_code, result.output


@pytest.mark.parametrize(("words", "calls"), [
    ("why pod/a", [(None, None, "GET", "/fakekube/v1/why", "", {
        "object": ["pod/a"], "namespace": ["default"], "output": ["text"]})]),
    ("why job/b --server there:1 -n team -o json", [("there:1", None, "GET", "/fakekube/v1/why", "", {
        "object": ["job/b"], "namespace": ["team"], "output": ["json"]})]),
    ("trace pod/a", [(None, None, "GET", "/fakekube/v1/trace", "", {
        "object": ["pod/a"], "namespace": ["default"], "last": ["20"], "output": ["text"]})]),
    ("trace job/b --kubeconfig file -n team --field status.phase --last 3 -o chrome", [
        (None, "file", "GET", "/fakekube/v1/trace", "", {
            "object": ["job/b"], "namespace": ["team"], "last": ["3"], "output": ["chrome"], "field": ["status.phase"]})]),
])
def test_what_is_asked_and_printed_as_it_is(words: str, calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a command whose answer the server writes, when it is given with and without options,
    then this one request is made, and its answer is printed without a line more.
    """
    assert said(words, b"line\nnone", monkeypatch) == (calls, 0, "line\nnone")


@pytest.mark.parametrize(("words", "typed", "calls"), [
    ("faults", "", [(None, None, "GET", "/fakekube/v1/faults", "", None)]),
    ("faults --server a --kubeconfig b", "", [("a", "b", "GET", "/fakekube/v1/faults", "", None)]),
    ("faults --server a --kubeconfig b remove", "", [("a", "b", "DELETE", "/fakekube/v1/faults", "", {})]),
    ("faults --server a --kubeconfig b remove --server c --kubeconfig d x y", "", [
        ("c", "d", "DELETE", "/fakekube/v1/faults", "", {"name": ["x"]}),
        ("c", "d", "DELETE", "/fakekube/v1/faults", "", {"name": ["y"]})]),
    ("faults --server a --kubeconfig b add -", "- {error: EtcdTimeout}", [
        ("a", "b", "POST", "/fakekube/v1/faults", '{"faults":[{"error":"EtcdTimeout"}]}', None)]),
    ("faults --server a add --server c --kubeconfig d -", "faults: [{error: EtcdTimeout}]", [
        ("c", "d", "POST", "/fakekube/v1/faults", '{"faults":[{"error":"EtcdTimeout"}]}', None)]),
])
def test_what_is_asked_about_faults(words: str, typed: str, calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given commands about faults, when they are given, with an address before and after the
    command, then the later address counts, a request is made for each name, and a list is sent as a
    plan.
    """
    assert said(words, orjson.dumps(FAULTS), monkeypatch, typed) == (calls, 0, "nothing goes wrong on purpose\n")


def test_how_faults_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given faults that were met never, once and twice, and six meetings, when they are shown, then
    each is a line, and the last five meetings are, with the component or else the client.
    """
    items = [{"name": name, "what": f"error {name}", "met": met} for name, met in (("a", 0), ("b", 1), ("c", 2))]
    meetings = [
        {"component": "" if number % 2 else "scheduler", "user_agent": "kubectl", "time": f"2026-01-01T00:00:0{number}.5Z",
         "fault": "c", "verb": "get", "path": f"/{number}"} for number in range(6)]
    assert said("faults", orjson.dumps({**FAULTS, "items": items, "meetings": meetings}), monkeypatch)[2].splitlines() == [
        "a: error a, met 0 times", "b: error b, met once", "c: error c, met 2 times",
        "  2026-01-01T00:00:01Z  c  get /1  kubectl", "  2026-01-01T00:00:02Z  c  get /2  scheduler",
        "  2026-01-01T00:00:03Z  c  get /3  kubectl", "  2026-01-01T00:00:04Z  c  get /4  scheduler",
        "  2026-01-01T00:00:05Z  c  get /5  kubectl"]


@pytest.mark.parametrize(("words", "call"), [
    ("clock", (None, None, "GET", "/fakekube/v1/clock", "", None)),
    ("clock --server a --kubeconfig b", ("a", "b", "GET", "/fakekube/v1/clock", "", None)),
    ("clock --server a --kubeconfig b now", ("a", "b", "GET", "/fakekube/v1/clock", "", None)),
    ("clock --server a --kubeconfig b now --server c", ("c", None, "GET", "/fakekube/v1/clock", "", None)),
    ("clock --server a --kubeconfig b now --kubeconfig d", (None, "d", "GET", "/fakekube/v1/clock", "", None)),
    ("clock advance 5s", (None, None, "POST", "/fakekube/v1/clock", '{"advance":"5s"}', None)),
    ("clock advance --server c -5s", ("c", None, "POST", "/fakekube/v1/clock", '{"advance":"-5s"}', None)),
    ("clock set --server c x", ("c", None, "POST", "/fakekube/v1/clock", '{"set":"x"}', None)),
    ("clock pause --server c", ("c", None, "POST", "/fakekube/v1/clock", '{"paused":true}', None)),
    ("clock resume --kubeconfig d", (None, "d", "POST", "/fakekube/v1/clock", '{"paused":false}', None)),
])
def test_what_is_asked_about_the_clock(words: str, call: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given commands about the clock, when they are given, then what they want is one request, to
    the address after the command or else to the one before it.
    """
    assert said(words, orjson.dumps(CLOCK), monkeypatch) == (
        [call], 0, "2026-01-01T00:00:07Z  real: it runs as the wall's\n")


@pytest.mark.parametrize(("clock", "text"), [
    ({"mode": "manual", "paused": True}, "manual: it moves when it is told to"),
    ({"mode": "auto", "paused": True}, "auto, paused"),
    ({"mode": "auto"}, "auto: it jumps to what is waited for"),
    ({"mode": "scaled", "paused": True}, "scaled, paused"),
    ({"mode": "scaled", "factor": 2.5}, "2.5 times as fast as the wall's"),
    ({"mode": "scaled", "factor": 60.0}, "60 times as fast as the wall's"),
    ({"mode": "real", "paused": True}, "real, paused"),
])
def test_how_a_clock_is_shown(clock: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a clock of each kind, when it is shown, then its time and what moves it are a line."""
    assert said("clock", orjson.dumps({**CLOCK, **clock}), monkeypatch)[2] == f"2026-01-01T00:00:07Z  {text}\n"


@pytest.mark.parametrize("words", ["clock", "faults", "snapshot -o /nowhere/file"])
@pytest.mark.parametrize("answer", [b"hello", b"{}", b"[]", b"7", b'{"kind": "Status"}'])
def test_what_answers_is_something_else(words: str, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given something else than a server of ours, when it is asked, then that is said."""
    assert said(words, answer, monkeypatch)[1:] == (1, NOT_OURS)
