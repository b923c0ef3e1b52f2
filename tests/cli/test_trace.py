"""What led to an object, asked for from a shell and over plain HTTP, of a cluster and of a file."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.cli.test_clock import ask

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

PATH = "/fakekube/v1/trace"
POD = """
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default}, spec: {containers: [{name: main, image: busybox}]}}
"""


def test_the_shell_is_told_what_led_to_a_pod(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a served cluster with a pod that runs, when the shell asks for its trace, then it is
    the same as a text, as JSON and for Chrome, of the cluster and of its snapshot; a pod that is
    not there is an error in one sentence.
    """
    (tmp_path / "pod.yaml").write_text(POD)
    server = serve("--clock", "manual", "--nodes", "1", "--load", str(tmp_path / "pod.yaml"))
    at = ("--server", server.url)
    assert fakekube("clock", *at, "advance", "5s").returncode == 0
    text = fakekube("trace", *at, "pod/web").stdout
    assert text.startswith("pods default/web: ")
    assert "scheduler at default/web: create pods/binding default/web" in text
    field = fakekube("trace", *at, "pod/web", "--field", "status.phase").stdout
    assert 'status.phase: "Pending" -> "Running"' in field
    assert len(field) < len(text)
    told = json.loads(fakekube("trace", *at, "pod/web", "-n", "default", "--last", "1", "-o", "json").stdout)
    assert (told["kind"], told["object"], told["last"]) == ("Trace", "pods default/web", 1)
    chrome = json.loads(fakekube("trace", *at, "pod/web", "-o", "chrome").stdout)
    assert {event["ph"] for event in chrome["traceEvents"]} == {"M", "X", "s", "f"}

    file = str(tmp_path / "web.snapshot")
    assert fakekube("snapshot", *at, "-o", file).returncode == 0
    assert fakekube("trace", "pod/web", "--from", file).stdout == text
    assert fakekube("trace", "pod/web", "--from", file, "--last", "0").stdout == text
    assert json.loads(fakekube("trace", "pod/web", "--from", file, "--last", "1", "-o", "json").stdout) == told
    assert json.loads(fakekube("trace", "pod/web", "--from", file, "-o", "chrome").stdout) == chrome
    for where in (at, ("--from", file)):
        missing = fakekube("trace", *where, "pod/none")
        assert (missing.returncode, missing.stderr.strip()) == (1, 'Error: pods "none" not found')
    (tmp_path / "none").write_text("no snapshot")
    assert "is no snapshot of fakekube" in fakekube("trace", "pod/web", "--from", str(tmp_path / "none")).stderr
    both = fakekube("trace", *at, "pod/web", "--from", file)
    assert (both.returncode, both.stderr.startswith("Error: a trace is of a snapshot or of a served cluster")) == (2, True)
    unsent = fakekube("trace", *at, "pod/web", "--otlp", "nowhere")
    assert (unsent.returncode, unsent.stderr.strip()) == (
        1, "Error: 'nowhere' is no address of a collector: say http://127.0.0.1:4318")


@pytest.mark.parametrize(("method", "query", "code", "text"), [
    ("GET", {}, 400, "nothing to do: give one of object, namespace, field, last, output"),
    ("GET", {"namespace": "default"}, 400, "name an object: object=pod/NAME"),
    ("GET", {"object": "pod"}, 400, "'pod' names no object: say pod/NAME or job/NAME"),
    ("GET", {"object": "unknown/x"}, 400, "the server doesn't have a resource type 'unknown'"),
    ("GET", {"object": "pod/x", "output": "xml"}, 400, "output is neither json nor text nor chrome"),
    ("GET", {"object": "pod/x", "last": "-1"}, 400, "last is no number of changes"),
    ("GET", {"object": "pod/x", "last": "9" * 5000}, 400, "last is no number of changes"),
    ("GET", {"object": "pod/x", "last": "1001"}, 400,
     "last is more than 1,000, or all: so many are told of a snapshot, by trace --from"),
    ("GET", {"object": "pod/x", "last": "0"}, 400,
     "last is more than 1,000, or all: so many are told of a snapshot, by trace --from"),
    ("GET", {"object": "pod/x"}, 404, 'pods "x" not found'),
    ("POST", {"object": "pod/x"}, 405, "the server does not allow this method on the requested resource"),
])
def test_what_names_no_object_is_refused(serve: Serve, method: str, query: dict[str, str], code: int, text: str) -> None:
    """Given a served cluster, when something else than the trace of an object is asked for, then
    that is said.
    """
    server = serve("--clock", "manual")
    status, answer = ask(server, method, f"{PATH}?{urlencode(query)}")
    assert (status, answer["message"]) == (code, text)
