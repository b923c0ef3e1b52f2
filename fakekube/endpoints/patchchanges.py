"""What a JSON patch, a merge patch or a strategic merge patch makes of an object.

The patched tree goes through its kind's schema as a body does, but in other words: what a body gets
400 for, the result of a patch gets 422 for, with the patched object quoted. Upstream: jsonPatcher
and smpPatcher in apiserver/pkg/endpoints/handlers/patch.go.
"""

from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apimachinery import errors, field_errors, gojson
from fakekube.apimachinery.duplicates import duplicate_keys, faults_of_operations
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gotext import value_text
from fakekube.apimachinery.gvk import GroupKind, GroupVersionKind
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import bodies
from fakekube.endpoints.applying import BODY_FIRST_SINCE
from fakekube.endpoints.options import INT64, WriteOptions
from fakekube.endpoints.patchtexts import convert_error, custom_text, in_go_order, patched_text
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.write import check_name
from fakekube.patch import json_patch, merge_patch, strategic_merge
from fakekube.registry.strategy import WriteContext
from fakekube.schema.decode import BodyReader, DecodeError
from fakekube.util.nesting import is_deep

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
MAX_OPERATIONS = 10000
OPERATION_KEYS = ("op", "path", "from", "value")
REJECTED = "the server rejected our request due to an error in our request"

Change = Callable[[Tree], Tree]
"""From the present object (read-only) to the patched one, decoded and owned by who asked, but for
what both share.
"""


def patch_type(request: Request) -> str:
    """The kind of patch, as Content-Type says it; letters count."""
    return request.headers.get("content-type", "").partition(";")[0].strip()


def change_of(scope: Scope, request: Request, options: WriteOptions, context: WriteContext) -> Change:
    """The change that a JSON patch, a merge patch or a strategic merge patch describes.

    Raises 400 for a body that is no JSON; the change raises what else is wrong, if there is an
    object. Before 1.37 a body was read when there was one.
    """
    strict = options.directive != "Ignore"
    try:
        value, body, beyond, cut = gojson.read(request.body)
    except gojson.SyntaxProblem as problem:
        if scope.minor >= BODY_FIRST_SINCE:
            raise errors.bad_request("invalid JSON patch") from None
        return _refusing(_unreadable(patch_type(request), str(problem), strict=strict))
    try:
        change = _described(scope, request, gojson.Read(value, body, beyond), options, context)
    except APIError as error:  # upstream reads what the patch says when it has the object
        change = _refusing(error)
    return _shallow(change) if cut and patch_type(request) != JSON_PATCH else change


def _described(
    scope: Scope, request: Request, read: gojson.Read, options: WriteOptions, context: WriteContext,
) -> Change:
    strict, (value, body, beyond, _) = options.directive != "Ignore", read
    media = patch_type(request)
    operations = _operations(value, strict=strict) if media == JSON_PATCH else []
    if beyond:
        raise _beyond(beyond, media, strict=strict)
    if media == JSON_PATCH:
        found = faults_of_operations(body, operations, OPERATION_KEYS) if strict else []
        again = _Again(body, operations)
        return _by_json_patch(scope, again, [f"json patch {text}" for text in found], options.directive, context)
    if value is None and media == MERGE_PATCH:
        raise errors.bad_request("Invalid JSON Patch")
    if media == MERGE_PATCH and not strict and value.__class__ in (str, int, float, bool):
        raise errors.bad_request("Invalid JSON Patch")
    # an object is replaced by a list
    if media == MERGE_PATCH and not strict and isinstance(value, list):
        why = gojson.SyntaxProblem(f"json: cannot unmarshal array into Go value of type {bodies.TYPE_META}")
        return _refusing(_unfit(orjson.dumps(value).decode(), bodies.explain(why)))
    if value is not None and not isinstance(value, dict):
        prefix = "error decoding patch: " if media == MERGE_PATCH else ""
        raise errors.bad_request(
            f"{prefix}json: cannot unmarshal {gojson.type_name(value)} into Go value of type map[string]interface {{}}")
    looked_at = strict and not request.canonical
    repeated = [f"duplicate field {go_quote(path)}" for path in duplicate_keys(body, value)] if looked_at else []
    if media == MERGE_PATCH:
        nulls = b"null" in body  # or else there is none to take out
        change = _by_merge_patch(scope, _Again(body, value or {}), repeated, options.directive, context, nulls=nulls)
    else:
        change = _by_strategic_merge(scope, _Again(body, value or {}), repeated, options.directive, context)
    return change


def _unreadable(media: str, problem: str, *, strict: bool) -> APIError:
    if media == MERGE_PATCH and not strict:
        return errors.bad_request("Invalid JSON Patch")
    return errors.bad_request(f"error decoding patch: {problem}" if strict and media != STRATEGIC else problem)


def _shallow(change: Change) -> Change:
    """The same, but for an object that would keep what is nested too deep."""
    def checked(old: Tree) -> Tree:
        tree = change(old)
        if is_deep(tree):
            raise errors.bad_request("invalid JSON patch")
        return tree

    return checked


