"""Takes out of requests and answers what is nobody else's business: values of Secrets, tokens,
credentials.

Upstream: kube-apiserver's default policies log no bodies of secrets and token requests.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery.types import Json, Tree

MASK = "masked"
ENCODED_MASK = "bWFza2Vk"  # MASK in base64, which the data of a Secret has to be
EMPTY_CONFIG = "e30="  # {} in base64: what must be JSON
JSON_KEYS = (".dockerconfigjson", ".dockercfg")
CREDENTIALS = ("authorization", "cookie", "proxy-authorization", "sec-websocket-protocol")
"""Headers, in lower case, that say who somebody is."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
WORDS = ("secrets", "token")
"""One of them is in every path about what is hidden."""
REVIEWS = ("tokenreviews", "tokenrequests")


def hides(resource: str, subresource: str) -> bool:
    """Whether the bodies about a resource hold what is to be masked."""
    return resource in ("secrets", *REVIEWS) or subresource == "token"


def masked(value: Json) -> Json:
    """A copy of an object, a list, a Table, a patch or an event without secret values."""
    if isinstance(value, list):
        return [_operation(item) if isinstance(item, dict) and "op" in item else masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _field(key, item) for key, item in value.items()}


def _field(key: str, value: Any) -> Any:
    if key == "data" and isinstance(value, dict):
        return {name: _encoded(name, item) for name, item in value.items()}
    if key == "stringData" and isinstance(value, dict):
        return {name: item if item is None else "{}" if name in JSON_KEYS else MASK for name, item in value.items()}
    if key in ("token", LAST_APPLIED) and isinstance(value, str):
        return MASK
    return masked(value)


def _encoded(name: str, value: Any) -> Any:
    if value is None:  # a merge patch removes what is null
        return None
    return EMPTY_CONFIG if name in JSON_KEYS else ENCODED_MASK


def _operation(operation: Tree) -> Tree:
    """One operation of a JSON patch."""
    first, _, name = str(operation.get("path", "")).removeprefix("/").partition("/")
    if first not in ("data", "stringData") or "value" not in operation:
        return {key: masked(value) for key, value in operation.items()}
    value = operation["value"]
    return {**operation, "value": _field(first, value) if isinstance(value, dict) else _field(first, {name: value})[name]}


def headers(given: Mapping[str, str]) -> Mapping[str, str]:
    """Headers of a request without credentials."""
    if not any(name in given for name in CREDENTIALS):
        return given
    return {name: MASK if name.lower() in CREDENTIALS else value for name, value in given.items()}
