"""kubectl as somebody: tokens, certificates that were asked for, and what it tells of them."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakekube.testing import BackgroundCluster, requests

CONTROLLERS = [f"fakekube_controllers.certificates:for_{name}" for name in ("signing", "approving", "cleaning")]
pytestmark = [
    pytest.mark.fake_only("its authority is ours"),
    pytest.mark.fakekube(tls=True, nodes=0, controllers="namespace,serviceaccount", extra=CONTROLLERS)]
Kubectl = Callable[..., str]


def who(kubectl: Kubectl, *flags: str) -> Any:
    return json.loads(kubectl("auth", "whoami", "-o", "json", *flags))["status"]["userInfo"]


def test_a_certificate_that_was_asked_for(kubectl: Kubectl, tmp_path: Path, fakekube_server: BackgroundCluster) -> None:
    """Given a key and a request / when kubectl creates and approves it / then the certificate that
    it gets signs its holder in over TLS, beside the token of the administrator too.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    name = x509.Name([
        x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "devs"), x509.NameAttribute(x509.NameOID.COMMON_NAME, "ann")])
    asked = x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())
    encoded = json.dumps({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "ann"}, "spec": {
            "request": base64.b64encode(asked.public_bytes(serialization.Encoding.PEM)).decode(),
            "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}})
    kubectl("create", "-f", "-", stdin=encoded)
    assert "Pending" in kubectl("get", "csr", "ann")
    kubectl("certificate", "approve", "ann")
    fakekube_server.settle()
    assert "Approved,Issued" in kubectl("get", "csr", "ann")
    signed = kubectl("get", "csr", "ann", "-o", "jsonpath={.status.certificate}")
    (tmp_path / "ann.pem").write_bytes(base64.b64decode(signed))
    flags = ("--client-certificate", str(tmp_path / "ann.pem"), "--client-key", str(tmp_path / "key.pem"))
    for more in ((), ("--token", fakekube_server.cluster.token)):
        user = who(kubectl, *flags, *more)
        assert (user["username"], user["groups"]) == ("ann", ["devs", "system:authenticated"])
    assert requests(fakekube_server, user="ann", resource="selfsubjectreviews")


@pytest.mark.spec("API-135")
def test_tokens(kubectl: Kubectl) -> None:
    """Given kubectl create token / when kubectl uses the token / then it is the service account;
    with a wrong one it is nobody.
    """
    token = kubectl("create", "token", "default", "--duration", "10m").strip()
    config = ("--kubeconfig", "/dev/null", "--insecure-skip-tls-verify", "--server", _server(kubectl))
    assert who(kubectl, *config, "--token", token)["username"] == "system:serviceaccount:default:default"
    bound = kubectl("create", "secret", "generic", "s")
    assert "created" in bound
    token = kubectl("create", "token", "default", "--bound-object-kind", "Secret", "--bound-object-name", "s").strip()
    assert who(kubectl, *config, "--token", token)["username"] == "system:serviceaccount:default:default"
    kubectl("delete", "secret", "s")
    refused = kubectl("auth", "whoami", *config, "--token", token, code=1)
    assert "You must be logged in to the server (Unauthorized)" in refused
    assert "Unauthorized" in kubectl("get", "pods", *config, "--token", "guess", code=1)


def test_curl(kubectl: Kubectl, tmp_path: Path) -> None:
    """Given the authority in kube-root-ca.crt / when curl trusts it / then it is answered, by
    HTTP/1.1.
    """
    authority = kubectl("get", "configmap", "kube-root-ca.crt", "-o", r"jsonpath={.data.ca\.crt}")
    (tmp_path / "ca.crt").write_text(authority)
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--cacert", str(tmp_path / "ca.crt"), "--write-out", "%{http_version} %{http_code}",
         "--output", "/dev/null", f"{_server(kubectl)}/version"], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "1.1 200"


def _server(kubectl: Kubectl) -> str:
    return kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
