"""``fakekube serve`` as somebody at a shell meets it."""

import json
import signal
import socket
import stat
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.apimachinery.releases import NEWEST

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]


def test_it_says_how_it_is_used_and_answers(serve: Serve) -> None:
    """Given a server with two nodes, when it is asked as curl would, then it answers; what it
    printed says where it is, and its kubeconfig is for nobody else's eyes.
    """
    server = serve("--nodes", "2")
    assert server.get("/livez") == (200, "ok")
    status, nodes = server.get("/api/v1/nodes")
    assert (status, nodes["kind"]) == (200, "NodeList")
    assert [item["metadata"]["name"] for item in nodes["items"]] == ["node-0", "node-1"]
    status, body = server.get("/api/v1/namespaces/default/pods/nobody")
    assert (status, body["kind"], body["message"]) == (404, "Status", 'pods "nobody" not found')
    assert stat.S_IMODE(server.kubeconfig.stat().st_mode) == 0o600
    code, _, output = server.end()
    assert code == 0
    assert f"Kubernetes {NEWEST.name} with 2 nodes, listening at {server.url}" in output
    assert f"curl {server.url}/api/v1/namespaces" in output
    assert f"kubectl --kubeconfig {server.kubeconfig} get nodes" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_it_is_told(serve: Serve, number: signal.Signals) -> None:
    """Given a server with an open watch, when it gets the signal, then it is gone within two
    seconds with exit code 0.
    """
    server = serve()
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as watch:
        watch.sendall(b"GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert watch.recv(100).startswith(b"HTTP/1.1 200 OK")
        code, seconds, output = server.end(number)
    assert (code, output.splitlines()[-1]) == (0, "stopping")
    assert seconds < 2


def test_manifests_are_there_from_the_start(serve: Serve, tmp_path: Path) -> None:
    """Given a file of two documents, one of them a List, when it is loaded at the start, then its
    objects are there as soon as the kubeconfig is.
    """
    file = tmp_path / "all.yaml"
    file.write_text("""\
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings, namespace: team}
  data: {mode: fast}
""")
    status, found = serve("--load", str(file)).get("/api/v1/namespaces/team/configmaps/settings")
    assert (status, found["data"]) == (200, {"mode": "fast"})


def test_controllers_go_by_upstreams_names(serve: Serve) -> None:
    """Given only the two controllers that namespaces need, by their names of today, when nodes are
    asked for, then there are none, and ``default`` has its service account a moment after the
    server answers.
    """
    server = serve("--nodes", "0", "--controllers", "namespace-controller,serviceaccount-controller")
    assert server.get("/api/v1/nodes")[1]["items"] == []
    assert server.get_once_there("/api/v1/namespaces/default/serviceaccounts/default")["metadata"]["name"] == "default"


def test_an_older_release_with_an_alpha_api(serve: Serve) -> None:
    """Given the release 1.35 with an alpha API switched on, when discovery is read, then the API is
    there.
    """
    server = serve("--kubernetes-version", "1.35", "--runtime-config", "scheduling.k8s.io/v1alpha1=true",
                   "--feature-gates", "GenericWorkload=true")
    assert server.get("/version")[1]["minor"] == "35"
    assert "workloads" in [item["name"] for item in server.get("/apis/scheduling.k8s.io/v1alpha1")[1]["resources"]]


@pytest.mark.parametrize(("options", "text"), [
    (["--controllers", "job2"], 'controllers: "job2" is not in the list of known controllers: '),
    (["--feature-gates", "Nope=true"], "unrecognized feature gate: Nope"),
    (["--feature-gates", "GangScheduling=maybe"], 'parsing "maybe": invalid syntax'),
    (["--kubernetes-version", "1.12"], "unknown Kubernetes release '1.12', known are 1.25"),
    (["--kubernetes-version", "newest"], f"kubernetes_version: 'newest' is no version: say {NEWEST.name}"),
    (["--disable-admission-plugins", "Foo"], 'plugin "Foo" is unknown'),
    (["--runtime-config", "foo/v1=true"], "unknown api groups foo/v1"),
    (["--clock", "nan"], "clock: 'nan' is none of real, manual, auto, or a factor above 0"),
    (["--nodes", "-1"], "nodes: -1 is no number of nodes"),
    (["--kubeconfig", "nowhere/kubeconfig"], "kubeconfig: there is no directory nowhere"),
])
def test_what_cannot_be_meant_is_told_in_a_line(fakekube: Run, options: list[str], text: str) -> None:
    """Given an option with a mistake, when the server is started, then one line says which, and it
    does not start.
    """
    done = fakekube("serve", *options)
    assert done.returncode != 0
    assert done.stdout == ""
    assert text in done.stderr
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_port_that_is_taken_is_told(fakekube: Run) -> None:
    """Given a port on which somebody listens, when a server is to listen there too, then one line
    says so.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = fakekube("serve", "--port", str(port))
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "address already in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("manifest", "text"), [
    ("kind: ConfigMap", "a document without apiVersion and kind is no manifest"),
    ("job.yaml", "is no manifest: for a file of that name say Path('job.yaml')"),
    ("a: [", "did not find expected node content"),
    ("apiVersion: v1\nkind: Fridge\nmetadata: {name: a}", 'no matches for kind "Fridge" in version "v1"'),
    ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B, namespace: default}", 'Invalid value: "A_B"'),
])
def test_a_manifest_that_is_refused_is_told(fakekube: Run, tmp_path: Path, manifest: str, text: str) -> None:
    """Given a file that is no manifest or that the server refuses, when it is loaded, then the
    message names the file and the reason, and the server does not stay.
    """
    (tmp_path / "bad.yaml").write_text(manifest)
    done = fakekube("serve", "--load", "bad.yaml", "--nodes", "0")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert text in done.stderr
    assert "bad.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_asks_says_what_it_needs(serve: Serve) -> None:
    """Given RBAC without TLS, when it has started, then who has no token is anonymous, the greeting
    has the token for curl, and it says that kubectl needs TLS.
    """
    server = serve("--authorization-mode", "RBAC")
    assert server.get("/healthz") == (200, "ok")
    status, refused = server.get("/api/v1/nodes")
    assert (status, refused["message"].partition(" cannot ")[0]) == (403, 'nodes is forbidden: User "system:anonymous"')
    code, _, output = server.end()
    assert code == 0
    assert "curl --header 'Authorization: Bearer fakekube-" in output
    assert "start with --tls to use them" in output
    assert "kubectl --kubeconfig" not in output


def test_several_clusters_have_a_port_and_a_context_each(serve: Serve) -> None:
    """Given a fleet of two, when it is served, then each has a context in the one kubeconfig, the
    first is the current one, and what is written to one is not in the other; at the end the file
    is gone.
    """
    server = serve("--fleet", "manager,worker1", "--nodes", "0")
    config = yaml.safe_load(server.kubeconfig.read_text())
    assert config["current-context"] == "manager"
    assert [context["name"] for context in config["contexts"]] == ["manager", "worker1"]
    urls = [cluster["cluster"]["server"] for cluster in config["clusters"]]
    assert urls[0] != urls[1]
    body = json.dumps({"metadata": {"name": "m"}}).encode()
    request = urllib.request.Request(
        f"{urls[1]}/api/v1/namespaces/default/configmaps", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 201
    assert server.get("/api/v1/namespaces/default/configmaps/m")[0] == 404
    code, _, output = server.end()
    assert code == 0
    assert f"context worker1: {urls[1]}" in output
    assert not server.kubeconfig.exists()
