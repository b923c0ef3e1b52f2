"""Operators outside of a Cluster: ``fakekube crds`` and ``fakekube run``."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.cli.conftest import FAKEKUBE, START_SECONDS, Serving

HERE = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _sites_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{HERE / 'tests' / 'cli'}{os.pathsep}{path}")


def test_crds_prints_what_kubectl_applies(fakekube: Run) -> None:
    """Given an add-on, when its definitions are asked for, then they are YAML of the newest API."""
    done = fakekube("crds", "sites:sites")
    assert (done.returncode, done.stderr) == (0, "")
    definition = yaml.safe_load(done.stdout)
    assert (definition["apiVersion"], definition["metadata"]["name"]) == ("apiextensions.k8s.io/v1", "sites.example.com")
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["description"] == "A text on the web."
    assert schema["properties"]["spec"] == {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.mark.parametrize(("arguments", "text"), [
    (("crds", "job"), "job is no add-on, and has no definitions"),
    (("crds", "nobody"), "there is no controller or add-on 'nobody'"),
    (("run", "sites:nobody"), "'sites:nobody' names nothing that can be imported"),
    (("run", "sites:sites", "--server", "http://127.0.0.1:1"), "127.0.0.1"),
    (("run", "job", "--server", "http://127.0.0.1:1", "--feature-gates", "Nothing=maybe"), "Nothing"),
    (("run", "job", "--server", "http://127.0.0.1:1", "--nodes", "3"), "registered by the kubelet, which is not to run"),
    (("run", "kubelet", "--server", "http://127.0.0.1:1", "--nodes", "-1"), "-1 is not in the range"),
])
def test_what_cannot_be_meant_is_told_in_a_sentence(fakekube: Run, arguments: tuple[str, ...], text: str) -> None:
    """Given a mistake, when the command runs, then one line says what is wrong."""
    done = fakekube(*arguments)
    assert done.returncode in (1, 2)
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def create(server: Serving, text: str) -> Any:
    """What the server answers to a new site."""
    site = {"apiVersion": "example.com/v1", "kind": "Site", "metadata": {"name": "a"}, "spec": {"text": text}}
    return urlopen(Request(
        f"{server.url}/apis/example.com/v1/namespaces/default/sites", json.dumps(site).encode(),
        {"Content-Type": "application/json"}), timeout=20)


def test_run_takes_an_operator_to_a_server(serve: Callable[..., Serving], tmp_path: Path) -> None:
    """Given a server that knows nothing of it, when an add-on runs there, then its kind is served,
    its manifests are there, its webhooks are asked, objects are converted, and its controller acts;
    and Ctrl-C ends it.
    """
    server = serve("--controllers", "")
    with subprocess.Popen(
            [*FAKEKUBE, "run", "sites:sites", "--kubeconfig", str(server.kubeconfig)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running sites; Ctrl-C ends it\n"
        server.get_once_there("/api/v1/namespaces/default/configmaps/sites-note")
        with create(server, "hello") as answer:
            assert (answer.status, answer.headers["Warning"]) == (201, '299 - "sites are public"')
            assert json.load(answer)["metadata"]["labels"] == {"site": "a"}
        with pytest.raises(HTTPError) as refused:
            create(server, "a secret")
        assert (refused.value.code, json.load(refused.value)["message"]) == (
            403, 'admission webhook "no-secrets.webhooks.fakekube.dev" denied the request: secrets are not published')
        found = server.get_once_there("/api/v1/namespaces/default/configmaps/a")
        assert found["data"] == {"index.html": "hello"}
        assert server.get("/apis/example.com/v1alpha1/namespaces/default/sites/a")[1]["spec"] == {"words": "hello"}
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 0
        assert process.stderr.read() == ""
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    assert server.get(path)[1]["items"] == []


def test_a_kubelet_registers_nodes_on_a_server(serve: Callable[..., Serving], tmp_path: Path) -> None:
    """Given a server without nodes and kubelets, when a kubelet with two nodes runs there, then
    they are registered.
    """
    server = serve("--nodes", "0", "--controllers", "")
    with subprocess.Popen(
            [*FAKEKUBE, "run", "kubelet", "--nodes", "2", "--kubeconfig", str(server.kubeconfig)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running kubelet; Ctrl-C ends it\n"
        for name in ("node-0", "node-1"):
            lease = server.get_once_there(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}")
            assert lease["spec"]["holderIdentity"] == name
            assert server.get(f"/api/v1/nodes/{name}")[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 0
        assert process.stderr.read() == ""


def test_an_operator_brings_several_webhooks_in_one_configuration(serve: Callable[..., Serving], tmp_path: Path) -> None:
    """Given JobSet, whose webhooks stand in two configurations and look things up / when it runs
    beside a server / then each webhook is asked, pods of a Job follow their first one to its rack,
    and the configurations go with it.
    """
    server = serve("--nodes", "2")
    path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
    template = {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    jobset: dict[str, Any] = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": [
            {"name": "w", "template": {"spec": {"parallelism": 2, "completions": 2, "template": template}}}]}}

    def post(**metadata: Any) -> Any:
        body = json.dumps({**jobset, "metadata": metadata}).encode()
        return urlopen(Request(f"{server.url}{path}", body, {"Content-Type": "application/json"}), timeout=20)

    with subprocess.Popen(
            [*FAKEKUBE, "run", "fakekube_controllers.jobset:addon", "--kubeconfig", str(server.kubeconfig)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running jobset; Ctrl-C ends it\n"
        with pytest.raises(HTTPError) as refused:
            post(name="too-long" * 8)
        assert refused.value.code == 422
        assert json.load(refused.value)["message"].startswith('admission webhook "vjobset.kb.io" denied the request: JobSet.')
        with post(name="js", annotations={"alpha.jobset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}) as answer:
            assert json.load(answer)["spec"]["successPolicy"] == {"operator": "All"}
        assert server.get_once_there("/apis/batch/v1/namespaces/default/jobs/js-w-0")["spec"]["suspend"] is False
        end, pods = time.monotonic() + START_SECONDS, list[Any]()
        while len(pods) < 2 and time.monotonic() < end:
            pods = server.get("/api/v1/namespaces/default/pods")[1]["items"]
        assert len(pods) == 2
        assert len([pod for pod in pods if "kubernetes.io/hostname" in pod["spec"].get("nodeSelector", {})]) == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 0
    for kind in ("validating", "mutating"):
        assert server.get(f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations")[1]["items"] == []


def test_run_takes_kueue_to_a_server(serve: Callable[..., Serving], tmp_path: Path) -> None:
    """Given a server without Kueue and a configuration of it / when Kueue runs beside the server /
    then its webhooks and conversions are asked over HTTPS, and a Job is let in; what is wrong in
    the configuration is told before anything is done; nothing is told of kinds that may come.
    """
    server, config = serve("--nodes", "1"), tmp_path / "kueue.yaml"
    config.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanageJobsWithoutQueueName: true\n")

    def post(path: str, kind: str, name: str, version: str = "kueue.x-k8s.io/v1beta2", **spec: Any) -> Any:
        body = json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}).encode()
        return urlopen(Request(f"{server.url}/apis/{version}/{path}", body, {"Content-Type": "application/json"}), timeout=20)

    def quota(nominal: str) -> dict[str, Any]:
        flavor = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": nominal}]}
        return {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]}

    with subprocess.Popen(
            [*FAKEKUBE, "run", "kueue", "--kubeconfig", str(server.kubeconfig), "--kueue-config", str(config)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running kueue; Ctrl-C ends it\n"
        post("resourceflavors", "ResourceFlavor", "f").close()
        with pytest.raises(HTTPError) as refused:
            post("clusterqueues", "ClusterQueue", "q", **quota("-1"))
        assert json.load(refused.value)["message"].startswith('admission webhook "vclusterqueue.kb.io" denied the request: spec')
        with post("clusterqueues", "ClusterQueue", "q", "kueue.x-k8s.io/v1beta1", cohort="all", **quota("4")) as answer:
            assert json.load(answer)["spec"]["cohort"] == "all"
        assert server.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q")[1]["spec"]["cohortName"] == "all"
        post("namespaces/default/localqueues", "LocalQueue", "default", clusterQueue="q").close()
        container = {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        with post("namespaces/default/jobs", "Job", "j", "batch/v1", template=template) as answer:
            assert json.load(answer)["spec"]["suspend"] is True
        end, suspended = time.monotonic() + START_SECONDS, True
        while suspended and time.monotonic() < end:
            suspended = server.get("/apis/batch/v1/namespaces/default/jobs/j")[1]["spec"]["suspend"]
        assert suspended is False
        with post("namespaces/default/jobs", "Job", "k", "batch/v1", template={"spec": {**template["spec"], "containers": [
                {**container, "resources": {"requests": {"cpu": "9"}}}]}}):
            pass
        waiting = server.get_once_there("/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/q/pendingworkloads")["items"]
        while not waiting and time.monotonic() < end:
            waiting = server.get("/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/q/pendingworkloads")[1]["items"]
        assert [each["metadata"]["ownerReferences"][0]["name"] for each in waiting] == ["k"]
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 0
        assert "404" not in process.stderr.read()  # of kinds that are not there


def test_an_operator_with_a_lease_waits_for_it(serve: Callable[..., Serving], tmp_path: Path) -> None:
    """Given an add-on that runs under a lease, when it has begun, then the lease is its own."""
    server = serve("--controllers", "")
    with subprocess.Popen(
            [*FAKEKUBE, "run", "sites:sites", "--lease", "sites", "--kubeconfig", str(server.kubeconfig)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True) as process:
        try:
            lease = server.get_once_there("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sites")
            assert lease["spec"]["holderIdentity"].startswith("fakekube_")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(START_SECONDS) == 0


def test_serve_runs_an_add_on_by_its_place(serve: Callable[..., Serving]) -> None:
    """Given ``--extra`` with an add-on, when a server starts, then the add-on's kind is served."""
    server = serve("--controllers", "", "--extra", "sites:sites")
    assert server.get("/apis/example.com/v1/namespaces/default/sites")[0] == 200
