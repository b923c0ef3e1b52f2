"""What a server says of what it serves: discovery and OpenAPI, asked for now and then and kept.

What a server sends is somebody else's: all of it is looked at before it is merged into documents
that clients rely on, and what has not the right form counts as no answer.
Upstream: kube-aggregator/pkg/apiserver/handler_discovery.go,
pkg/controllers/{openapi,openapiv3}/aggregator.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson

from fakekube.aggregator import swagger
from fakekube.aggregator.conversion import converted
from fakekube.aggregator.remote import NOTHING, Documents, Remote, stop
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.discovery import AGGREGATED
from fakekube.endpoints.negotiation import JSON
from fakekube.webhooks.transport import NoAnswer

Made = TypeVar("Made")
AGGREGATOR = UserInfo("system:kube-aggregator", ("system:masters",))
OF_DISCOVERY, OF_OPENAPI = UserInfo("system:kube-aggregator"), UserInfo("system:aggregator")
SECONDS = 5.0
"""A server has so long for each document, by the wall's clock; upstream waits a minute for OpenAPI.
"""
LARGE_BYTES = 1 << 18
"""A longer document is read in a thread, so that nobody has to wait."""


async def documents_of(remote: Remote) -> Documents:
    """What a server says now; of OpenAPI what it said last where that did not change."""
    resources, before = await _resources(remote), remote.documents or NOTHING
    index = await _asked(remote, "/openapi/v3", JSON, OF_OPENAPI)
    v3 = await _parsed(index, _v3_entries) if index is not None and index.status == 200 else None
    made = Documents(resources, v3 or {})
    answer = await _asked(remote, "/openapi/v2", JSON, OF_OPENAPI)
    if answer is None or answer.status != 200:
        return made
    is_old = index is not None and index.status == 404
    if answer.body == before.v2_body and is_old == (before.converted is not None):
        return made._replace(v2=before.v2, v2_body=before.v2_body, converted=before.converted)
    prefix = f"{remote.path}/"
    read = await _parsed(answer, lambda tree: (swagger.about(tree, prefix), converted(tree) if is_old else None))
    if read is None:
        return made._replace(v2_body=answer.body)
    return made._replace(v2=read[0], v2_body=answer.body, converted=read[1])


async def _resources(remote: Remote) -> tuple[Tree, ...] | None:
    """By the aggregated document where there is one, else by that of the version alone."""
    answer = await _asked(remote, "/apis", f"{JSON}{AGGREGATED}", AGGREGATOR)
    if answer is None or answer.status == 503:
        return None
    if answer.status == 200 and _is_aggregated(answer.content_type):
        return await _parsed(answer, lambda tree: _of_groups(tree, remote.group, remote.version))
    return await _read(remote, remote.path, JSON, OF_DISCOVERY, of_list)


async def _read(
    remote: Remote, path: str, accept: str, user: UserInfo, make: Callable[[Any], Made],
) -> Made | None:
    answer = await _asked(remote, path, accept, user)
    return None if answer is None or answer.status != 200 else await _parsed(answer, make)


async def _asked(remote: Remote, path: str, accept: str, user: UserInfo) -> Response | None:
    """The answer to a GET; None when there is none."""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await remote.ask(Request("GET", path, headers={"accept": accept}, user=user))
    except (NoAnswer, TimeoutError):
        return None
    stop(answer)
    return answer


async def _parsed(answer: Response, make: Callable[[Any], Made]) -> Made | None:
    """What is made of the body; None for one that has not the right form."""
    def read() -> Made | None:
        try:
            return make(orjson.loads(answer.body))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    return await asyncio.to_thread(read) if len(answer.body) > LARGE_BYTES else read()


def _is_aggregated(content_type: str) -> bool:
    params = [each.strip() for each in content_type.split(";")]
    return params[0] == JSON and all(each in params for each in AGGREGATED.strip(";").split(";"))


# discovery


def _of_groups(document: Any, group: str, version: str) -> tuple[Tree, ...]:
    """The rows of one version; none where the document does not name it."""
    found: list[Tree] = []
    for each in document["items"]:
        if (each.get("metadata") or {}).get("name", "") == group:
            for served in each["versions"]:
                if served["version"] == version:
                    found += [_row(row) for row in served.get("resources") or ()]
    return tuple(found)


def _row(row: Any) -> Tree:
    tree: Tree = {
        "resource": _text(row["resource"]), "responseKind": _kind(row.get("responseKind")), "scope": _text(row["scope"]),
        "singularResource": _text(row.get("singularResource", "")), "verbs": _texts(row.get("verbs"))}
    _names(row, tree)
    if row.get("subresources"):
        tree["subresources"] = [{
            "subresource": _text(each["subresource"]), "responseKind": _kind(each.get("responseKind")),
            "verbs": _texts(each.get("verbs"))} for each in row["subresources"]]
    return tree


def _names(row: Any, tree: Tree) -> None:
    for name in ("shortNames", "categories"):
        if row.get(name):
            tree[name] = _texts(row[name])


def _kind(kind: Any) -> Tree:
    kind = kind or {}
    return {name: _text(kind.get(name, "")) for name in ("group", "version", "kind")}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _texts(values: Any) -> list[str]:
    if not isinstance(values or [], list):
        raise TypeError("no list")
    return [_text(value) for value in values or ()]


def of_list(document: Any) -> tuple[Tree, ...]:
    """The same made of an APIResourceList. Raises ValueError where a resource and what is below it
    differ in scope.
    """
    rows: dict[str, Tree] = {}
    below: list[tuple[str, str, Any]] = []
    for each in document.get("resources") or ():
        name, slash, sub = _text(each["name"]).partition("/")
        if slash:
            below.append((name, sub, each))
            continue
        rows[name] = {
            "resource": name, "responseKind": _kind(each), "scope": _scope(each),
            "singularResource": _text(each.get("singularName", "")), "verbs": _texts(each.get("verbs"))}
        _names(each, rows[name])
    for name, sub, each in below:
        parent = rows.setdefault(name, {
            "resource": name, "responseKind": _kind(None), "scope": _scope(each), "singularResource": "", "verbs": []})
        if parent["scope"] != _scope(each):
            raise ValueError(f"scopes of {name} and {name}/{sub} do not match")
        parent.setdefault("subresources", []).append(
            {"subresource": sub, "responseKind": _kind(each), "verbs": _texts(each.get("verbs"))})
    return tuple(rows.values())


def _scope(row: Any) -> str:
    return "Namespaced" if row.get("namespaced") else "Cluster"


# OpenAPI


def _v3_entries(document: Any) -> Mapping[str, str]:
    return {_text(name): _text(entry["serverRelativeURL"]) for name, entry in document["paths"].items()}
