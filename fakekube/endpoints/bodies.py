"""From the bytes of a body to a tree that its kind's schema has passed, or to upstream's words for
why not.

The order of upstream's decoder decides which complaint a client sees: syntax, then what kind the
body says it is, then types, then what strictness finds, then whether that kind can become the
endpoint's. Upstream: apimachinery/pkg/runtime/serializer/{json,versioning} and
apiserver/pkg/endpoints/handlers/rest.go. Left out: CBOR bodies, which get the 415 of an unknown
format.
"""

from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery import errors, gojson
from fakekube.apimachinery.duplicates import may_repeat, merged
from fakekube.apimachinery.empties import Emptied
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.http import MAX_BODY_BYTES, Request
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.negotiation import JSON, OBJECT_TYPES, PROTOBUF, YAML
from fakekube.endpoints.scope import Scope, Services
from fakekube.endpoints.table import INTERNAL_PACKAGES, internal_type
from fakekube.schema.decode import DecodeError
from fakekube.util.nesting import is_deep

SYNONYMS = {GroupVersionKind("policy", "v1beta1", "Eviction"): GroupVersionKind("policy", "v1", "Eviction")}
"""Kinds of a version that is served no more, and what they are taken for."""
POD = GroupVersionKind("", "v1", "Pod")
SCHEME = "pkg/api/legacyscheme/scheme.go:30"
TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class Parsed(NamedTuple):
    """A body read: the value, and what strictness says about keys that were given twice.

    ``repeated`` is the text of a warning each, ``strict`` what an error lists: both of YAML.
    ``spelled`` is the JSON that the value was read from, if it was, and ``repeating`` the same when
    it is to be read strictly and seems to give a key twice. ``cut`` is the complaint about what is
    nested too deep to be kept, if there is any; it is left out of the value.
    """

    value: Any
    repeated: list[str]
    strict: list[str]
    media: str
    spelled: bytes | None = None
    repeating: bytes | None = None
    cut: str = ""


def media_type(request: Request) -> str:
    """The bare media type of a body in lower case; JSON when none is given, empty when it cannot be
    read.
    """
    header = request.headers.get("content-type", "")
    if not header or header == JSON:
        return JSON
    return header.partition(";")[0].strip().lower()


def input_type(request: Request) -> str:
    """JSON, YAML or protobuf. Raises 415 for any other Content-Type."""
    media = media_type(request)
    if media in OBJECT_TYPES:
        return media
    raise errors.unsupported_media_type(
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(OBJECT_TYPES)}")


def check_size(request: Request) -> None:
    """Raises 413 for a body beyond the limit."""
    if len(request.body) > MAX_BODY_BYTES:
        raise errors.too_large(f"limit is {MAX_BODY_BYTES}")


def parse(services: Services, body: bytes, media: str, *, strict: bool, canonical: bool = False) -> Parsed:
    """Read a body.

    ``strict`` says whether to look for repeated keys, ``canonical`` that JSON has none.

    Raises ValueError in Go's words.
    """
    if media == PROTOBUF:
        return Parsed(services.protobuf.decode(body), [], [], media)
    if media == YAML:
        from fakekube.apimachinery import yaml  # costs as much as a tenth of the server's start

        value, repeated = yaml.load(body)
        texts = (
            ["yaml: unmarshal errors:\n" + "\n".join(f"  {text}" for text in repeated)] if repeated and strict else []
        )
        return Parsed(value, repeated if strict else [], texts, media)
    value, body, _, cut = gojson.read(body)
    if canonical or not may_repeat(body, value):
        return Parsed(value, [], [], media, body, None, cut)
    return Parsed(merged(body), [], [], media, body, body if strict else None, cut)