def _refusing(error: APIError) -> Change:
    def change(_: Tree) -> Tree:
        raise error

    return change


def _beyond(number: str, media: str, *, strict: bool) -> APIError:
    """400 for a number that no float64 holds.

    Upstream, without strictness, finds it only in what came of the patch.
    """
    where = "struct field jsonPatchOp.value" if media == JSON_PATCH else "value"
    text = f"json: cannot unmarshal number {number} into Go {where} of type float64"
    return errors.bad_request(f"error decoding patch: {text}" if strict and media != STRATEGIC else text)


def _operations(value: Any, *, strict: bool) -> list[Any]:
    """The operations of a JSON patch. Strictness reads them first, and has words of its own."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise _undecodable(value, "[]handlers.jsonPatchOp" if strict else "jsonpatch.Patch", strict=strict)
    for operation in value:
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise _undecodable(operation, "handlers.jsonPatchOp" if strict else "jsonpatch.Operation", strict=strict)
        for name in OPERATION_KEYS[:3] if strict else ():
            if not isinstance(operation.get(name, ""), str | None):
                raise errors.bad_request(
                    f"error decoding patch: json: cannot unmarshal {gojson.type_name(operation[name])} into Go struct field "
                    f"jsonPatchOp.{name} of type string")
    if len(value) > MAX_OPERATIONS:
        why = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(value)}"
        raise errors.too_large(why)
    return value


def _undecodable(value: Any, go_type: str, *, strict: bool) -> APIError:
    text = f"json: cannot unmarshal {gojson.type_name(value)} into Go value of type {go_type}"
    return errors.bad_request(f"error decoding patch: {text}" if strict else text)


class _Again:
    """The value of a patch, for each try of a write anew: what it brings belongs to the object that
    came of the try.
    """

    def __init__(self, body: bytes, value: Any) -> None:
        self._body, self._nothing = body, type(value)()
        self._first = value

    def take(self) -> Any:
        """The value, the caller's own."""
        first, self._first = self._first, None
        return first if first is not None else gojson.loads(self._body) or self._nothing


def _by_json_patch(
    scope: Scope, again: _Again, found: list[str], directive: str, context: WriteContext,
) -> Change:
    schema = scope.services.definitions.schema(scope.gvk)

    def change(old: Tree) -> Tree:
        operations = again.take()
        try:
            patched = json_patch.apply(old, operations)
        except json_patch.PatchError:
            raise APIError(
                422, "Invalid", "the server rejected our request due to an error in our request", {}
            ) from None

        def show() -> str:
            touched = [operation.get("path", "") for operation in operations if operation]
            # what an operation brings stays as it is spelled
            patched = json_patch.apply(in_go_order(old, schema), again.take())
            return custom_text(patched) if scope.is_custom else patched_text(patched, None, paths=touched)

        return _decoded(scope, old, patched, show, found, directive, context)

    return change


def _by_merge_patch(
    scope: Scope, again: _Again, found: list[str], directive: str, context: WriteContext, *, nulls: bool,
) -> Change:
    schema = scope.services.definitions.schema(scope.gvk)

    def change(old: Tree) -> Tree:
        def show() -> str:
            value = again.take()
            patched = merge_patch.apply(old, value, nulls=nulls)
            return custom_text(patched) if scope.is_custom else patched_text(patched, schema, merged=value)

        return _decoded(scope, old, merge_patch.apply(old, again.take(), nulls=nulls), show, found, directive, context)

    return change


def _by_strategic_merge(scope: Scope, again: _Again, found: list[str], directive: str, context: WriteContext) -> Change:
    schema = scope.services.definitions.schema(scope.gvk)
    assert schema is not None

    def whole() -> Any:
        """The patch, its floats integers where they are whole, which this way of patching makes of
        them, and integers that are too long floats.
        """
        value = again.take()
        return _whole(value) if _has_inexact(value) else value

    def change(old: Tree) -> Tree:
        try:
            patched = strategic_merge.apply(old, whole(), schema)
        except strategic_merge.PatchError as error:
            if error.reason == "Invalid":  # upstream keeps its reason to itself
                raise APIError(error.code, error.reason, REJECTED, {}) from None
            raise APIError(error.code, error.reason, error.text) from None
        return _decoded(scope, old, patched, lambda: value_text(whole()), found, directive, context, converted=True)

    return change


def _has_inexact(value: Tree | list[Any]) -> bool:
    """Whether there are floats, or integers that 64 bits do not hold."""
    for item in value.values() if isinstance(value, dict) else value:
        kind = item.__class__
        if kind is str:
            continue
        if kind is float or (kind is int and not -INT64 <= item < INT64) or (
                (kind is dict or kind is list) and _has_inexact(item)):
            return True
    return False


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < INT64 else value
    return gojson.untyped(value)


