"""Secret: stringData becomes data, and some types want certain keys.

Upstream: pkg/registry/core/secret, the conversion of stringData in pkg/apis/core/v1,
ValidateSecret.
"""

import base64
import json

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, invalid, key, required, too_long, typed
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.checks import ruled
from fakekube.apis.core.configmap import MAX_BYTES, data_size, frozen, no_nulls
from fakekube.registry.strategy import Strategy, WriteContext

ACCOUNT_NAME = "kubernetes.io/service-account.name"
DOCKER_KEYS = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
REDACTED = "<secret contents redacted>"


class SecretStrategy(Strategy):
    """What is particular to Secrets."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """The type, and stringData over data."""
        if not obj.get("type"):
            obj["type"] = "Opaque"
        no_nulls(obj, "data")
        plain = obj.pop("stringData", None)
        if plain:
            encoded = {name: base64.b64encode(value.encode()).decode() for name, value in plain.items()}
            obj["data"] = dict(sorted({**(obj.get("data") or {}), **encoded}.items()))

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Keys, size, and what the type wants."""
        data = obj.get("data") or {}
        found: list[FieldError] = []
        for name in sorted(data):
            found += ruled(key("data", name), name, names.config_key)
        if data_size(list(data.values()), base64=True) > MAX_BYTES:
            found.append(too_long("data", MAX_BYTES))
        return found + _by_type(obj, data)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the type stays, and the data of an immutable one."""
        types = [typed(tree.get("type", "")) for tree in (obj, old)]
        return immutable("type", *types) + frozen(obj, old, "data") + self.validate(obj, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """A pair for TLS should hold certificates; whether they fit is not looked at."""
        return _pair_warning(obj.get("data") or {}) if obj.get("type") == "kubernetes.io/tls" else []


def _pair_warning(data: Tree) -> list[str]:
    """What Go's TLS says of a certificate and key that are none at all."""
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if "-----BEGIN" not in base64.b64decode(data.get(name, "")).decode(errors="replace"):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []


def _by_type(obj: Tree, data: Tree) -> list[FieldError]:
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        annotations = obj["metadata"].get("annotations") or {}
        return [] if annotations.get(ACCOUNT_NAME) else [required(key("metadata.annotations", ACCOUNT_NAME))]
    if kind in DOCKER_KEYS:
        return _docker(data, DOCKER_KEYS[kind])
    if kind == "kubernetes.io/basic-auth" and "username" not in data and "password" not in data:
        return [required(key("data", "username")), required(key("data", "password"))]
    if kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        return [required(key("data", "ssh-privatekey"))]
    if kind == "kubernetes.io/tls":
        return [required(key("data", name)) for name in ("tls.crt", "tls.key") if name not in data]
    return []


def _docker(data: Tree, name: str) -> list[FieldError]:
    if name not in data:
        return [required(key("data", name))]
    text = base64.b64decode(data[name]).decode(errors="replace")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return [invalid(key("data", name), REDACTED, _go_text(text, error.pos, after=error.msg == "Extra data"))]
    if value is None or isinstance(value, dict):
        return []
    word = {list: "array", str: "string", bool: "bool"}.get(type(value), "number")
    text = f"json: cannot unmarshal {word} into Go value of type map[string]interface {{}}"
    return [invalid(key("data", name), REDACTED, text)]


def _go_text(text: str, position: int, *, after: bool) -> str:
    """What Go's JSON scanner says of the place at which Python's gave up."""
    rest = text[position:]
    if after:
        return f"invalid character '{rest[0]}' after top-level value"
    for word in ("null", "true", "false"):
        if word.startswith(rest):
            return "unexpected end of JSON input"
        matched = next((n for n, (a, b) in enumerate(zip(word, rest, strict=False)) if a != b), None)
        if rest[0] == word[0] and matched is not None:
            return f"invalid character '{rest[matched]}' in literal {word} (expecting '{word[matched]}')"
    if not rest.strip():
        return "unexpected end of JSON input"
    return f"invalid character '{rest.strip()[0]}' looking for beginning of value"


STRATEGY = SecretStrategy()