def decode(
    scope: Scope, request: Request, directive: str, warnings: list[str], *, media: str = "",
    emptied: list[Emptied] | None = None,
) -> Tree:
    """The object in a request's body, in the version that the body names, complete with kind and
    apiVersion.

    ``directive`` is Ignore, Warn (what strictness finds is appended to ``warnings``) or Strict.
    ``media`` is the body's, where it was looked at before; ``emptied`` takes what was given with
    nothing in it. Raises 400, 413 and 415.
    """
    if not media:
        media = input_type(request)
        check_size(request)
    expected = scope.gvk
    # its fields are numbers, and upstream skips those that it does not know, however strict it is
    # to be
    if media == PROTOBUF:
        directive = "Ignore"
    try:
        parsed = parse(scope.services, request.body, media, strict=directive != "Ignore", canonical=request.canonical)
        if scope.is_custom:
            tree, gvk = interpret_custom(parsed.value, expected, request.body if media == JSON else b"")
        else:
            tree, gvk = interpret(parsed.value, expected)
    except ValueError as error:
        raise _unrecognized(expected.kind, explain(error), request.body) from None
    if request.method != "POST" or not _has_empty_overhead(gvk, tree):
        return _decode_as(scope, gvk, tree, parsed, directive, warnings, emptied)
    decoded = _decode_as(scope, gvk, tree, parsed._replace(spelled=None), directive, warnings, emptied)
    decoded["spec"]["overhead"] = {}
    return decoded


def explain(error: Exception) -> str:
    """What is wrong with a body, with the words that its syntax gets."""
    if isinstance(error, gojson.SyntaxProblem):
        return f"couldn't get version/kind; json parse error: {error}"
    return str(error)


def _unrecognized(kind: str, why: str, body: bytes) -> APIError:
    return errors.bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({summary(body)})")


def summary(body: bytes) -> str:
    """The beginning of a body as errors show it: as text when it may be JSON, else in hex."""
    if not body:
        return "<empty>"
    head, more = body[:30], " ..." if len(body) > 30 else ""
    return (head.decode("utf-8", "replace") if body[:1] == b"{" else head.hex()) + more


def interpret(value: Any, expected: GroupVersionKind) -> tuple[Tree, GroupVersionKind]:
    """The tree and the kind that it says it is, what it leaves out being as expected."""
    tree: Tree = {} if value is None else value
    if tree.__class__ is dict and tree.get("kind") == expected.kind and tree.get("apiVersion") == expected.api_version:
        return tree, expected
    if not isinstance(tree, dict):
        raise gojson.SyntaxProblem(f"json: cannot unmarshal {gojson.type_name(tree)} into Go value of type {TYPE_META}")
    for name in ("apiVersion", "kind"):
        if not isinstance(tree.get(name, ""), str | None):
            raise gojson.SyntaxProblem(
                f"json: cannot unmarshal {gojson.type_name(tree[name])} into Go struct field .{name} of type string")
    group, version = split_api_version(tree.get("apiVersion") or "")
    kind = tree.get("kind") or expected.kind
    if not version:
        group, version = expected.group, expected.version
    gvk = GroupVersionKind(group, version, kind)
    return tree, SYNONYMS.get(gvk, gvk)


def interpret_custom(value: Any, expected: GroupVersionKind, body: bytes = b"") -> tuple[Tree, GroupVersionKind]:
    """As ``interpret``, of custom objects: nothing is taken for granted. ``body`` is the JSON, if
    there is one, which an error quotes.
    """
    tree, gvk = interpret(value, expected)
    if gvk is expected:
        return tree, gvk
    if not tree.get("kind"):
        shown = body or orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)
        raise ValueError(f"Object 'Kind' is missing in '{shown.decode(errors='replace')}'")
    return tree, GroupVersionKind(*split_api_version(tree.get("apiVersion") or ""), tree["kind"])


