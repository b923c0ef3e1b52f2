"""AdmissionReviews: the request as it is sent, the response as it is understood.

Upstream: apiserver/pkg/admission/plugin/webhook/request/admissionreview.go.
"""

import base64
import binascii
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.admission.requests import described, options_of
from fakekube.admission.services import Services
from fakekube.admission.versions import shown, shown_kind
from fakekube.apimachinery import gojson
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.schema.decode import DecodeError
from fakekube.webhooks.client import CallError, ReviewKind

GROUP, KIND, JSON_PATCH = "admission.k8s.io", "AdmissionReview", "JSONPatch"
VERSIONS = ("v1", "v1beta1")
WHOLE = ("", "status")
"""Sub-resources through which the object itself travels, and is shown as it is."""
_OF_META = ("WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions")


def _expected(version: str) -> ReviewKind:
    """What upstream reads besides, and then cannot make a review of that version of."""
    others = {(f"{GROUP}/{other}", KIND): f"{other}.{KIND}" for other in VERSIONS if other != version}
    others |= {(f"{GROUP}/{each}", kind): f"v1.{kind}" for each in VERSIONS for kind in _OF_META}
    return ReviewKind(f"{GROUP}/{version}", KIND, MappingProxyType(others))


EXPECTED: Mapping[str, ReviewKind] = MappingProxyType({version: _expected(version) for version in VERSIONS})


class Verdict(NamedTuple):
    """What a webhook says of a write. ``changed`` is an object that took the place of the one that
    was shown; ``patch`` says it in operations.
    """

    allowed: bool
    status: Mapping[str, Any]
    patch: bytes = b""
    patch_type: str = ""
    changed: Tree | None = None
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = MappingProxyType({})


class InvalidResponse(Exception):
    """A response that breaks the rules; the text is upstream's."""


def request_of(services: Services, attrs: Attributes, wanted: Kind, uid: str, *, final: bool) -> Tree:
    """The request of a review, in the version ``wanted``."""
    return {
        "uid": uid, **described(attrs, wanted), "object": shown(services, attrs, attrs.obj, wanted, final=final),
        "oldObject": shown(services, attrs, attrs.old, wanted, final=final)}


def review_of(version: str, request: Tree) -> Tree:
    """What is sent."""
    return {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": request}


def call_of(services: Services, attrs: Attributes, wanted: Kind, uid: str, *, final: bool) -> AdmissionRequest:
    """What a Python function gets in place of a review."""
    obj, old = attrs.obj, attrs.old
    if wanted is not attrs.kind or attrs.subresource not in WHOLE or not (final or old is not None):
        obj, old = (shown(services, attrs, tree, wanted, final=final) for tree in (obj, old))
    return AdmissionRequest(
        uid=uid, kind=shown_kind(wanted, attrs.subresource), resource=wanted.plural, subresource=attrs.subresource,
        name="" if attrs.ctx.of_collection else attrs.name, namespace=attrs.namespace,
        operation=attrs.operation, user=attrs.ctx.user, dry_run=attrs.ctx.dry_run,
        options=options_of(attrs) or {}, shown=obj, shown_old=old)


# what comes back

_TYPES: Mapping[str, tuple[type, str]] = MappingProxyType({
    "uid": (str, "types.UID"), "allowed": (bool, "bool"), "status": (dict, "v1.Status"), "patch": (str, "[]uint8"),
    "patchType": (str, "v1.PatchType"), "auditAnnotations": (dict, "map[string]string"), "warnings": (list, "[]string"),
})
STATUS = GroupVersionKind("", "v1", "Status")


def read_response(services: Services, review: Tree, version: str, uid: str, *, mutating: bool) -> Verdict:
    """The verdict in a review. Raises CallError for a field of a wrong type, InvalidResponse."""
    response = _typed(review, "response", KIND, "response", dict, f"{version}.AdmissionResponse")
    if response is None:
        raise InvalidResponse("webhook response was absent")
    found = {name: _typed(response, name, "AdmissionResponse", f"response.{name}", *kinds) for name, kinds in _TYPES.items()}
    status = _status(services, found["status"] or {})
    patch = _patch(found["patch"] or "")
    if version == "v1":
        _check(review, found, uid, patch, mutating=mutating)
    else:
        found["patchType"] = JSON_PATCH if patch else ""
        patch = patch if mutating else b""
    texts = [_text(each, "AdmissionResponse", "response.warnings") for each in found["warnings"] or ()]
    annotations = {
        key: _text(value, "AdmissionResponse", "response.auditAnnotations")
        for key, value in (found["auditAnnotations"] or {}).items()}
    return Verdict(
        bool(found["allowed"]), status, patch, found["patchType"] or "", None,
        tuple(texts), annotations)


def _status(services: Services, tree: Tree) -> Tree:
    """The Status of a response, its fields checked."""
    codec = services.codec(STATUS)
    assert codec is not None, "every release has it"
    try:
        decoded = codec.decode({**tree, "kind": STATUS.kind, "apiVersion": STATUS.api_version}).tree
    except DecodeError as error:
        raise CallError(str(error)) from None
    return {name: value for name, value in decoded.items() if value}


def _check(review: Tree, found: Mapping[str, Any], uid: str, patch: bytes, *, mutating: bool) -> None:
    if (found["uid"] or "") != uid:
        raise InvalidResponse(f'expected response.uid={go_quote(uid)}, got {go_quote(found["uid"] or "")}')
    expected = EXPECTED["v1"]
    told = (review.get("apiVersion") or "", review.get("kind") or "")
    if told != (expected.api_version, expected.kind):
        group, _, version = told[0].rpartition("/")
        raise InvalidResponse(
            f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {group}/{version}, Kind={told[1]}")
    kind = found["patchType"]
    if not mutating:
        if patch:
            raise InvalidResponse("validating webhook may not return response.patch")
        if kind is not None:
            raise InvalidResponse("validating webhook may not return response.patchType")
    elif patch and kind is None:
        raise InvalidResponse("webhook returned response.patch but not response.patchType")
    elif not patch and kind is not None:
        raise InvalidResponse("webhook returned response.patchType but not response.patch")
    elif kind == "":
        raise InvalidResponse('webhook returned invalid response.patchType of ""')


def _typed(tree: Tree, name: str, struct: str, path: str, expected: type, go_type: str) -> Any:
    value = tree.get(name)
    if value is None or (isinstance(value, expected) and (expected is not int or not isinstance(value, bool))):
        return value
    raise _mistyped(value, struct, path, go_type)


def _text(value: Any, struct: str, path: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise _mistyped(value, struct, path, "string")


def _mistyped(value: Any, struct: str, path: str, go_type: str) -> CallError:
    return CallError(f"json: cannot unmarshal {gojson.type_name(value)} into Go struct field {struct}.{path} of type {go_type}")


def _patch(text: str) -> bytes:
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        from fakekube.schema.scalars import corrupt_base64

        raise CallError(f"illegal base64 data at input byte {corrupt_base64(text)}") from None
