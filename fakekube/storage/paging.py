"""Continue tokens: where a list goes on, and at which revision.

A token is not bound to the path, selector or limit that it was made for: its start is relative to
whatever is listed. Upstream: apiserver/pkg/storage/continue.go, whose encoding and texts these are.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery import gojson

VERSION = "meta.k8s.io/v1"
INCONSISTENT = -1
"""The revision of a token that goes on with whatever is current."""

_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_GO_TYPES = {"v": "string", "rv": "int64", "start": "string"}
_INT64 = 1 << 63


class BadToken(ValueError):
    """A token that no server can have made; the text is upstream's."""

    def __init__(self, why: str) -> None:
        super().__init__(f"continue key is not valid: {why}")


class Continue(NamedTuple):
    """A decoded token: a revision (below 0: the current one) and the first key, relative to the
    list.
    """

    revision: int
    start: str


def encode(revision: int, start: str) -> str:
    """The token that goes on at the key ``start``."""
    data = orjson.dumps({"v": VERSION, "rv": revision, "start": start})
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(token: str, loads: Callable[[bytes], Any] = orjson.loads) -> Continue:
    """What a token says.

    ``loads`` decodes JSON and words what is wrong with it in a ValueError. Raises BadToken.
    """
    try:
        tree = loads(_decode_base64(token))
    except ValueError as error:
        raise error if isinstance(error, BadToken) else BadToken(str(error)) from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise BadToken(f"json: cannot unmarshal {gojson.type_name(tree)} into Go value of type storage.continueToken")
    _check_types(tree)
    version, revision, start = tree.get("v") or "", tree.get("rv") or 0, tree.get("start") or ""
    if version != VERSION:
        raise BadToken(f"server does not recognize this encoded version {version}")
    if revision == 0:
        raise BadToken(f"incorrect encoded start resourceVersion (version {VERSION})")
    if not start:
        raise BadToken(f"encoded start key empty (version {VERSION})")
    key = start.removeprefix("/")
    # a key that climbs out of the list's own part of the store
    if key and any(part in ("", ".", "..") for part in key.split("/")):
        raise BadToken(start)
    return Continue(revision, key)


def _decode_base64(token: str) -> bytes:
    text = token.replace("\r", "").replace("\n", "")
    for at, char in enumerate(text):
        if char not in _ALPHABET:
            raise BadToken(f"illegal base64 data at input byte {at}")
    if len(text) % 4 == 1:
        raise BadToken(f"illegal base64 data at input byte {len(text) - 1}")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _check_types(tree: dict[str, Any]) -> None:
    for name, wanted in _GO_TYPES.items():
        value, got = tree.get(name), gojson.type_name(tree.get(name))
        fits = isinstance(value, str) if wanted == "string" else isinstance(value, int) and -_INT64 <= value < _INT64
        if value is None or (fits and got != "bool"):
            continue
        shown = f"number {orjson.dumps(value).decode()}" if got == "number" and wanted == "int64" else got
        raise BadToken(f"json: cannot unmarshal {shown} into Go struct field continueToken.{name} of type {wanted}")
