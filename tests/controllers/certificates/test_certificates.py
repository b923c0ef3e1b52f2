"""CertificateSigningRequests, from the request to somebody who signs in with the certificate."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, UserInfo
from fakekube.client.client import Client
from fakekube.client.resources import CERTIFICATE_SIGNING_REQUESTS as REQUESTS
from fakekube.client.resources import CLUSTER_ROLES, Resource

CONTROLLERS = [f"fakekube_controllers.certificates:for_{name}" for name in ("signing", "approving", "cleaning")]
BINDINGS = Resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
SELF_NODE_CLIENT = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"
CLIENT, KUBELET = "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"
SERVING, USAGES = "kubernetes.io/kubelet-serving", ["client auth", "digital signature"]
APPROVED: Any = {"type": "Approved", "status": "True", "reason": "Test", "message": "yes"}
SELF = b'{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}'


def asked(name: str, *groups: str, dns: str = "") -> str:
    """A request, encoded as objects hold it."""
    attributes = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, group) for group in groups]
    builder = x509.CertificateSigningRequestBuilder(
        x509.Name([*attributes, x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False)
    made = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def request(text: str, signer: str = CLIENT, usages: list[str] = USAGES, **spec: Any) -> Any:
    return {"metadata": {"name": "r"}, "spec": {"request": text, "signerName": signer, "usages": usages, **spec}}


async def approve(client: Client, kind: str = "Approved") -> None:
    found = await client.get(REQUESTS, "r")
    status = {"conditions": [{**APPROVED, "type": kind}]}
    await client.update(REQUESTS, {**found, "status": status}, subresource="approval")


def certificate(found: Any) -> x509.Certificate:
    return x509.load_pem_x509_certificate(base64.b64decode(found["status"]["certificate"]))


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=0, controllers="", clock="manual", extra=CONTROLLERS) as made:
        yield made


async def test_who_is_approved_can_sign_in(cluster: Cluster) -> None:
    """Given a request / when it is approved / then it is signed by the cluster's authority for the
    time that was asked for, and whoever shows the certificate is its subject.
    """
    await cluster.client.create(REQUESTS, request(asked("ann", "devs"), expirationSeconds=3600))
    await cluster.settle()
    assert "certificate" not in (await cluster.client.get(REQUESTS, "r")).get("status", {})
    await approve(cluster.client)
    await cluster.settle()
    signed = certificate(await cluster.client.get(REQUESTS, "r"))
    authority = x509.load_pem_x509_certificate(cluster._identity.authority.certificate.encode())
    signed.verify_directly_issued_by(authority)
    now = cluster.clock.time()
    assert (signed.not_valid_before_utc.timestamp(), signed.not_valid_after_utc.timestamp()) == (now - 300, now + 3600)
    usage = signed.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [each.dotted_string for each in usage] == ["1.3.6.1.5.5.7.3.2"]
    assert signed.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature
    answer = await cluster.apiserver.handle(Request(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=SELF,
        certificate=signed.public_bytes(serialization.Encoding.DER)))
    assert b'"username":"ann"' in answer.body.replace(b" ", b"")


async def test_the_same_seed_signs_alike() -> None:
    """Given two clusters of one seed / when both sign one request / then the certificates are
    equal.
    """
    text, found = asked("ann"), []
    for _ in range(2):
        async with Cluster(nodes=0, controllers="", clock="manual", extra=CONTROLLERS) as cluster:
            await cluster.client.create(REQUESTS, request(text))
            await approve(cluster.client)
            await cluster.settle()
            found.append((await cluster.client.get(REQUESTS, "r"))["status"]["certificate"])
    assert found[0] == found[1]


@pytest.mark.parametrize(("signer", "text", "usages", "why"), [
    (CLIENT, asked("ann"), ["server auth"], "invalid usage for client certificate: server auth"),
    (CLIENT, asked("ann"), ["digital signature"], "missing required usage for client certificate: client auth"),
    (SERVING, asked("ann"), ["server auth"], "subject organization is not system:nodes"),
    (SERVING, asked("ann", "system:nodes"), ["server auth"], "DNS or IP subjectAltName is required"),
    (SERVING, asked("ann", "system:nodes", dns="n"), ["server auth"],
     "usages did not match [digital signature key encipherment server auth]"),
    (SERVING, asked("ann", "system:nodes", dns="n"), ["server auth", "digital signature"],
     "subject common name does not begin with system:node:"),
    (KUBELET, asked("system:node:n", "system:nodes", dns="n"), USAGES, "DNS subjectAltNames are not allowed"),
])
async def test_what_a_signer_does_not_sign(cluster: Cluster, signer: str, text: str, usages: list[str], why: str) -> None:
    """Given a request that its signer does not sign / when it is approved / then it has failed, in
    upstream's words.
    """
    await cluster.client.create(REQUESTS, request(text, signer, usages))
    await approve(cluster.client)
    await cluster.settle()
    found = await cluster.client.get(REQUESTS, "r")
    [failed] = [each for each in found["status"]["conditions"] if each["type"] == "Failed"]
    assert (failed["reason"], failed["message"], failed["status"]) == ("SignerValidationFailure", why, "True")
    assert "certificate" not in found["status"]


async def test_a_kubelets_certificates(cluster: Cluster) -> None:
    """Given kubelets that may ask for client certificates, as kubeadm lets them / when one does /
    then it is approved and signed without anybody's help; one for serving waits.
    """
    await cluster.client.create(BINDINGS, {
        "metadata": {"name": "kubelets"},
        "roleRef": {"apiGroup": BINDINGS.group, "kind": "ClusterRole", "name": SELF_NODE_CLIENT},
        "subjects": [{"apiGroup": BINDINGS.group, "kind": "Group", "name": "system:nodes"}]})
    kubelet = cluster.client.with_options(user=UserInfo("system:node:n", ("system:nodes", "system:authenticated")))
    await kubelet.create(REQUESTS, request(asked("system:node:n", "system:nodes"), KUBELET))
    serving = request(asked("system:node:n", "system:nodes", dns="n"), SERVING, ["server auth", "digital signature"])
    await kubelet.create(REQUESTS, {**serving, "metadata": {"name": "s"}})
    await cluster.settle()
    found = await cluster.client.get(REQUESTS, "r")
    [condition] = found["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == (
        "AutoApproved", "Auto approving self kubelet client certificate after SubjectAccessReview.")
    assert certificate(found).subject.rfc4514_string() == "CN=system:node:n,O=system:nodes"
    assert "conditions" not in (await cluster.client.get(REQUESTS, "s")).get("status", {})


async def test_foreign_signers_are_left_alone(cluster: Cluster) -> None:
    """Given a request for another signer / when it is approved / then nobody here signs it."""
    await cluster.client.create(REQUESTS, request(asked("ann"), "example.com/own"))
    await approve(cluster.client)
    await cluster.settle()
    assert "certificate" not in (await cluster.client.get(REQUESTS, "r"))["status"]


@pytest.mark.parametrize(("kind", "hours"), [("Approved", 2), ("Denied", 2), ("", 25)])
async def test_old_requests_go(cluster: Cluster, kind: str, hours: int) -> None:
    """Given a request that is issued, denied or pending / when its time and the rest of that hour
    have passed / then it is gone, and not before.
    """
    await cluster.client.create(REQUESTS, request(asked("ann")))
    if kind:
        await approve(cluster.client, kind)
    await cluster.advance(hours * 3600 - 60)
    assert await cluster.client.get(REQUESTS, "r", missing_ok=True) is not None
    await cluster.advance(60)
    assert await cluster.client.get(REQUESTS, "r", missing_ok=True) is None


async def test_masters_are_not_asked_for(cluster: Cluster) -> None:
    """Given a request for a client of system:masters / when it is made / then upstream's 403; for
    another signer it may be made.
    """
    with pytest.raises(APIError) as refused:
        await cluster.client.create(REQUESTS, request(asked("ann", "system:masters")))
    assert refused.value.code == 403
    assert refused.value.message == (
        'certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer '
        "with system:masters group is not allowed")
    await cluster.client.create(REQUESTS, request(asked("ann", "system:masters"), "example.com/own"))


async def test_who_may_approve_and_sign() -> None:
    """Given RBAC and a user who may update approval and status / when they approve or sign for a
    signer that is not theirs / then 403; with the verbs on the signer's domain they may.
    """
    async with Cluster(
            nodes=0, controllers="", clock="manual", extra=CONTROLLERS, authorization_mode="RBAC") as cluster:
        ann = cluster.client.with_options(user=UserInfo("ann", ("system:authenticated",)))
        rules: Any = [{"verbs": ["*"], "apiGroups": [REQUESTS.group], "resources": [
            REQUESTS.plural, f"{REQUESTS.plural}/approval", f"{REQUESTS.plural}/status"]}]
        await cluster.client.create(CLUSTER_ROLES, {"metadata": {"name": "ann"}, "rules": rules})
        await cluster.client.create(BINDINGS, {
            "metadata": {"name": "ann"}, "roleRef": {"kind": "ClusterRole", "name": "ann"},
            "subjects": [{"kind": "User", "name": "ann"}]})
        await cluster.client.create(REQUESTS, request(asked("bob"), "example.com/own"))
        with pytest.raises(APIError, match=r"user not permitted to approve requests with signerName"):
            await approve(ann)
        found = await ann.get(REQUESTS, "r")
        ready = {"type": "Ready", "status": "True", "reason": "x", "message": "y"}
        with pytest.raises(APIError, match=r"user not permitted to sign requests with signerName"):
            await ann.update_status(REQUESTS, {**found, "status": {"conditions": [ready]}})
        await ann.update_status(REQUESTS, {**found, "metadata": {**found["metadata"], "labels": {"a": "b"}}})
        role = await cluster.client.get(CLUSTER_ROLES, "ann")
        signers = {"verbs": ["approve", "sign"], "apiGroups": [REQUESTS.group], "resources": ["signers"],
                   "resourceNames": ["example.com/*"]}
        await cluster.client.update(CLUSTER_ROLES, {**role, "rules": [*rules, signers]})
        await approve(ann)
        found = await ann.get(REQUESTS, "r")
        conditions = [*found["status"]["conditions"], ready]
        await ann.update_status(REQUESTS, {**found, "status": {"conditions": conditions}})
