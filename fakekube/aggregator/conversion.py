"""OpenAPI v3 made of the v2 document of a server that has no other.

Upstream: kube-openapi/pkg/openapiconv. Left out: flows of OAuth, shared responses and parameters.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from fakekube.aggregator.swagger import REFERENCE
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.negotiation import JSON
from fakekube.endpoints.openapi import protobuf_v3
from fakekube.endpoints.openapi.documents import V3_PROTOBUF, V3_PROTOBUF_ANSWER, check_accept, wants_protobuf

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
KEPT_OF_OPERATION = ("description", "externalDocs", "tags", "summary", "deprecated", "operationId")
KEPT_OF_PARAMETER = ("name", "description", "in", "required", "allowEmptyValue")


class Converted(NamedTuple):
    """A document in both forms, and the hash by which clients keep it."""

    data: bytes
    encoded: bytes
    digest: str

    def answer(self, request: Request) -> Response:
        """The document, in the form that a client wants. Raises 406."""
        headers = [("ETag", f'"{self.digest}"'), ("Vary", "Accept")]
        if request.headers.get("if-none-match") == f'"{self.digest}"':
            return Response(304, content_type="", headers=headers)
        if wants_protobuf(request, V3_PROTOBUF):
            return Response(200, self.encoded, V3_PROTOBUF_ANSWER, headers)
        check_accept(request)
        return Response(200, self.data, JSON, headers)


def converted(document: Any) -> Converted:
    """Both forms of a v2 document as v3.

    Raises ValueError, TypeError, KeyError or AttributeError for what is no such document.
    """
    tree = to_v3(document)
    data = orjson.dumps(tree)
    return Converted(data, protobuf_v3.encode(tree), hashlib.sha512(data).hexdigest().upper())


def to_v3(document: Any) -> Tree:
    """The document, which is left as it is."""
    components: Tree = {"schemas": {name: _schema(each) for name, each in (document.get("definitions") or {}).items()}}
    if document.get("securityDefinitions"):
        components["securitySchemes"] = {
            name: {key: each[key] for key in ("description", "type", "name", "in") if key in each}
            for name, each in document["securityDefinitions"].items()}
    paths = {path: _path(item) for path, item in document["paths"].items()}
    return {"openapi": "3.0.0", "info": document.get("info") or {}, "paths": paths, "components": components}


def _path(item: Any) -> Tree:
    made: Tree = {name: value for name, value in item.items() if name.startswith("x-")}
    made |= {method: _operation(item[method]) for method in METHODS if method in item}
    if item.get("parameters"):
        made["parameters"] = [_parameter(each) for each in item["parameters"]]
    return made


def _operation(operation: Any) -> Tree:
    made: Tree = {
        name: value for name, value in operation.items() if name in KEPT_OF_OPERATION or name.startswith("x-")}
    parameters = []
    for each in operation.get("parameters") or ():
        if each.get("name") == "body" and "schema" in each:
            made["requestBody"] = {"content": _content(operation.get("consumes") or (), each["schema"])}
        else:
            parameters.append(_parameter(each))
    if parameters:
        made["parameters"] = parameters
    produces = operation.get("produces") or ()
    made["responses"] = {code: _response(each, produces) for code, each in operation["responses"].items()}
    return made


def _response(response: Any, produces: Sequence[str]) -> Tree:
    made: Tree = {"description": response.get("description", "")}
    if "schema" in response and produces:
        made["content"] = _content(produces, response["schema"])
    return made


def _content(media: Sequence[str], schema: Any) -> Tree:
    return {each: {"schema": _schema(schema)} for each in media}


def _parameter(parameter: Any) -> Tree:
    made: Tree = {
        name: value for name, value in parameter.items() if name in KEPT_OF_PARAMETER or name.startswith("x-")}
    simple = {name: parameter[name] for name in ("type", "format", "uniqueItems") if name in parameter}
    return made | {"schema": _schema(parameter["schema"]) if "schema" in parameter else simple}


def _schema(schema: Any) -> Any:
    made: Tree = dict(schema)
    for name in ("items", "additionalProperties", "additionalItems"):
        value = made.get(name)
        if isinstance(value, Mapping):
            made[name] = _schema(value)
        elif isinstance(value, list):
            made[name] = [_schema(each) for each in value]
    if "properties" in made:
        made["properties"] = {name: _schema(each) for name, each in made["properties"].items()}
    reference = made.get("$ref")
    if reference is None:
        return made
    del made["$ref"]
    moved = {"$ref": f"#/components/schemas/{reference.removeprefix(REFERENCE)}"}
    return {**made, "allOf": [moved]} if made else moved  # nothing may stand beside a reference
