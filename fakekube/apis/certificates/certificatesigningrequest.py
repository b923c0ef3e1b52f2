"""CertificateSigningRequest: somebody asks for a certificate, somebody approves, somebody signs.

Three strategies: of the object itself, of ``/status`` (the signer's) and of ``/approval`` (the
approver's). Upstream: pkg/apis/certificates/validation, pkg/registry/certificates. Left out:
looking into the request and the certificate.
"""

import base64

from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    forbidden,
    go_quote,
    index,
    invalid,
    not_supported,
    repetitions,
    required,
)
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import keep
from fakekube.apis.checks import signer_name
from fakekube.apis.internals import changed_lines
from fakekube.registry.strategy import Strategy, WriteContext

REQUEST_BLOCK = "-----BEGIN CERTIFICATE REQUEST-----"
USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)
DECISIONS = ("Approved", "Denied")
CONDITIONS = "status.conditions"
MIN_SECONDS = 600
LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
NO_LEGACY = "the legacy signerName is not allowed via this API version"


class CertificateSigningRequestStrategy(Strategy):
    """The object itself: its spec is who asked for what, and never changes."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Stamp who asks; nothing is decided yet."""
        spec = obj.setdefault("spec", {})
        for name in ("username", "uid", "groups", "extra"):
            spec.pop(name, None)
        user = ctx.user
        stamped: Tree = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        stamped["extra"] = {name: list(values) for name, values in user.extra.items()}
        spec.update({name: value for name, value in stamped.items() if value})
        obj["status"] = {}

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """Only metadata changes here."""
        keep(obj, old, "spec", "status")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The request, its usages and signer, and what was decided."""
        return _spec(obj.get("spec") or {}) + _conditions(obj)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; decisions stay."""
        return self.validate(obj, ctx) + _removed(obj, old) + _decided(obj, old) + _certificate(obj, old, signer=False)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The signer may not touch decisions; its conditions get their times."""
        keep(obj, old, "spec")
        conditions = _all(obj)
        for decision in DECISIONS:
            before = [each for each in _all(old) if each.get("type") == decision]
            places = [number for number, each in enumerate(conditions) if each.get("type") == decision]
            if len(before) == len(places):
                for number, each in zip(places, before, strict=True):
                    conditions[number] = each
        _stamp(obj, old, conditions, ctx.now)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The signer sets the certificate once."""
        return self.validate(obj, ctx) + _removed(obj, old) + _decided(obj, old) + _certificate(obj, old, signer=True)


class ApprovalStrategy(CertificateSigningRequestStrategy):
    """``/approval``: conditions and metadata, nothing else."""

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """Take the conditions, with their times."""
        conditions = _all(obj)
        keep(obj, old, "spec", "status")
        _stamp(obj, old, conditions, ctx.now)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """A decision may be made, not taken back."""
        return self.validate(obj, ctx) + _removed(obj, old) + _certificate(obj, old, signer=False)


def _all(obj: Tree) -> list[Tree]:
    return [dict(each) for each in (obj.get("status") or {}).get("conditions") or ()]


def _stamp(obj: Tree, old: Tree, conditions: list[Tree], now: str) -> None:
    before = {(each.get("type"), each.get("status")): each.get("lastTransitionTime") for each in reversed(_all(old))}
    for each in conditions:
        if not each.get("lastUpdateTime"):
            each["lastUpdateTime"] = now
        if not each.get("lastTransitionTime"):
            each["lastTransitionTime"] = before.get((each.get("type"), each.get("status"))) or now
    status = {name: value for name, value in (obj.get("status") or {}).items() if name != "conditions"}
    obj["status"] = {**({"conditions": conditions} if conditions else {}), **status}


def _spec(spec: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    request = base64.b64decode(spec.get("request") or "").decode(errors="replace")
    if REQUEST_BLOCK not in request:
        found.append(invalid("spec.request", spec.get("request"), "PEM block type must be CERTIFICATE REQUEST"))
    usages = spec.get("usages") or []
    if not usages:
        found.append(required("spec.usages"))
    for number, usage in enumerate(usages):
        if usage not in USAGES:
            found.append(not_supported(index("spec.usages", number), usage, USAGES))
    found += [duplicate(index("spec.usages", number), usages[number]) for number in sorted(repetitions(usages))]
    signer = spec.get("signerName", "")
    legacy = [invalid("spec.signerName", signer, NO_LEGACY)] if signer == LEGACY_SIGNER else []
    found += legacy or signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < MIN_SECONDS:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        found.append(invalid("spec.expirationSeconds", seconds, text))
    return found


def _conditions(obj: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[str] = set()
    for number, each in enumerate(_all(obj)):
        path, kind, status = index(CONDITIONS, number), each.get("type", ""), each.get("status", "")
        allowed = ("True",) if kind in (*DECISIONS, "Failed") else ("False", "True", "Unknown")
        if not kind:
            found.append(required(child(path, "type")))
        if not status:
            found.append(required(child(path, "status")))
        elif status not in allowed:
            found.append(not_supported(child(path, "status"), status, allowed))
        if kind in seen:
            found.append(duplicate(child(path, "type"), kind))
        if kind in DECISIONS and kind not in seen and any(decision in seen for decision in DECISIONS):
            found.append(_both(kind))
        seen.add(kind)
    return found


def _both(second: str) -> FieldError:
    """Approved and denied: the older check names the one that came second."""
    members = [f'conditions[{{"type": "{decision}"}}]' for decision in DECISIONS]
    text = "must specify at most one of: " + ", ".join(f"`{member}`" for member in members)
    before = invalid(CONDITIONS, second, "Approved and Denied conditions are mutually exclusive")
    return declared(invalid(CONDITIONS, f"{{{', '.join(members)}}}", text), before)


def _of_type(obj: Tree, kind: str) -> list[Tree]:
    return [each for each in _all(obj) if each.get("type") == kind]


def _removed(obj: Tree, old: Tree) -> list[FieldError]:
    return [
        forbidden(CONDITIONS, f"updates may not remove a condition of type {go_quote(kind)}")
        for kind in (*DECISIONS, "Failed") if len(_of_type(obj, kind)) < len(_of_type(old, kind))
    ]


def _decided(obj: Tree, old: Tree) -> list[FieldError]:
    found = []
    for kind in DECISIONS:
        new, before = _of_type(obj, kind), _of_type(old, kind)
        if len(new) > len(before):
            found.append(forbidden(CONDITIONS, f"updates may not add a condition of type {go_quote(kind)}"))
        elif len(new) == len(before) and new != before:
            lines = changed_lines("[]CertificateSigningRequestCondition", before, new)
            found.append(forbidden(CONDITIONS, f"updates may not modify a condition of type {go_quote(kind)}\n{lines}"))
    return found


def _certificate(obj: Tree, old: Tree, *, signer: bool) -> list[FieldError]:
    new, before = ((tree.get("status") or {}).get("certificate") for tree in (obj, old))
    if (new or "") == (before or ""):
        return []
    if not signer:
        return [forbidden("status.certificate", "updates may not set certificate content")]
    if before:
        return [forbidden("status.certificate", "updates may not modify existing certificate content")]
    text = base64.b64decode(new or "").decode(errors="replace")
    if "-----BEGIN CERTIFICATE-----" in text:
        return []
    return [invalid("status.certificate", "<certificate data>", "must contain at least one CERTIFICATE PEM block")]


STRATEGY = CertificateSigningRequestStrategy()
APPROVAL = ApprovalStrategy()
