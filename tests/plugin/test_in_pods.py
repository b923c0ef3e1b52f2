"""A server for clients that take themselves to be in a pod, and one that lasts for a whole run."""

import asyncio
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.client import kubeconfig
from fakekube.client.resources import CONFIG_MAPS, SERVICE_ACCOUNTS
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.testing import in_cluster
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.report import of_failure
from fakekube.webhooks import AdmissionRequest, Denied

HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


@pytest.mark.fakekube(tls=True, nodes=0)
def test_the_configuration_of_a_pod(fakekube_in_cluster: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a server with TLS / when a test wants the configuration of a pod / then environment and
    files lead to the server, as the default account of the default namespace.
    """
    assert sorted(each.name for each in fakekube_in_cluster.iterdir()) == ["ca.crt", "namespace", "token"]
    assert f"https://{os.environ[HOST]}:{os.environ[PORT]}" == fakekube_server.url
    assert (fakekube_in_cluster / "namespace").read_text() == "default"
    assert (fakekube_in_cluster / "ca.crt").read_text() == fakekube_server.run(lambda cluster: cluster.root_ca)
    assert fakekube_in_cluster == kubeconfig.SERVICE_ACCOUNT_FOLDER


@pytest.mark.fakekube(tls=True, nodes=0)
def test_another_account(
    fakekube_server: BackgroundCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    """Given an environment / when a block is as in a pod of another account / then our client is
    that account for a year and longer, and all is as before when the block has ended.
    """
    monkeypatch.setenv(HOST, "10.1.1.1")
    monkeypatch.delenv(PORT, raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = kubeconfig.SERVICE_ACCOUNT_FOLDER
    account = {"metadata": {"name": "robot"}}
    fakekube_server.call(lambda cluster: cluster.client.create(SERVICE_ACCOUNTS, account, "kube-system"))

    async def who() -> Any:
        client = kubeconfig.load_client()
        try:
            answer = await client.request(
                "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                body=b'{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}')
        finally:
            await client.close()
        return client.namespace, orjson.loads(answer.body)["status"]["userInfo"]["username"]

    with in_cluster(fakekube_server, service_account="robot", namespace="kube-system", folder=tmp_path / "a" / "b") as folder:
        assert folder == tmp_path / "a" / "b" == kubeconfig.SERVICE_ACCOUNT_FOLDER
        fakekube_server.advance("3000d")
        assert asyncio.run(who()) == ("kube-system", "system:serviceaccount:kube-system:robot")
    assert list(folder.iterdir()) == []
    assert (os.environ[HOST], PORT in os.environ, kubeconfig.SERVICE_ACCOUNT_FOLDER) == ("10.1.1.1", False, before)
    with pytest.raises(APIError, match='serviceaccounts "nobody" not found'), \
            in_cluster(fakekube_server, service_account="nobody"):
        pass


NEEDED = "in_cluster: clients in pods speak TLS only: give the cluster tls=True"


def test_pods_need_tls() -> None:
    """Given a server without TLS / when a pod's configuration is wanted / then it is told what is
    needed.
    """
    with BackgroundCluster(ClusterOptions(nodes=0, controllers="")) as cluster, pytest.raises(OptionError) as refused, \
            in_cluster(cluster):
        pass
    assert str(refused.value) == NEEDED


TESTS = """
import pytest

seen = []


@pytest.mark.fakekube(nodes=0)
def test_pod(fakekube_in_cluster):
    pass


@pytest.mark.parametrize("number", [0, 1])
def test_session(fakekube_server_session, number):
    seen.append(fakekube_server_session.url)
    assert len(set(seen)) == 1


def test_kubeconfig(fakekube_kubeconfig, fakekube_server):
    assert fakekube_kubeconfig == fakekube_server.kubeconfig
    assert fakekube_server.url in fakekube_kubeconfig.read_text()
"""


def test_fixtures_in_a_run(pytester: pytest.Pytester) -> None:
    """Given tests that want a pod's configuration without TLS, a server for the run, and the path
    of a kubeconfig / when they run / then the first is an error that says what is needed, and the
    others have what they want.
    """
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nfakekube_nodes = 0\nfakekube_controllers =\n")
    found = pytester.runpytest("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout", "-p", "no:cacheprovider")
    found.assert_outcomes(passed=3, errors=1)
    found.stdout.fnmatch_lines([f"E*UsageError: fakekube: {NEEDED}"])


def test_what_a_background_cluster_hands_on(tmp_path: Path) -> None:
    """Given a cluster in the background / when an API is aggregated, functions become webhooks, and
    a trace is asked for from the test's thread / then all is as of the cluster.
    """
    class Answers:
        async def handle(self, request: Request) -> Response:
            return Response(200, f"{request.method} {request.path}".encode(), "text/plain")

    async def asks(request: AdmissionRequest) -> None:
        raise Denied(f"not {request.name}")

    with BackgroundCluster(ClusterOptions(nodes=0, controllers=""), kubeconfig=tmp_path / "config") as cluster:
        cluster.aggregate("v1.shop.example.com", Answers(), group_priority=7)
        answer = cluster.call(lambda inner: inner.client.request("GET", "/apis/shop.example.com/v1/fish"))
        assert answer.body == b"GET /apis/shop.example.com/v1/fish"
        cluster.call(lambda inner: inner.client.create(CONFIG_MAPS, {"metadata": {"name": "good"}}))
        cluster.webhook("configmaps", name="asks")(asks)
        made = {"metadata": {"name": "bad"}}
        with pytest.raises(APIError, match=r'^admission webhook "asks\.webhooks\.fakekube\.dev" denied the request: not bad$'):
            cluster.call(lambda inner: inner.client.create(CONFIG_MAPS, made))
        told = cluster.trace("configmap/good")
        assert [(step.type, step.object, step.is_own, step.origin) for step in told.steps] == [
            ("ADDED", "configmaps default/good", True, "Request")]
        with pytest.raises(APIError, match=r'^configmaps "nothing" not found$'):
            cluster.trace("configmap/nothing")
        assert yaml.safe_load(cluster.kubeconfig.read_text())["current-context"] == "fakekube"


class Busy(BackgroundCluster):
    """One that never has time."""

    def snapshot(self, timeout_seconds: float | None = None) -> Any:
        assert timeout_seconds == 5
        raise TimeoutError


def test_the_report_of_a_busy_cluster() -> None:
    """Given a cluster in the background that is busy / when a test with it has failed / then the
    report says so.
    """
    assert of_failure(object.__new__(Busy), "a::b") == "the cluster is busy, and told nothing within 5 s"
