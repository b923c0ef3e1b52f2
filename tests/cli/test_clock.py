"""The time of a served cluster, from a shell and over plain HTTP."""

import http.client
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

PATH = "/fakekube/v1/clock"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def ask(server: Any, method: str, path: str, body: str = "", **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    connection.request(method, path, body or None, headers)
    answer = connection.getresponse()
    result = json.loads(answer.read())
    connection.close()
    return answer.status, result


def age_of_node(server: Any) -> str:
    _, table = ask(server, "GET", "/api/v1/nodes", Accept=TABLE)
    column = [definition["name"] for definition in table["columnDefinitions"]].index("Age")
    return str(table["rows"][0]["cells"][column])


def test_a_frozen_clock_shows_the_same_ages(serve: Serve, fakekube: Run) -> None:
    """Given a served cluster on the wall's time, when its clock is paused and moved by hand, then
    ages are what the clock says, twice the same; and it runs again when it is told to.
    """
    server = serve()
    at = ("--server", server.url)
    assert fakekube("clock", *at, "pause").stdout.strip().endswith("Z  real, paused")
    assert fakekube("clock", *at, "advance", "1h30m").returncode == 0
    frozen = fakekube("clock", *at, "now").stdout
    assert [age_of_node(server), age_of_node(server)] == ["90m", "90m"]
    assert fakekube("clock", "--kubeconfig", str(server.kubeconfig)).stdout == frozen
    assert fakekube("clock", *at, "resume").stdout.strip().endswith("Z  real: it runs as the wall's")


def test_the_clock_is_everybodys(serve: Serve) -> None:
    """Given a served cluster on manual time, when its clock is asked and moved over HTTP, by body
    and by query, then it says what it is and where it stands.
    """
    server = serve("--clock", "manual")
    status, clock = ask(server, "GET", PATH)
    assert (status, clock["kind"], clock["now"], clock["mode"], clock["paused"]) == (
        200, "Clock", "2026-01-01T00:00:00.000000Z", "manual", True)
    assert ask(server, "POST", PATH, '{"advance": "1h"}')[1]["now"] == "2026-01-01T01:00:00.000000Z"
    assert ask(server, "POST", f"{PATH}?advance=30")[1]["now"] == "2026-01-01T01:00:30.000000Z"
    assert ask(server, "POST", PATH, '{"set": "2026-01-02T00:00:00Z"}')[1]["unixSeconds"] == 1767312000.0


@pytest.mark.parametrize(("body", "code", "text"), [
    ('{"advance": "-1h"}', 400, "time cannot advance by that: '-1h' is no duration: say 1h30m, 90s or 500ms"),
    ('{"advance": -1}', 400, "time cannot advance by that: -1 is below zero"),
    ('{"advance": [1]}', 400, "advance is no duration"),
    ('{"set": "2025-01-01T00:00:00Z"}', 400, "the clock is at 2026-01-01T00:00:00Z and cannot be set back to 2025-01-01"),
    ('{"set": "2027-01-01"}', 400, "'2027-01-01' has no time zone"),
    ('{"paused": false}', 400, "a manual clock moves only when it is told to"),
    ('{"paused": "maybe"}', 400, "paused is neither true nor false"),
    ('{"advance": 1, "set": "2027-01-01T00:00:00Z"}', 400, "give either advance or set"),
    ('{"speed": 2}', 400, "unknown field 'speed': known are advance, set, paused"),
    ("{}", 400, "nothing to do"), ("1h", 400, "the body is no JSON"), ("[]", 400, "the body is no JSON object"),
])
def test_what_a_clock_cannot_do_is_told(body: str, code: int, text: str, manual: Any) -> None:
    """Given a clock, when it is asked for what cannot be, then the answer is a Status that says
    why, and the clock stands.
    """
    status, answer = ask(manual, "POST", PATH, body)
    assert (status, answer["kind"]) == (code, "Status")
    assert text in answer["message"]
    assert ask(manual, "GET", PATH)[1]["now"] == "2026-01-01T00:00:00.000000Z"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server on manual time for all cases that leave it as it was."""
    from tests.cli.conftest import Serving

    server = Serving(tmp_path_factory.mktemp("manual") / "kubeconfig", "--clock", "manual")
    yield server
    server.end()


def test_time_does_not_run_backwards(serve: Serve, fakekube: Run) -> None:
    """Given a served cluster, when its clock is to be set back from the shell, then one line says
    why not.
    """
    server = serve("--clock", "manual")
    done = fakekube("clock", "--server", server.url, "set", "2020-01-01T00:00:00Z")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: the clock is at 2026-01-01T00:00:00Z and cannot be set back to 2020-01-01T00:00:00+00:00\n")
    assert fakekube("clock", "--server", server.url, "advance", "-1h").returncode == 1


def test_where_nobody_is_one_line_says_so(fakekube: Run) -> None:
    """Given an address where nothing listens, or a kubeconfig that is not there, when the clock is
    asked, then one line says what is wrong.
    """
    done = fakekube("clock", "--server", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert fakekube("clock", "--kubeconfig", "nowhere").stderr.startswith("Error: nowhere: ")
