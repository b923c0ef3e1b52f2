"""How the kinds of certificates.k8s.io print."""

from fakekube.apimachinery.ages import human_duration
from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, NONE, column, condition, dig, format_labels, table


def _condition(obj: Tree) -> str:
    word = "Denied" if condition(obj, "Denied") else "Approved" if condition(obj, "Approved") else "Pending"
    if condition(obj, "Failed"):
        word += ",Failed"
    return f"{word},Issued" if dig(obj, "status", "certificate") else word


def _requested_duration(obj: Tree) -> str:
    seconds = dig(obj, "spec", "expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _state(obj: Tree) -> str:
    found = [each.get("type") for each in dig(obj, "status", "conditions") or ()]
    return next((str(word) for word in reversed(found) if word in ("Issued", "Denied", "Failed")), "Pending")


CERTIFICATE_SIGNING_REQUEST = table(
    NAME,
    AGE,
    column("SignerName", lambda obj: dig(obj, "spec", "signerName") or NONE),
    column("Requestor", "spec.username"),
    column("RequestedDuration", _requested_duration),
    column("Condition", _condition),
)
CLUSTER_TRUST_BUNDLE = table(NAME, column("SignerName", lambda obj: dig(obj, "spec", "signerName") or NONE))
POD_CERTIFICATE_REQUEST = table(
    NAME,
    column("PodName", "spec.podName"),
    column("ServiceAccountName", "spec.serviceAccountName"),
    column("NodeName", "spec.nodeName"),
    column("SignerName", "spec.signerName"),
    column("State", _state),
    column("UnverifiedUserAnnotations", lambda obj: format_labels(dig(obj, "spec", "unverifiedUserAnnotations"))),
)
