"""PodCertificateRequest: a node asks for a certificate of a pod that runs on it.

Upstream: ValidatePodCertificateRequest in pkg/apis/certificates/validation, and v1/defaults.go.
Left out: what an issued certificate says, and whether the request's signature is right.
"""

import base64

from fakekube.apimachinery import names
from fakekube.apimachinery.conditions import is_true
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import OMITTED, FieldError, invalid, not_supported, required, too_long, typed
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import conditions, immutable
from fakekube.apis.base import StatusStrategy
from fakekube.apis.certificates.der import is_authority, is_request, pem_blocks
from fakekube.apis.checks import ruled, signer_name
from fakekube.apis.internals import internal
from fakekube.registry.strategy import WriteContext

DEFAULT_SECONDS = 86400
MIN_SECONDS, MAX_SECONDS, MAX_SECONDS_OF_OWN_SIGNERS = 3600, 7862400, 86400
MAX_UID_BYTES, MAX_REQUEST_BYTES, MAX_ANNOTATIONS_BYTES = 128, 10240, 262144
ANNOTATIONS, STUB, SECONDS = "spec.unverifiedUserAnnotations", "spec.stubPKCS10Request", "spec.maxExpirationSeconds"
STUB_SINCE = 37
MAX_CHAIN_BYTES = 100 * 1024
ENDS = ("Denied", "Failed", "Issued")
TIMES = {
    "notBefore": "must be present and consistent with the issued certificate",
    "notAfter": "must be present and consistent with the issued certificate",
    "beginRefreshAt": "must be present and in the range [notbefore+10min, notafter-10min]",
}
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
        most = MAX_SECONDS_OF_OWN_SIGNERS if _is_of_kubernetes(spec.get("signerName", "")) else MAX_SECONDS
        if not MIN_SECONDS <= spec["maxExpirationSeconds"] <= most:
            found.append(invalid(SECONDS, spec["maxExpirationSeconds"], f"must be in the range [{MIN_SECONDS}, {most}]"))
        return found + (_request(spec) if ctx.minor >= STUB_SINCE else [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec stays, and is not looked at again."""
        return immutable("spec", internal(KIND, obj["spec"]), internal(KIND, old["spec"]))

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """A request ends once: it is issued, denied or failed."""
        status, before = obj.get("status") or {}, old.get("status") or {}
        found = _conditions(status.get("conditions") or [])
        if found:
            return found
        if _end(before):
            return _kept(status, before, "immutable after PodCertificateRequest is issued, denied, or failed")
        end = _end(status)
        if end == "Issued":
            return _chain(status)
        if not end:
            return _kept(status, before, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"')
        alone = {"conditions": status["conditions"]}
        return _kept(status, alone, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")


def _is_of_kubernetes(signer: str) -> bool:
    host = signer.partition("/")[0]
    return host == "kubernetes.io" or host.endswith(".kubernetes.io")


def _conditions(items: list[Tree]) -> list[FieldError]:
    found, ends = [], 0
    for number, condition in enumerate(items):
        path, kind, value = f"status.conditions.[{number}]", condition.get("type", ""), condition.get("status", "")
        if kind not in ENDS:
            found.append(not_supported(f"{path}.type", kind, ENDS))
            continue
        ends += 1
        if ends > 1:
            what = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            found.append(invalid(f"{path}.type", kind, what))
        if value != "True":
            found.append(not_supported(f"{path}.status", typed(value), ("True",)))
    return found + conditions(items, "status.conditions")


def _end(status: Tree) -> str:
    """How a request has ended; empty when it has not."""
    return next((end for end in ("Issued", "Denied", "Failed") if is_true(status.get("conditions"), end)), "")


def _kept(status: Tree, other: Tree, what: str) -> list[FieldError]:
    return [] if same(status, other) else [invalid("status", OMITTED, what)]


def _chain(status: Tree) -> list[FieldError]:
    """The certificates that were issued."""
    chain, path = status.get("certificateChain", ""), "status.certificateChain"
    if len(chain.encode()) > MAX_CHAIN_BYTES:
        return [too_long(path, MAX_CHAIN_BYTES)]
    blocks = pem_blocks(chain)
    if not blocks:
        return [invalid(path, chain, "issued certificate chain must contain at least one certificate")]
    if blocks[0].type != "CERTIFICATE":
        return [invalid(path, chain, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")]
    try:
        is_authority(blocks[0].content)
    except ValueError:
        return [invalid(path, chain, "leaf certificate does not parse as valid X.509")]
    return [required(f"status.{name}", what) for name, what in TIMES.items() if not status.get(name)]


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
