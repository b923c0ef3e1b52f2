"""Which version of an object a write names: only a write that names one can be refused with a
Conflict since somebody else was faster.

A server tries again by itself what names none: a patch without a version, a deletion without
preconditions, a PUT of a kind that needs none. Upstream: generic/registry/store.go (Update),
endpoints/handlers/patch.go. Left out: the conflicts of server-side apply about owners of fields,
which another manager brings about, and preconditions that are uids.
"""

from typing import Any

import orjson

from fakekube.apimachinery import yaml
from fakekube.apimachinery.http import MAX_BODY_BYTES, Request
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.schema.protobuf import wire

FIELD = "resourceVersion"
POINTER = f"/metadata/{FIELD}"
RAW = 2  # of runtime.Unknown, which every body in protobuf is
OBJECT_PATH, OPTIONS_PATH = (1, 6), (2, 2)
"""Numbers of fields: metadata and its resourceVersion; preconditions and theirs."""
UNNAMED = ("", "0")


def version_named(info: RequestInfo, request: Request) -> str:
    """The version that an update, a patch or a deletion names; empty where it names none."""
    body = request.body
    if len(body) > MAX_BODY_BYTES:
        return ""
    if body.startswith(wire.MAGIC):
        found: Any = _of_protobuf(body[len(wire.MAGIC):], OPTIONS_PATH if info.verb == "delete" else OBJECT_PATH)
    elif FIELD.encode() in body:
        found = _of_tree(info, _tree(request))
    else:
        return ""
    return found if isinstance(found, str) and found not in UNNAMED else ""


def _tree(request: Request) -> Any:
    try:
        if "yaml" in request.headers.get("content-type", ""):
            return yaml.load(request.body, canonical=request.canonical)[0]
        return orjson.loads(request.body)
    except (orjson.JSONDecodeError, yaml.YAMLError):
        return None


def _of_tree(info: RequestInfo, tree: Any) -> Any:
    if isinstance(tree, list):  # a JSON patch
        values = [step.get("value") for step in tree
                  if isinstance(step, dict) and step.get("path") == POINTER and step.get("op") in ("add", "replace")]
        return values[-1] if values else ""
    part = tree.get("preconditions" if info.verb == "delete" else "metadata") if isinstance(tree, dict) else None
    return part.get(FIELD) if isinstance(part, dict) else ""


def _of_protobuf(data: bytes, path: tuple[int, ...]) -> str:
    try:
        for wanted in (RAW, *path):
            value = next((value for number, value in wire.fields(data) if number == wanted), b"")
            data = value if isinstance(value, bytes) else b""
        return data.decode()
    except (wire.WireError, UnicodeDecodeError):
        return ""
