"""Clients that take themselves to be in a pod."""

import asyncio
import gc
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import kr8s.asyncio
import kubernetes
import kubernetes_asyncio
import lightkube
import pykube
import pytest
from lightkube.resources.core_v1 import ConfigMap

from fakekube.client import kubeconfig
from fakekube.client.resources import Resource
from fakekube.composition.options import OptionError
from fakekube.testing import BackgroundCluster, in_cluster
from fakekube.testing.records import requests

pytestmark = [
    pytest.mark.fake_only("it is ours that is faked"), pytest.mark.fakekube(tls=True, nodes=0)]
BINDINGS = Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", namespaced=True)
USER = "system:serviceaccount:default:default"


@pytest.fixture(autouse=True)
def _clients_leave_their_sockets_to_the_collector() -> Iterator[None]:
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def _may_read(fakekube_server: BackgroundCluster) -> None:
    """The pod's account may read what is in its namespace, also where roles decide."""
    binding = {
        "metadata": {"name": "readers"}, "roleRef": {"apiGroup": BINDINGS.group, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]}
    fakekube_server.call(lambda cluster: cluster.client.create(BINDINGS, binding, "default"))


def test_the_official_client(fakekube_in_cluster: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a pod's configuration / when load_incluster_config() runs / then requests come over TLS
    as the pod's service account.
    """
    settings = kubernetes.client.Configuration()
    kubernetes.config.load_incluster_config(settings)
    with kubernetes.client.ApiClient(settings) as api:
        told = kubernetes.client.AuthenticationV1Api(api).create_self_subject_review({})
    assert settings.verify_ssl
    assert told.status.user_info.username == USER
    assert len(requests(fakekube_server, user=USER)) == 1


async def _asyncio_user() -> str:
    settings = kubernetes_asyncio.client.Configuration()
    kubernetes_asyncio.config.load_incluster_config(settings)
    async with kubernetes_asyncio.client.ApiClient(settings) as api:
        told = await kubernetes_asyncio.client.AuthenticationV1Api(api).create_self_subject_review({})
        return str(told.status.user_info.username)


def test_its_asyncio_sibling(fakekube_in_cluster: Path) -> None:
    """Given a pod's configuration / when kubernetes_asyncio loads it / then the same."""
    assert asyncio.run(_asyncio_user()) == USER


@pytest.mark.usefixtures("_may_read")
@pytest.mark.filterwarnings("ignore:.*not supported.*:UserWarning")
def test_kr8s(fakekube_in_cluster: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a pod's configuration / when kr8s is told the folder / then the same."""
    async def names() -> list[str]:
        api = await kr8s.asyncio.api(serviceaccount=str(fakekube_in_cluster), kubeconfig="/none")
        found = [each.name async for each in api.get("configmaps", namespace="default")]
        await api._session.aclose()
        return found

    assert asyncio.run(names()) == ["kube-root-ca.crt"]
    assert requests(fakekube_server, user=USER, resource="configmaps")


@pytest.mark.usefixtures("_may_read")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_lightkube(fakekube_in_cluster: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a pod's configuration / when lightkube is told the folder / then the same."""
    config = lightkube.KubeConfig.from_service_account(fakekube_in_cluster)
    assert lightkube.Client(config=config).get(ConfigMap, "kube-root-ca.crt", namespace="default").data
    assert requests(fakekube_server, user=USER, resource="configmaps")


@pytest.mark.usefixtures("_may_read")
def test_pykube(fakekube_in_cluster: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a pod's configuration / when pykube is told the folder / then the same."""
    api = pykube.HTTPClient(pykube.KubeConfig.from_service_account(str(fakekube_in_cluster)))
    assert pykube.ConfigMap.objects(api).filter(namespace="default").get_or_none(name="kube-root-ca.crt")
    assert requests(fakekube_server, user=USER, resource="configmaps")


def test_our_own_client(fakekube_in_cluster: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given a pod's configuration and no kubeconfig / when our client looks / then the same."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    async def user() -> str:
        client = kubeconfig.load_client()
        try:
            answer = await client.request(
                "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                body=b'{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}')
        finally:
            await client.close()
        return answer.body.decode()

    assert f'"username":"{USER}"' in asyncio.run(user())


def test_everything_is_as_before(fakekube_server: BackgroundCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an environment / when the block ends / then it is as before, and there are no files."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.1.1.1")
    monkeypatch.delenv("KUBERNETES_SERVICE_PORT", raising=False)
    constants = sys.modules["kubernetes.config.incluster_config"]
    path = constants.SERVICE_TOKEN_FILENAME
    with in_cluster(fakekube_server, namespace="kube-system") as folder:
        assert (folder / "namespace").read_text() == "kube-system"
        assert os.environ["KUBERNETES_SERVICE_HOST"] == "127.0.0.1"
        assert str(folder / "token") == constants.SERVICE_TOKEN_FILENAME
    assert os.environ["KUBERNETES_SERVICE_HOST"] == "10.1.1.1"
    assert "KUBERNETES_SERVICE_PORT" not in os.environ
    assert path == constants.SERVICE_TOKEN_FILENAME
    assert not folder.exists()


def test_a_folder_of_ones_own(fakekube_server: BackgroundCluster, tmp_path: Path) -> None:
    """Given a folder, as the fixed one / when the block ends / then it stands without the files."""
    (tmp_path / "var").mkdir()
    with in_cluster(fakekube_server, folder=tmp_path / "var") as folder:
        assert sorted(each.name for each in folder.iterdir()) == ["ca.crt", "namespace", "token"]
    assert list((tmp_path / "var").iterdir()) == []


@pytest.mark.fakekube(tls=False)
def test_tls_is_needed(fakekube_server: BackgroundCluster) -> None:
    """Given a cluster without TLS / when a pod's configuration is wanted / then one sentence says
    what is needed.
    """
    with pytest.raises(OptionError, match=r"give the cluster tls=True$"), in_cluster(fakekube_server):
        pass
