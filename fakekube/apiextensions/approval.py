"""Whether a CustomResourceDefinition may be in a group of the Kubernetes community, as its
annotation says.

Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go and controller/apiapproval.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from fakekube.apiextensions import names
from fakekube.apimachinery import conditions
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

ANNOTATION = "api-approved.kubernetes.io"
CONFORMANT = "KubernetesAPIApprovalPolicyConformant"
COMMUNITY = ("k8s.io", "kubernetes.io")
NEEDED = f'protected groups must have approval annotation "{ANNOTATION}"'
PULL_REQUEST = "see https://github.com/kubernetes/enhancements/pull/1111"


class Approval(NamedTuple):
    """What the annotation comes to: a reason and a message of the condition."""

    reason: str
    message: str


MISSING = Approval("MissingAnnotation", f"{NEEDED}, {PULL_REQUEST}")
INVALID = Approval(
    "InvalidAnnotation", f'{NEEDED} with either a URL or a reason starting with "unapproved", {PULL_REQUEST}')


def annotation_of(definition: Tree) -> str:
    """What the annotation holds, empty where there is none."""
    text: str = (definition["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    return text


def approval_of(definition: Tree) -> Approval | None:
    """What a definition's annotation comes to; None where its group needs none."""
    group: str = definition["spec"].get("group", "")
    if group not in COMMUNITY and not group.endswith(tuple(f".{name}" for name in COMMUNITY)):
        return None
    text = annotation_of(definition)
    if not text:
        return MISSING
    if text.startswith("unapproved"):
        return Approval("UnapprovedAnnotation", f"not approved: {go_quote(text)}")
    try:
        parts = urlsplit(text)
    except ValueError:
        return INVALID
    return Approval("ApprovedAnnotation", f"approved in {text}") if parts.scheme and parts.netloc else INVALID


def approved_status(definition: Tree, now: str) -> Tree | None:
    """The status of a definition once its annotation has been looked at; None when it stays as it
    is.
    """
    found = approval_of(definition)
    if found is None:
        return None
    wanted = names.condition(CONFORMANT, "True" if found.reason == "ApprovedAnnotation" else "False", *found)
    status = definition["status"]
    if names.is_equivalent(wanted, conditions.find(status["conditions"], CONFORMANT)):
        return None
    return names.with_condition(status, wanted, now)
