"""Why an object of a served cluster waits, from a shell and over plain HTTP."""

import json
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from fakekube.testing.background import BackgroundCluster
from tests.cli.test_clock import ask

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

PATH = "/fakekube/v1/why"
POD = """
{apiVersion: v1, kind: Pod, metadata: {name: large, namespace: default}, spec: {
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "20"}}}]}}
"""
JOB = """
{apiVersion: batch/v1, kind: Job, metadata: {name: large, namespace: default}, spec: {template: {spec: {restartPolicy: Never,
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "20"}}}]}}}}
"""


def test_the_shell_is_told_why_a_pod_waits(serve: Serve, fakekube: Run, tmp_path: Any) -> None:
    """Given a served cluster with a pod that is too large, when the shell asks, then it is told
    what is missing, as a text and as JSON; a pod that is not there is an error in one sentence.
    """
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    server = serve("--clock", "manual", "--nodes", "1", "--load", str(manifest))
    at = ("--server", server.url)
    assert fakekube("clock", *at, "advance", "1s").returncode == 0
    text = fakekube("why", *at, "pod/large").stdout
    assert "it would go on with: 1" in text
    assert "more cpu on node" in text
    told = json.loads(fakekube("why", *at, "pod/large", "-n", "default", "-o", "json").stdout)
    assert (told["kind"], told["object"], told["state"]) == ("Why", "pod/default/large", "Unschedulable")
    assert told["changes"][0]["action"] == "AddResource"
    missing = fakekube("why", *at, "pod/none")
    assert (missing.returncode, missing.stderr.strip()) == (1, 'Error: pods "none" not found')


@pytest.mark.parametrize(("method", "query", "code", "text"), [
    ("GET", {}, 400, "nothing to do: give one of object, namespace, output"),
    ("GET", {"namespace": "default"}, 400, "name an object: object=pod/NAME"),
    ("GET", {"object": "pod"}, 400, "'pod' names no object: say pod/NAME or job/NAME"),
    ("GET", {"object": "unknown/x"}, 400, "the server doesn't have a resource type 'unknown'"),
    ("GET", {"object": "pod/x", "output": "xml"}, 400, "output is neither json nor text"),
    ("GET", {"object": "pod/x"}, 404, 'pods "x" not found'),
    ("POST", {"object": "pod/x"}, 405, "the server does not allow this method on the requested resource"),
])
def test_what_names_no_object_is_refused(serve: Serve, method: str, query: dict[str, str], code: int, text: str) -> None:
    """Given a served cluster, when something else than an object is asked about, then that is said.
    """
    server = serve("--clock", "manual")
    status, answer = ask(server, method, f"{PATH}?{urlencode(query)}")
    assert (status, answer["message"]) == (code, text)


def test_a_job_waits_for_its_pods() -> None:
    """Given a Job whose pod fits nowhere, when the background cluster is asked about the Job, then
    the pod's answer stands below, and so does what would help; suspended, it would have to resume.
    """
    with BackgroundCluster(nodes=1, clock="manual") as cluster:
        cluster.call(lambda running: running.load(JOB))
        cluster.advance("1s")
        answer = cluster.why("job/large")
        assert (answer.state, [below.state for below in answer.because]) == ("Waiting", ["Unschedulable"])
        assert answer.changes[0].action == "AddResource"
        cluster.call(lambda running: running.load(JOB.replace("spec: {template", "spec: {suspend: true, template")))
        cluster.advance("1s")
        answer = cluster.why("jobs.batch/large")
        assert (answer.state, answer.changes[0].text) == ("Suspended", "set spec.suspend of job large to false")