def _members(path: str) -> list[str]:
    """What to sort paths by for the order of a tree whose keys are sorted: the keys and indices on
    the way.
    """
    return [name.zfill(10) if name.isdigit() else name for name in path.replace("]", "").replace("[", ".").split(".")]


def _decoded(
    scope: Scope, old: Tree, patched: Tree, show: Callable[[], str], found: list[str], directive: str, context: WriteContext, *,
    converted: bool = False,
) -> Tree:
    """The patched object through its schema, less what is as it was.

    ``show`` prints what an error quotes.

    What the patch left alone is the stored object's own, and goes on to be shared; the object's and
    its metadata's own fields are not, since every write changes some.
    """
    shares = scope.kind.conversion is None
    tree: Tree = dict(patched) if shares else orjson.loads(orjson.dumps(patched))
    if shares and tree.get("metadata") is old.get("metadata"):
        tree["metadata"] = dict(old.get("metadata") or {})
    expected = scope.gvk
    codec = scope.reader(expected)
    assert codec is not None
    if converted:  # into the endpoint's kind, whatever the patch says that it is
        tree["kind"], tree["apiVersion"] = expected.kind, expected.api_version
    elif tree.get("kind") != expected.kind or tree.get("apiVersion") != expected.api_version:
        _interpreted(scope, tree, old["metadata"]["name"], show, directive, context)
    forget = bodies.asks_to_forget(tree)
    try:
        decoded = codec.decode(tree, old=old if shares else None, converter=converted)
    except DecodeError as error:
        shown = show()
        ordered = in_go_order(tree, codec.schema) if converted else gojson.loads(shown.encode())
        text = _first_mistake(codec, ordered, converted=converted) or str(error)
        raise _unfit(shown, convert_error(text, codec.schema) if converted else text) from None
    if directive != "Ignore":
        # a map in Go is written by its sorted keys
        unknown = decoded.unknown if scope.is_custom else sorted(decoded.unknown, key=None if converted else _members)
        found = found + [f"unknown field {go_quote(path)}" for path in unknown]
        if found and directive == "Strict":
            raise _unfit(show(), f"strict decoding error: {', '.join(found)}")
        context.warnings.extend(found)
    if forget:
        decoded.tree["metadata"]["managedFields"] = []
    context.emptied = decoded.emptied
    return decoded.tree


def _first_mistake(codec: BodyReader, tree: Tree, *, converted: bool) -> str:
    """What is said first of a tree that cannot be decoded, whose keys are in upstream's order;
    empty when nothing is said of it.
    """
    try:
        codec.decode(tree, converter=converted)
    except DecodeError as error:
        return str(error)
    return ""


def _interpreted(
    scope: Scope, tree: Tree, name: str, show: Callable[[], str], directive: str, context: WriteContext,
) -> None:
    """Take a patched object that is not plainly of the endpoint's kind for one, or say why that
    cannot be.
    """
    expected = scope.gvk
    try:
        _, gvk = (bodies.interpret_custom if scope.is_custom else bodies.interpret)(tree, expected)
    except ValueError as error:
        raise _unfit(show(), bodies.explain(error)) from None
    if scope.is_custom:  # whose kind and version are looked at with all the rest
        return
    # taken for upstream's own form, whose fields have other names: nothing is left
    if not tree.get("apiVersion"):
        unknown = [f"unknown field {go_quote(field)}" for field in sorted(tree) if field not in ("apiVersion", "kind")]
        if unknown and directive == "Strict":
            raise _unfit(show(), f"strict decoding error: {', '.join(unknown)}")
        context.warnings.extend(unknown if directive != "Ignore" else ())
        check_name("", name)
    if gvk != expected:
        codec = scope.reader(gvk)
        if codec is None:
            raise _unfit(show(), bodies.not_registered(gvk))
        try:
            decoded = codec.decode(orjson.loads(orjson.dumps(tree)))
        except DecodeError as error:
            raise _unfit(show(), str(error)) from None
        converted = _of_this_version(scope, gvk, decoded.tree)
        if converted is None:
            raise _unfit(show(), bodies.no_conversion(gvk, expected))
        tree.clear()
        tree.update(converted)
    tree["kind"], tree["apiVersion"] = expected.kind, expected.api_version


def _of_this_version(scope: Scope, gvk: GroupVersionKind, tree: Tree) -> Tree | None:
    """What another version of the same resource is in that of the endpoint; None when it is another
    resource.
    """
    kind, other = scope.kind, scope.services.resources.kind(gvk.group, gvk.version, scope.kind.plural)
    if other is None or other.gvk != gvk or other.storage_resource != kind.storage_resource:
        return None
    stored = other.conversion.to_stored(tree) if other.conversion else tree
    return kind.conversion.from_stored(stored) if kind.conversion else stored


def _unfit(shown: str, why: str) -> APIError:
    return errors.invalid(GroupKind("", ""), "", [field_errors.invalid("patch", shown, why)])
