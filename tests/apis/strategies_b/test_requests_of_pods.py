"""PodCertificateRequests: for how long, and how they end."""

import pytest

from fakekube.apis.certificates import podcertificaterequest
from fakekube.apis.certificates.podcertificaterequest import STRATEGY
from tests.apis.strategies_b.steps import named, refused, status_changed

ISSUED = {"type": "Issued", "status": "True", "reason": "R", "lastTransitionTime": "2026-01-01T00:00:00Z"}
OLD = named({"spec": {}, "status": {}})


def told(status, before=None):
    """What is wrong with a status."""
    return status_changed(STRATEGY, {**OLD, "status": before or {}}, {"status": status})[1]


@pytest.mark.parametrize("signer", ["kubernetes.io/a", "b.kubernetes.io/a"])
def test_signers_of_kubernetes_give_a_day(signer):
    """Given signers of Kubernetes and others / when asked for more than a day / then the first
    refuse.
    """
    day = podcertificaterequest.DEFAULT_SECONDS
    what = f"spec.maxExpirationSeconds: Invalid value: {day + 1}: must be in the range [3600, {day}]"
    assert what in refused(STRATEGY, named({"spec": {"signerName": signer, "maxExpirationSeconds": day + 1}}))
    assert what not in refused(STRATEGY, named({"spec": {"signerName": "xkubernetes.io/a", "maxExpirationSeconds": day + 1}}))


def test_a_request_ends_once():
    """Given a request / when it ends in two ways, in another one, or not at all / then refused;
    once it has ended / it stays.
    """
    denied = {**ISSUED, "type": "Denied"}
    assert told({"conditions": [ISSUED, {**denied, "status": "False"}, {**ISSUED, "type": "X"}]}) == [
        ('status.conditions.[1].type: Invalid value: "Denied": '
         'There may be at most one condition with type "Issued", "Denied", or "Failed"'),
        'status.conditions.[1].status: Unsupported value: "False": supported values: "True"',
        'status.conditions.[2].type: Unsupported value: "X": supported values: "Denied", "Failed", "Issued"']
    assert told({"notAfter": "2026-01-01T00:00:00Z"}) == [
        'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"']
    assert told({"conditions": [denied], "certificateChain": "x"}) == [
        "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"]
    assert told({"conditions": [denied]}) == []
    assert told({"conditions": [denied]}, {"conditions": [denied]}) == []
    assert told({"conditions": [ISSUED]}, {"conditions": [denied]}) == [
        "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"]


def test_what_is_issued_is_a_certificate():
    """Given a request / when it is issued with no certificate, with something else, or with too
    much / then refused.
    """
    path = "status.certificateChain: "
    block = "-----BEGIN {0}-----\nYWJj\n-----END {0}-----\n"
    assert told({"conditions": [ISSUED]}) == [
        path + 'Invalid value: "": issued certificate chain must contain at least one certificate']
    assert told({"conditions": [ISSUED], "certificateChain": block.format("KEY")})[0].endswith(
        "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
    assert told({"conditions": [ISSUED], "certificateChain": block.format("CERTIFICATE")})[0].endswith(
        "leaf certificate does not parse as valid X.509")
    assert told({"conditions": [ISSUED], "certificateChain": "x" * 102401}) == [
        path + "Too long: may not be more than 102400 bytes"]
