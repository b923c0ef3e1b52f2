"""A cluster that speaks TLS, as Python's own client sees it."""

import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
import yaml
from kubernetes import client, config

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube.testing import BackgroundCluster
from fakekube.util import certificates
from fakekube.util.certificates import CertificateAuthority, Signed

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = b'{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundCluster]:
    folder = tmp_path_factory.mktemp("tls")
    (folder / "clients.pem").write_text(CertificateAuthority(b"theirs").certificate)
    with BackgroundCluster(
            nodes=0, tls=True, kubeconfig=folder / "kubeconfig", allow_host="fake.example",
            controllers="serviceaccount,namespace", client_ca_file=str(folder / "clients.pem")) as made:
        yield made


def trusting(cluster: BackgroundCluster) -> ssl.SSLContext:
    authority = cluster.cluster._identity.authority.certificate
    return ssl.create_default_context(cadata=authority)


def ask(cluster: BackgroundCluster, context: ssl.SSLContext, token: str = "") -> tuple[int, Any]:
    parts = urlsplit(cluster.url)
    connection = HTTPSConnection(parts.hostname or "", parts.port, context=context, timeout=20)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        connection.request("POST", SELF, REVIEW, headers)
        answer = connection.getresponse()
        return answer.status, orjson.loads(answer.read())
    finally:
        connection.close()


def showing(cluster: BackgroundCluster, signed: Signed, folder: Path) -> ssl.SSLContext:
    context = trusting(cluster)
    (folder / "client.pem").write_bytes(signed.key + signed.certificate)
    context.load_cert_chain(folder / "client.pem")
    return context


def test_the_kubeconfig_leads_there(cluster: BackgroundCluster) -> None:
    """Given the kubeconfig / when the official client loads it / then the server's certificate is
    checked and the user is the administrator; kube-root-ca.crt holds the same authority.
    """
    settings = client.Configuration()
    config.load_kube_config(str(cluster.kubeconfig), client_configuration=settings)
    assert settings.verify_ssl
    with client.ApiClient(settings) as api:
        told = client.AuthenticationV1Api(api).create_self_subject_review({})
        assert told.status.user_info.username == "kubernetes-admin"
        published = client.CoreV1Api(api).read_namespaced_config_map("kube-root-ca.crt", "default").data["ca.crt"]
        known = client.CoreV1Api(api).read_namespaced_config_map("extension-apiserver-authentication", "kube-system").data
    assert published == cluster.cluster._identity.authority.certificate
    assert known["client-ca-file"] == CertificateAuthority(b"theirs").certificate + published
    assert "insecure-skip-tls-verify" not in yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]


def test_what_is_negotiated(cluster: BackgroundCluster) -> None:
    """Given a client that offers HTTP/2 too / when it connects by each name / then the certificate
    holds for it, and HTTP/1.1 is spoken.
    """
    context, parts = trusting(cluster), urlsplit(cluster.url)
    context.set_alpn_protocols(["h2", "http/1.1"])
    for name in ("127.0.0.1", "localhost", "kubernetes.default.svc", "10.0.0.1", "fake.example"):
        import socket

        with socket.create_connection((parts.hostname, parts.port or 0), 20) as raw, context.wrap_socket(
                raw, server_hostname=name) as connected:
            assert connected.selected_alpn_protocol() == "http/1.1"
            assert connected.version() == "TLSv1.3"


def test_certificates_of_both_authorities(cluster: BackgroundCluster, tmp_path: Path) -> None:
    """Given client certificates of the cluster's own authority, and of the file's / when they are
    shown / then they name their users; one that has expired is 401, by the cluster's clock.
    """
    now = cluster.clock.time()
    own, theirs = cluster.cluster._identity.authority, CertificateAuthority(b"theirs")
    for authority in (own, theirs):
        signed = authority.client("ann", ["devs"], valid=(now - 60, now + 3600))
        status, told = ask(cluster, showing(cluster, signed, tmp_path))
        assert status == 201
        assert told["status"]["userInfo"]["username"] == "ann"
    expired = own.client("ann", valid=(now - 60, now - 1))
    assert ask(cluster, showing(cluster, expired, tmp_path))[0] == 401
    assert ask(cluster, showing(cluster, expired, tmp_path), cluster.cluster.token)[0] == 201


def test_a_foreign_certificate(cluster: BackgroundCluster, tmp_path: Path) -> None:
    """Given a certificate that no known authority signed / when it is shown / then the handshake
    fails, and the next client is answered.
    """
    now = cluster.clock.time()
    foreign = CertificateAuthority(b"foreign").client("ann", ["system:masters"], valid=(now - 60, now + 60))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        ask(cluster, showing(cluster, foreign, tmp_path))
    assert ask(cluster, trusting(cluster))[0] == 201


def test_nobody_else_is_believed(cluster: BackgroundCluster) -> None:
    """Given a client that knows other authorities only / when it connects / then it refuses."""
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(cluster, ssl.create_default_context(cadata=CertificateAuthority(b"other").certificate))


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    """Given TLS and an address that other machines reach / when requests have no token / then 401;
    no two clusters have the same token, whatever their seed.
    """
    tokens = []
    for number in range(2):
        with BackgroundCluster(
                nodes=0, controllers="", tls=True, bind_address="0.0.0.0", kubeconfig=tmp_path / str(number)) as cluster:
            assert ask(cluster, trusting(cluster))[0] == 401
            assert ask(cluster, trusting(cluster), cluster.cluster.token)[0] == 201
            tokens.append(cluster.cluster.token)
    assert tokens[0] != tokens[1]


def test_without_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no package that makes certificates / when TLS is asked for / then one sentence says how
    to get them.
    """
    monkeypatch.setattr(certificates, "is_available", lambda: False)
    with pytest.raises(OptionError, match=r"^tls: certificates need .* pip install 'fakekube\[tls\]'$"):
        Cluster(tls=True)


def test_a_file_of_broken_certificates(tmp_path: Path) -> None:
    """Given a file of clients' authorities that holds none / when a server starts / then one
    sentence names the option.
    """
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(OptionError, match=r"^client_ca_file: "), BackgroundCluster(
            nodes=0, tls=True, client_ca_file=str(tmp_path / "ca.pem")):
        pass
