"""Who approves and signs certificates, and what 1.36 asks of PodGroups and their Jobs."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakekube.admission.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
)
from fakekube.admission.groups_of_1_36 import JobValidation, PodGroupWorkloadExists
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access, Authorization, Decision
from fakekube.auth.rules import UserRules
from tests.admission.world import World, kind

REQUESTS = kind("certificates.k8s.io", "v1", "certificatesigningrequests")
GROUPS, JOBS = kind("scheduling.k8s.io", "v1beta1", "podgroups"), kind("batch", "v1", "jobs")


class Asked:
    """Allows one name, and remembers what it was asked."""

    def __init__(self, allowed: str = "") -> None:
        self.allowed, self.log = allowed, list[Access]()

    def decide(self, user: Any, access: Any) -> Decision:
        self.log.append(access)
        return Decision(access.name == self.allowed)

    def rules(self, user: Any, namespace: str) -> UserRules:
        return UserRules([])


def refusal(plugin: Any, attrs: Any) -> str:
    """What follows ``is forbidden``; nothing where it passes."""
    try:
        plugin.validate(attrs)
    except APIError as error:
        return f"{error.code} {error.message.partition(' is forbidden: ')[2]}"
    return ""


def request(signer: str = "a.example/b", status: Tree | None = None, **spec: Any) -> Tree:
    return {"metadata": {"name": "r"}, "spec": {"signerName": signer, **spec}, "status": status or {}}


@pytest.mark.parametrize(("plugin", "verb", "word", "subresource"), [
    (CertificateApproval(), "approve", "approve", "approval"), (CertificateSigning(), "sign", "sign", "status")])
def test_who_may_act_for_a_signer(plugin: Any, verb: str, word: str, subresource: str) -> None:
    """Given leave for a signer, for all of its domain, and none / when a request is approved or
    signed / then the signer of the stored request counts.
    """
    for allowed, passes, names in (
        ("a.example/b", True, ["a.example/b"]), ("a.example/*", True, ["a.example/b", "a.example/*"]),
        ("other/b", False, ["a.example/b", "a.example/*"]),
    ):
        world, asked = World(), Asked(allowed)
        world.authorization = Authorization(asked)
        new = request("other/b", {"certificate": "x"})
        attrs = world.attributes(REQUESTS, new, request(), subresource=subresource)
        assert refusal(plugin, attrs) == (
            "" if passes else f'403 user not permitted to {word} requests with signerName "a.example/b"')
        assert asked.log == [
            Access(verb, group="certificates.k8s.io", version="*", resource="signers", name=name) for name in names]


BUNDLES = kind("certificates.k8s.io", "v1", "clustertrustbundles")


@pytest.mark.parametrize(("signer", "new", "old", "asks"), [
    ("a.example/b", {}, None, True), ("", {}, None, False), ("a.example/b", {"trustBundle": "x"}, {}, True),
    ("a.example/b", {}, {}, False), ("", {"trustBundle": "x"}, {}, False),
])
def test_who_may_attest_for_a_signer(signer: str, new: Tree, old: Tree | None, asks: bool) -> None:
    """Given trust bundles of a signer and of none / when they are made, changed, or changed as the
    garbage collector does / then leave to attest is wanted, but not for the last and without one.
    """
    def bundle(spec: Tree, **metadata: Any) -> Tree:
        return {"metadata": {"name": "r", **metadata}, "spec": {**spec, **({"signerName": signer} if signer else {})}}

    for allowed in ("a.example/b", "a.example/*", "other/b"):
        world, asked = World(), Asked(allowed)
        world.authorization = Authorization(asked)
        attrs = world.attributes(
            BUNDLES, bundle(new, finalizers=["x"], ownerReferences=[], managedFields=[1]), None if old is None else bundle(old))
        assert refusal(ClusterTrustBundleAttest(), attrs) == (
            '403 user not permitted to attest for signerName "a.example/b"' if asks and allowed == "other/b" else "")
        assert [access.verb for access in asked.log] == (
            [] if not asks else ["attest"] if allowed == "a.example/b" else ["attest"] * 2)
    seen = [each for each in ("CREATE", "UPDATE", "DELETE") if ClusterTrustBundleAttest().handles(BUNDLES, each, "")]
    assert seen == ["CREATE", "UPDATE"]
    assert not ClusterTrustBundleAttest().handles(REQUESTS, "CREATE", "")


@pytest.mark.parametrize(("new", "old", "asks"), [
    ({}, {}, False), ({"certificate": "x"}, {}, True), ({"conditions": [1]}, {}, True), ({}, {"certificate": "x"}, True),
    ({"other": 1}, {}, False), ({"conditions": [], "certificate": ""}, {}, False)])
def test_what_of_a_status_is_a_signature(new: Tree, old: Tree, asks: bool) -> None:
    """Given changes of a status / then leave to sign is wanted where certificate or conditions
    change.
    """
    world = World()
    world.authorization = Authorization(Asked())
    attrs = world.attributes(REQUESTS, request(status=new), request(status=old), subresource="status")
    assert bool(refusal(CertificateSigning(), attrs)) is asks


def encoded(*organizations: str) -> str:
    names = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, each) for each in organizations]
    made = x509.CertificateSigningRequestBuilder(x509.Name(names)).sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def test_nobody_asks_for_the_group_of_administrators() -> None:
    """Given requests for that group, for others, for another signer, and nonsense / then the first
    and the last are refused where the signer is that of clients.
    """
    client = "kubernetes.io/kube-apiserver-client"
    told = [
        refusal(CertificateSubjectRestriction(), World().attributes(REQUESTS, request(signer, request=text)))
        for signer, text in (
            (client, encoded("devs", "system:masters")), (client, encoded("devs")), ("other/s", encoded("system:masters")),
            (client, "bm9uc2Vuc2U="), ("other/s", ""))]
    assert told[:3] == [f"403 use of {client} signer with system:masters group is not allowed", "", ""]
    assert told[3].startswith("403 failed to parse CSR: ")
    assert told[4] == ""


def in_1_36(*gates: str) -> World:
    world = World(*gates)
    world.release = "1.36"
    for name, more in (("w", {}), ("going", {"deletionTimestamp": "2026-01-01T00:00:00Z"})):
        world.put("scheduling.k8s.io", "workloads", {
            "metadata": {"name": name, "namespace": "t", **more}, "spec": {"podGroupTemplates": [{"name": "a"}, {"name": "b"}]}})
    return world


@pytest.mark.parametrize(("workload", "template", "told"), [
    ("w", "a", ""), ("w", "b", ""), ("w", "c", 'PodGroupTemplate "c" not found in Workload "w"'),
    ("gone", "a", 'Workload "gone" not found'), ("going", "a", 'Workload "going" is being deleted')])
def test_the_template_of_a_group(workload: str, template: str, told: str) -> None:
    """Given groups of a template / then 1.36 wants it there, under the gate, and later releases do
    not.
    """
    reference = {"podGroupTemplateRef": {"workload": {"workloadName": workload, "podGroupTemplateName": template}}}
    group = {"metadata": {"name": "g"}, "spec": reference}
    assert refusal(PodGroupWorkloadExists(), in_1_36("GenericWorkload").attributes(GROUPS, group)) == (
        told and f"403 PodGroup rejected: {told}")
    later = in_1_36("GenericWorkload")
    later.release = "1.37"
    for world in (in_1_36(), later):
        assert refusal(PodGroupWorkloadExists(), world.attributes(GROUPS, group)) == ""
    assert refusal(PodGroupWorkloadExists(), in_1_36("GenericWorkload").attributes(GROUPS, {
        "metadata": {"name": "g"}, "spec": {}})) == ""


def job(parallelism: int | None, group: str | None = None) -> Tree:
    template: Tree = {"spec": {} if group is None else {"schedulingGroup": {"podGroupName": group}}}
    count = {} if parallelism is None else {"parallelism": parallelism}
    return {"metadata": {"name": "j", "namespace": "t", "uid": "u"}, "spec": {"template": template, **count}}


@pytest.mark.parametrize(("gates", "new", "old", "group"), [
    (("GenericWorkload",), job(2), job(1), "owned"), (("WorkloadWithJob",), job(2), job(None), "owned"),
    (("GenericWorkload",), job(2, "gang"), job(1, "gang"), "gang"), ((), job(2), job(1), ""),
    (("GenericWorkload",), job(1), job(1), ""), (("GenericWorkload",), job(2, "basic"), job(1, "basic"), ""),
    (("GenericWorkload",), job(2, "gone"), job(1, "gone"), ""),
])
def test_the_parallelism_of_a_gang(gates: tuple[str, ...], new: Tree, old: Tree, group: str) -> None:
    """Given Jobs with a gang that they own or name, and without / when the parallelism changes /
    then 1.36 refuses it for a gang, under its gates, and 1.37 does not.
    """
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    for release in ("1.36", "1.37"):
        world = in_1_36(*gates)
        world.release = release
        gang: Tree = {"gang": {}}
        for name, policy, owners in (("basic", {"basic": {}}, [owner]), ("gang", gang, []), ("owned", gang, [owner])):
            world.put("scheduling.k8s.io", "podgroups", {
                "metadata": {"name": name, "namespace": "t", "ownerReferences": owners}, "spec": {"schedulingPolicy": policy}})
        assert refusal(JobValidation(), world.attributes(JOBS, new, old)) == (
            f'403 cannot change parallelism for a Job referencing gang-scheduled PodGroup "{group}"'
            if group and release == "1.36" else "")
