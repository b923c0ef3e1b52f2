"""From a tree, or stored bytes, to the bytes of an answer in the form that was negotiated.

Upstream: apiserver/pkg/endpoints/handlers/responsewriters and handlers/response.go. What is left
out: escaping ``<``, ``>`` and ``&`` as Go's encoder does, which no decoder can tell apart.
"""

import re
from functools import cache
from typing import Any

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import negotiation, table
from fakekube.endpoints.negotiation import PROTOBUF, YAML, Form
from fakekube.endpoints.scope import Scope, Services

FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?")
OLD_BOOLEANS = ("y", "Y", "n", "N")
PLAIN_TEXT = "text/plain; charset=utf-8"
NOSNIFF = ("X-Content-Type-Options", "nosniff")


def encode(value: Any, form: Form, services: Services | None = None) -> bytes:
    """A tree as JSON (compact and ended by a newline, or indented and not), as YAML, or, with
    ``services``, as protobuf.
    """
    if form.media == PROTOBUF:
        data = services.protobuf.encode(value) if services is not None else None
        if data is None:
            raise negotiation.not_acceptable()
        return data
    if form.media == YAML:
        return encode_yaml(value)
    if form.pretty:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def encode_yaml(value: Any) -> bytes:
    """A tree as YAML, its keys sorted, its texts quoted as Go's encoder does."""
    import yaml

    plain = orjson.loads(orjson.dumps(value))  # the dumper knows no dict but dict itself
    text: bytes = yaml.dump(
        plain, Dumper=_dumper(), default_flow_style=False, allow_unicode=True, encoding="utf-8"
    )
    return text


@cache
def _dumper() -> Any:
    """A dumper with Go's styles: lines as a block, in double quotes what would be read as something
    else than a text.
    """
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    def text(dumper: Any, value: str) -> Any:
        tag = "tag:yaml.org,2002:str"
        misread = value in OLD_BOOLEANS or FLOAT.fullmatch(value) or dumper.resolve(yaml.ScalarNode, value, (True, False)) != tag
        return dumper.represent_scalar(tag, value, style="|" if "\n" in value else '"' if misread else None)

    made: Any = type("Dumper", (base,), {})
    made.add_representer(str, text)
    return made


def tree_answer(value: Any, form: Form, status: int = 200, services: Services | None = None) -> Response:
    """Any tree, untransformed."""
    return Response(status, encode(value, form, services), form.media)


def object_answer(
    scope: Scope, request: Request, form: Form, tree: Tree, *, status: int = 200, data: bytes | None = None,
) -> Response:
    """One object, transformed as asked. ``data`` are its encoded bytes, where they are at hand.

    Raises 406 when a list's form was asked for.
    """
    if data is not None and form.plain:
        return Response(status, data + b"\n")
    if form.transform and tree.get("kind") != "Status":
        tree = transformed(scope, request, form, tree)
    return Response(status, encode(tree, form, scope.services), form.media)


def transformed(scope: Scope, request: Request, form: Form, tree: Tree) -> Tree:
    """One object as a Table of one row or as its metadata. Raises 400 and 406."""
    if form.transform == "Table":
        include = table.include_object(request)
        return table.table_of(
            scope.kind, [tree], tree["metadata"], form.transform_version, include, scope.services.clock.time(),
            printer=scope.subresource.printer if scope.subresource else None)
    if form.transform == "PartialObjectMetadataList":
        package = table.internal_type(scope.gvk)
        raise errors.not_acceptable(
            f"you requested PartialObjectMetadataList, but the requested object is not a list (*{package})")
    return table.partial_of(scope.kind, tree, form.transform_version)


def error_answer(request: Request, error: APIError, services: Services) -> Response:
    """A failure as a Status, in a form that the client reads if there is one."""
    form = negotiation.form_of_error(request)
    response = Response(error.code, encode(error.status(), form, services), form.media)
    if seconds := (error.details or {}).get("retryAfterSeconds"):
        response.headers.append(("Retry-After", str(seconds)))
    return response


def text_answer(text: str, status: int = 200) -> Response:
    """Plain text that no browser may guess about."""
    return Response(status, text.encode(), PLAIN_TEXT, [NOSNIFF])


def page_not_found() -> Response:
    """404 of a path that nothing claims."""
    return text_answer("404 page not found\n", 404)

