"""Blocking tests with the official client: the cluster runs in a thread behind a real port."""

import urllib.request
from datetime import timedelta
from pathlib import Path

import pytest
from kubernetes import client


def job(name: str, duration: str, **spec: object) -> dict:
    return {"metadata": {"name": name}, "spec": {**spec, "template": {
        "metadata": {"annotations": {"fakekube.dev/run-duration": duration}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


def node_names(api: client.ApiClient) -> list[str]:
    return [node.metadata.name for node in client.CoreV1Api(api).list_node().items]


def test_the_ini_file_gives_two_nodes(api: client.ApiClient) -> None:
    assert node_names(api) == ["node-0", "node-1"]


@pytest.mark.fakekube(nodes=3)
def test_the_marker_wins(api: client.ApiClient) -> None:
    assert node_names(api) == ["node-0", "node-1", "node-2"]


@pytest.mark.fakekube(nodes=3)
class TestClosestWins:
    @pytest.mark.fakekube(nodes=1, kubernetes_version="1.30")
    def test_marker_of_the_function(self, api: client.ApiClient) -> None:
        assert node_names(api) == ["node-0"]
        assert client.VersionApi(api).get_code().minor == "30"


@pytest.mark.parametrize("attempt", [1, 2])
def test_every_test_has_a_cluster_of_its_own(api: client.ApiClient, attempt: int) -> None:
    core = client.CoreV1Api(api)
    names = [item.metadata.name for item in core.list_namespaced_config_map("default").items]
    assert names == [name for name in names if name == "kube-root-ca.crt"]
    core.create_namespaced_config_map("default", {"metadata": {"name": "left-behind"}})


def test_a_job_of_minutes_completes_at_once(api: client.ApiClient, fakekube_server) -> None:
    batch = client.BatchV1Api(api)
    batch.create_namespaced_job("default", job("long", "10m"))
    fakekube_server.run_until(lambda: batch.read_namespaced_job_status("long", "default").status.completion_time is not None)
    status = batch.read_namespaced_job_status("long", "default").status
    assert status.completion_time - status.start_time >= timedelta(minutes=10)


@pytest.mark.fakekube(clock="manual")
def test_time_moves_as_told(api: client.ApiClient, fakekube_server) -> None:
    batch = client.BatchV1Api(api)
    batch.create_namespaced_job("default", job("slow", "10m", activeDeadlineSeconds=60))
    fakekube_server.settle()
    before = fakekube_server.clock.now()
    fakekube_server.advance(59)
    assert not batch.read_namespaced_job_status("slow", "default").status.failed
    fakekube_server.advance(timedelta(seconds=40))
    assert fakekube_server.clock.now() - before == timedelta(seconds=99)
    conditions = batch.read_namespaced_job_status("slow", "default").status.conditions
    assert [(c.type, c.reason) for c in conditions if c.type == "Failed"] == [("Failed", "DeadlineExceeded")]


def test_waiting_for_what_never_comes_is_told(fakekube_server) -> None:
    from fakekube.util.driver import Stalled

    with pytest.raises(Stalled):
        fakekube_server.run_until(lambda: False, within=timedelta(minutes=5))


def test_the_server_listens_where_it_says(fakekube_server, fakekube_kubeconfig: Path) -> None:
    assert fakekube_server.kubeconfig == fakekube_kubeconfig
    assert fakekube_server.url in fakekube_kubeconfig.read_text()
    with urllib.request.urlopen(f"{fakekube_server.url}/livez") as answer:
        assert answer.read() == b"ok"
