"""Roles, bindings, ServiceAccount, CertificateSigningRequest."""

import base64

from fakekube.apis.certificates.certificatesigningrequest import APPROVAL
from fakekube.apis.certificates.certificatesigningrequest import STRATEGY as REQUESTS
from fakekube.apis.core import serviceaccount
from fakekube.apis.rbac import clusterrole, clusterrolebinding, role, rolebinding
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed, warnings

GROUP = "rbac.authorization.k8s.io"
NOW = "2026-01-01T00:00:00Z"
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n").decode()
CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").decode()


def test_rules_say_what_and_on_what():
    """Given rules / when verbs, groups or resources are missing / then named, the verbs last."""
    assert refused(role.STRATEGY, named({"rules": [{"resources": ["pods"]}, {"verbs": ["get"], "apiGroups": [""]}]})) == [
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[1].resources: Required value: resource rules must supply at least one resource",
        "rules[0].verbs: Required value",
    ]


def test_only_cluster_roles_speak_of_paths():
    """Given a rule for a path / when in a Role and in a ClusterRole / then only the second may."""
    rules = {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}
    created(clusterrole.STRATEGY, named(rules))
    assert refused(role.STRATEGY, named(rules)) == [
        'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'
    ]


def test_aggregated_roles_select_others():
    """Given an aggregation without selectors / when made / then refused."""
    assert refused(clusterrole.STRATEGY, named({"aggregationRule": {}})) == [
        (
            "aggregationRule.clusterRoleSelectors: Required value: "
            "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )
    ]


def test_bindings_fill_in_groups():
    """Given a binding without groups / when made / then roles, users and groups have one, accounts
    none.
    """
    subjects = [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "t"}]
    obj = created(rolebinding.STRATEGY, named({"roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects}))
    assert obj["roleRef"]["apiGroup"] == GROUP
    assert [subject.get("apiGroup") for subject in obj["subjects"]] == [GROUP, None]


def test_the_role_of_a_binding_stays():
    """Given a binding / when its role changes / then refused, as Go shows it."""
    old = created(rolebinding.STRATEGY, named({"roleRef": {"kind": "Role", "name": "r"}}))
    assert changed(rolebinding.STRATEGY, old, {"roleRef": {"kind": "Role", "name": "s"}})[1] == [
        f'roleRef: Invalid value: {{"APIGroup":"{GROUP}","Kind":"Role","Name":"s"}}: field is immutable'
    ]


def test_missing_names_of_a_binding_are_told_last():
    """Given no names / when made, and when the role goes / then they come last, save the role's in
    the second case.
    """
    nameless = {"subjects": [{"kind": "User"}], "roleRef": {"kind": "Role"}}
    assert refused(rolebinding.STRATEGY, named(nameless)) == [
        "subjects[0].name: Required value",
        "roleRef.name: Required value",
    ]
    old = created(rolebinding.STRATEGY, named({"roleRef": {"kind": "Role", "name": "r"}}))
    assert changed(rolebinding.STRATEGY, old, nameless)[1] == [
        "roleRef.name: Required value",
        f'roleRef: Invalid value: {{"APIGroup":"{GROUP}","Kind":"Role","Name":""}}: field is immutable',
        "subjects[0].name: Required value",
    ]


def test_what_is_refused_of_bindings():
    """Given a cluster binding to a Role for an account without namespace / when made / then
    refused.
    """
    subjects = [{"kind": "ServiceAccount", "name": "s"}, {"kind": "Robot", "name": "r"}]
    obj = named({"roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects})
    assert refused(clusterrolebinding.STRATEGY, obj) == [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        "subjects[0].namespace: Required value",
        'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ]


def test_of_the_secrets_of_an_account_only_names_are_kept():
    """Given a reference with more than a name / when made / then the rest is dropped."""
    obj = created(serviceaccount.STRATEGY, named({"secrets": [{"name": "s", "namespace": "t", "kind": "Secret"}]}))
    assert obj["secrets"] == [{"name": "s"}]


def test_the_annotation_about_secrets_is_deprecated():
    """Given the annotation / when new and when it was there / then a warning, then none."""
    obj = named(annotations={serviceaccount.ENFORCE: "true"})
    assert warnings(serviceaccount.STRATEGY, obj) == [
        (
            "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; "
            "prefer separate namespaces to isolate access to mounted secrets"
        )
    ]
    assert warnings(serviceaccount.STRATEGY, obj, obj) == []


def request(**spec):
    basic = {"request": PEM, "usages": ["client auth"], "signerName": "a.io/b"}
    return named({"spec": {**basic, **spec}})


def decided(old, *kinds):
    return {"status": {"conditions": [{"type": kind, "status": "True", "reason": "R"} for kind in kinds]}}


def test_a_request_says_who_asks():
    """Given another name in the spec / when made / then the user of the request stands there."""
    spec = created(REQUESTS, request(username="other", uid="u"))["spec"]
    assert (spec["username"], spec["groups"]) == ("kubernetes-admin", ["system:masters"])
    assert "uid" not in spec


def test_what_is_refused_of_a_request():
    """Given an empty request / when made / then what is missing is named."""
    texts = refused(REQUESTS, request(request="eA==", usages=[], signerName="a", expirationSeconds=1))
    assert texts == [
        'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
        "spec.usages: Required value",
        "spec.signerName: Invalid value: \"a\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
        "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)",
    ]


def test_an_approval_gets_its_times_and_is_not_taken_back():
    """Given a request / when approved, then denied instead / then times are stamped, and refused.
    """
    old = created(REQUESTS, request())
    obj, wrong = changed(APPROVAL, old, decided(old, "Approved"))
    assert wrong == []
    assert obj["status"]["conditions"] == [
        {"type": "Approved", "status": "True", "reason": "R", "lastUpdateTime": NOW, "lastTransitionTime": NOW}
    ]
    assert changed(APPROVAL, obj, decided(obj))[1] == [
        'status.conditions: Forbidden: updates may not remove a condition of type "Approved"'
    ]


def test_a_request_is_not_approved_and_denied():
    """Given both decisions / when written / then refused."""
    old = created(REQUESTS, request())
    assert changed(APPROVAL, old, decided(old, "Approved", "Denied"))[1] == [
        (
            'status.conditions: Invalid value: "{conditions[{\\"type\\": \\"Approved\\"}], conditions[{\\"type\\": \\"Denied\\"}]}": '  # noqa: E501
            'must specify at most one of: `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`'
        )
    ]


def test_the_signer_sets_the_certificate_once_and_decides_nothing():
    """Given an approved request / when the signer writes / then a certificate passes once,
    decisions are kept.
    """
    old, _ = changed(APPROVAL, created(REQUESTS, request()), decided(None, "Approved"))
    signed, wrong = status_changed(REQUESTS, old, {"status": {**old["status"], "certificate": CERTIFICATE}})
    assert wrong == []
    other = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nx").decode()
    assert status_changed(REQUESTS, signed, {"status": {**old["status"], "certificate": other}})[1] == [
        "status.certificate: Forbidden: updates may not modify existing certificate content"
    ]
    assert status_changed(REQUESTS, old, {"status": {**old["status"], "certificate": "eA=="}})[1] == [
        'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'
    ]


def test_the_object_itself_keeps_spec_and_status():
    """Given a request / when PUT with another spec / then the stored one stays."""
    old = created(REQUESTS, request())
    obj, wrong = changed(REQUESTS, old, {"spec": {}, "status": {"certificate": CERTIFICATE}}, World())
    assert wrong == []
    assert (obj["spec"], obj["status"]) == (old["spec"], old["status"])
