"""Who may approve and sign requests for certificates, and which ones nobody may make.

Upstream: plugin/pkg/admission/certificates and pkg/certauthorization. Left out: looking into the
request where the package cryptography (extra ``tls``) is not installed.
"""

import base64
import binascii

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery.equality import is_only_mutating_gc_fields
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

GROUP, RESOURCE = "certificates.k8s.io", "certificatesigningrequests"
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
MASTERS = "system:masters"


class CertificateApproval(Plugin):
    """Lets those approve who may approve for the signer."""

    name = "CertificateApproval"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Approvals and denials."""
        return is_resource(kind, GROUP, RESOURCE) and (operation, subresource) == ("UPDATE", "approval")

    def validate(self, attrs: Attributes) -> None:
        """Ask about the signer that the stored request names."""
        signer = _signer(attrs.old)
        if not _may(attrs, "approve", signer):
            raise forbidden(attrs, f"user not permitted to approve requests with signerName {go_quote(signer)}")


class CertificateSigning(Plugin):
    """Lets those set certificates and conditions who may sign for the signer."""

    name = "CertificateSigning"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Changes of the status."""
        return is_resource(kind, GROUP, RESOURCE) and (operation, subresource) == ("UPDATE", "status")

    def validate(self, attrs: Attributes) -> None:
        """Ask about the signer where anything of a signature changes."""
        if _signature(attrs.obj) == _signature(attrs.old):
            return
        signer = _signer(attrs.old)
        if not _may(attrs, "sign", signer):
            raise forbidden(attrs, f"user not permitted to sign requests with signerName {go_quote(signer)}")


class ClusterTrustBundleAttest(Plugin):
    """Lets those write trust bundles of a signer who may attest for it."""

    name = "ClusterTrustBundleAttest"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New bundles and changes of them."""
        return is_resource(kind, GROUP, "clustertrustbundles") and operation in ("CREATE", "UPDATE")

    def validate(self, attrs: Attributes) -> None:
        """Ask about the signer, unless the garbage collector might have made the change."""
        signer = _signer(attrs.obj)
        if attrs.obj is None or not signer or is_only_mutating_gc_fields(attrs.obj, attrs.old):
            return
        if not _may(attrs, "attest", signer):
            raise forbidden(attrs, f"user not permitted to attest for signerName {go_quote(signer)}")


class CertificateSubjectRestriction(Plugin):
    """Refuses requests for client certificates of the group that may do everything."""

    name = "CertificateSubjectRestriction"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New requests."""
        return is_resource(kind, GROUP, RESOURCE) and (operation, subresource) == ("CREATE", "")

    def validate(self, attrs: Attributes) -> None:
        """Look at the organizations of the subject."""
        if _signer(attrs.obj) != CLIENT_SIGNER or attrs.obj is None:
            return
        try:
            from fakekube.util.certificaterequests import names_in

            found = names_in(base64.b64decode(attrs.obj["spec"].get("request") or ""))
        except ImportError:
            return
        except (ValueError, binascii.Error) as error:
            raise forbidden(attrs, f"failed to parse CSR: {error}") from error
        if MASTERS in found.organizations:
            raise forbidden(attrs, f"use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed")


def _signer(request: Tree | None) -> str:
    return str(((request or {}).get("spec") or {}).get("signerName", ""))


def _signature(request: Tree | None) -> tuple[object, object]:
    status = (request or {}).get("status") or {}
    return status.get("certificate") or "", status.get("conditions") or []


def _may(attrs: Attributes, verb: str, signer: str) -> bool:
    """Whether the user may do that for the signer, or for all of its domain."""
    ctx = attrs.ctx
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        access = Access(verb, group=GROUP, version="*", resource="signers", name=name)
        if ctx.cluster.authorization.authorizer.decide(ctx.user, access).allowed:
            return True
    return False
