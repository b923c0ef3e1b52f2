"""PodCertificateRequest: a node asks for a certificate of a pod that runs on it.

Upstream: ValidatePodCertificateRequest in pkg/apis/certificates/validation, and v1/defaults.go.
Left out: what a status may become, and whether the request's signature is right.
"""

import base64

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import OMITTED, FieldError, invalid, required, too_long
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.base import StatusStrategy
from fakekube.apis.certificates.der import is_request
from fakekube.apis.checks import ruled, signer_name
from fakekube.apis.internals import internal
from fakekube.registry.strategy import WriteContext

DEFAULT_SECONDS = 86400
MIN_SECONDS, MAX_SECONDS, MAX_SECONDS_OF_OWN_SIGNERS = 3600, 7862400, 86400
MAX_UID_BYTES, MAX_REQUEST_BYTES, MAX_ANNOTATIONS_BYTES = 128, 10240, 262144
ANNOTATIONS, STUB, SECONDS = "spec.unverifiedUserAnnotations", "spec.stubPKCS10Request", "spec.maxExpirationSeconds"
STUB_SINCE = 37
KIND = "PodCertificateRequestSpec"


class PodCertificateRequestStrategy(StatusStrategy):
    """What is particular to PodCertificateRequests."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A day."""
        spec = obj.setdefault("spec", {})
        if spec.get("maxExpirationSeconds") is None:
            spec["maxExpirationSeconds"] = DEFAULT_SECONDS

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Who asks whom for what, and for how long."""
        spec = obj["spec"]
        found = signer_name("spec.signerName", spec.get("signerName", ""))
        found += _annotations(spec.get("unverifiedUserAnnotations") or {})
        for who in ("pod", "serviceAccount", "node"):
            found += ruled(f"spec.{who}Name", spec.get(f"{who}Name", ""), names.dns1123_subdomain)
            found += _uid(f"spec.{who}UID", spec.get(f"{who}UID", ""))
        own = spec.get("signerName", "").startswith("kubernetes.io/")
        most = MAX_SECONDS_OF_OWN_SIGNERS if own else MAX_SECONDS
        if not MIN_SECONDS <= spec["maxExpirationSeconds"] <= most:
            found.append(invalid(SECONDS, spec["maxExpirationSeconds"], f"must be in the range [{MIN_SECONDS}, {most}]"))
        return found + (_request(spec) if ctx.minor >= STUB_SINCE else [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec stays, and is not looked at again."""
        return immutable("spec", internal(KIND, obj["spec"]), internal(KIND, old["spec"]))


def _annotations(values: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    for name in sorted(values):
        wrong = ruled(ANNOTATIONS, name.lower(), names.qualified_name) if name else [required(ANNOTATIONS)]
        if not wrong and "/" not in name:
            wrong.append(invalid(ANNOTATIONS, name.lower(), 'must be a domain-prefixed key (such as "acme.io/foo")'))
        found += wrong
    if sum(len(name.encode()) + len(value.encode()) for name, value in values.items()) > MAX_ANNOTATIONS_BYTES:
        found.append(too_long(ANNOTATIONS, MAX_ANNOTATIONS_BYTES))
    return found


def _uid(path: str, text: str) -> list[FieldError]:
    if not text:
        return [invalid(path, text, "must not be empty")]
    return [too_long(path, MAX_UID_BYTES)] if len(text.encode()) > MAX_UID_BYTES else []


def _request(spec: Tree) -> list[FieldError]:
    """A request, or, in the older way, a key and the proof of having it."""
    older = bool(spec.get("pkixPublicKey")), bool(spec.get("proofOfPossession"))
    stub = base64.b64decode(spec.get("stubPKCS10Request") or "")
    if any(older) if stub else not all(older):
        text = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
        return [invalid("spec", OMITTED, text)]
    if len(stub) > MAX_REQUEST_BYTES:
        return [too_long(STUB, MAX_REQUEST_BYTES)]
    return [invalid(STUB, OMITTED, "must be a valid PKCS#10 CSR")] if stub and not is_request(stub) else []


STRATEGY = PodCertificateRequestStrategy()
