"""What the controllers of this package ask of a CertificateSigningRequest.

Upstream: pkg/apis/certificates/helpers.go, whose rules and words for kubelets' requests these are.
"""

import base64
from collections.abc import Sequence

from fakekube.apimachinery.types import Tree
from fakekube.util.certificaterequests import RequestedNames

NODE_PREFIX, NODES_GROUP = "system:node:", "system:nodes"
CLIENT_SIGNER, KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING_SIGNER, LEGACY_SIGNER = "kubernetes.io/kubelet-serving", "kubernetes.io/legacy-unknown"
OPTIONAL_USAGE = "key encipherment"
"""Keys that are not RSA need no such usage."""


def conditions(request: Tree, kind: str) -> list[Tree]:
    """Its conditions of a type."""
    return [each for each in (request.get("status") or {}).get("conditions") or () if each.get("type") == kind]


def has(request: Tree, kind: str) -> bool:
    """Whether a condition of the type is true."""
    return any(each.get("status") == "True" for each in conditions(request, kind))


def is_issued(request: Tree) -> bool:
    """Whether it has its certificate."""
    return bool((request.get("status") or {}).get("certificate"))


def pem_of(request: Tree) -> bytes:
    """The request that it holds. ValueError for what is not base64."""
    return base64.b64decode(request["spec"].get("request") or "")


def client_complaint(usages: Sequence[str]) -> str:
    """Why usages are none of a client's certificate; empty when they are."""
    for usage in usages:
        if usage not in ("digital signature", OPTIONAL_USAGE, "client auth"):
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


def kubelet_client_complaint(names: RequestedNames, usages: Sequence[str]) -> str:
    """Why a request is none for the client certificate of a kubelet; empty when it is."""
    if names.organizations != (NODES_GROUP,):
        return f"subject organization is not {NODES_GROUP}"
    for kind, found in (
            ("DNS", names.dns_names), ("Email", names.email_addresses), ("IP", names.ip_addresses), ("URI", names.uris)):
        if found:
            return f"{kind} subjectAltNames are not allowed"
    if not names.common_name.startswith(NODE_PREFIX):
        return f"subject common name does not begin with {NODE_PREFIX}"
    return _usages_complaint(usages, "client auth")


def kubelet_serving_complaint(names: RequestedNames, usages: Sequence[str]) -> str:
    """Why a request is none for the serving certificate of a kubelet; empty when it is."""
    if names.organizations != (NODES_GROUP,):
        return f"subject organization is not {NODES_GROUP}"
    if not names.dns_names and not names.ip_addresses:
        return "DNS or IP subjectAltName is required"
    for kind, found in (("Email", names.email_addresses), ("URI", names.uris)):
        if found:
            return f"{kind} subjectAltNames are not allowed"
    if complaint := _usages_complaint(usages, "server auth"):
        return complaint
    return "" if names.common_name.startswith(NODE_PREFIX) else f"subject common name does not begin with {NODE_PREFIX}"


def _usages_complaint(usages: Sequence[str], purpose: str) -> str:
    wanted = sorted(["digital signature", OPTIONAL_USAGE, purpose])
    if sorted(dict.fromkeys([*usages, OPTIONAL_USAGE])) == wanted:
        return ""
    return f"usages did not match [{' '.join(wanted)}]"