def _decode_as(
    scope: Scope, gvk: GroupVersionKind, tree: Tree, parsed: Parsed, directive: str, warnings: list[str],
    emptied: list[Emptied] | None,
) -> Tree:
    expected = scope.gvk
    codec = scope.reader(gvk)
    if codec is None:
        raise cannot_handle(gvk, expected.kind, not_registered(gvk))
    tree["kind"], tree["apiVersion"] = gvk.kind, gvk.api_version
    forget = asks_to_forget(tree)
    try:
        told = codec.strict(parsed.repeating) if parsed.repeating is not None else None
        decoded = codec.decode(tree, parsed.spelled)
    except DecodeError as error:
        raise cannot_handle(gvk, expected.kind, str(error)) from None
    if parsed.cut and is_deep(decoded.tree):
        raise _unrecognized(expected.kind, explain(gojson.SyntaxProblem(parsed.cut)), parsed.spelled or b"")
    if gvk != expected and not scope.is_custom and not _is_another_version(gvk, expected):
        raise cannot_handle(gvk, expected.kind, no_conversion(gvk, expected))
    unknown = told if told is not None else [f"unknown field {go_quote(path)}" for path in decoded.unknown]
    if directive == "Ignore":
        unknown = []
    if unknown or parsed.strict:
        if directive == "Strict":
            raise cannot_handle(gvk, expected.kind, f"strict decoding error: {', '.join(parsed.strict + unknown)}")
        warnings.extend(parsed.repeated + unknown)
    if gvk != expected and not (scope.is_custom and gvk._replace(kind=expected.kind) == expected):
        raise errors.bad_request(
            f"the API version in the data ({gvk.api_version}) does not match the expected API version "
            f"({expected.api_version})"
        )
    if forget:
        decoded.tree["metadata"]["managedFields"] = []
    if decoded.emptied and emptied is not None:
        emptied[:] = decoded.emptied
    return decoded.tree


def asks_to_forget(tree: Tree) -> bool:
    """Whether an object has an empty list of managedFields, which says something that decoding
    would lose.
    """
    metadata = tree.get("metadata")
    return isinstance(metadata, dict) and metadata.get("managedFields") == []


def _has_empty_overhead(gvk: GroupVersionKind, tree: Tree) -> bool:
    """Whether a pod has an overhead with nothing in it, which admission takes for one, and which
    decoding would lose.

    The official Java client sends it with each pod unless it is told not to.
    """
    spec = tree.get("spec") if gvk == POD else None
    return isinstance(spec, dict) and spec.get("overhead") == {}


def _is_another_version(gvk: GroupVersionKind, expected: GroupVersionKind) -> bool:
    return _internal_group(gvk) == _internal_group(expected) and gvk.kind == expected.kind


def _internal_group(gvk: GroupVersionKind) -> str:
    """The group whose internal form a kind has: Events of both groups have one."""
    return INTERNAL_PACKAGES.get(gvk.group, gvk.group)


def no_conversion(gvk: GroupVersionKind, expected: GroupVersionKind) -> str:
    """What the scheme says of a kind that cannot become the one of the endpoint."""
    return f"converting ({gvk.version}.{gvk.kind}) to ({internal_type(expected)}): unknown conversion"


def not_registered(gvk: GroupVersionKind) -> str:
    """What the scheme says about a kind that it does not know."""
    return f'no kind {go_quote(gvk.kind)} is registered for version {go_quote(gvk.api_version)} in scheme "{SCHEME}"'


def cannot_handle(gvk: GroupVersionKind, kind: str, why: str) -> APIError:
    """400 of a body whose kind is known but which cannot be taken as the endpoint's."""
    return errors.bad_request(f"{gvk.kind} in version {go_quote(gvk.version)} cannot be handled as a {kind}: {why}")


def decode_options(services: Services, request: Request, kind: str, version: str) -> Tree:
    """The options object (``kind`` is DeleteOptions) in a body that is not empty.

    Raises 400 and 415.

    Any group's version of it will do; unknown fields are dropped in silence.
    """
    media = input_type(request)
    expected = GroupVersionKind("meta.k8s.io", version, kind)
    try:
        tree, gvk = interpret(parse(services, request.body, media, strict=False).value, expected)
    except ValueError as error:
        raise errors.bad_request(explain(error)) from None
    if gvk.kind != kind:
        raise errors.bad_request(not_registered(gvk))
    codec = services.codec(GroupVersionKind("", "v1", kind))
    assert codec is not None
    try:
        return codec.decode(tree).tree
    except DecodeError as error:
        raise errors.bad_request(str(error)) from None
