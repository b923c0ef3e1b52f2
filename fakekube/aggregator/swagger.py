"""OpenAPI v2 of another server, merged into our own.

Upstream: kube-openapi/pkg/aggregator. Left out: shared parameters.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.endpoints.openapi import protobuf

REFERENCE = "#/definitions/"
KINDS = "x-kubernetes-group-version-kind"


def about(document: Any, prefix: str) -> Tree:
    """What of a document is about the paths that begin so, and the definitions that they need.

    Definitions that no path needs stay, as upstream leaves them. Raises ValueError, TypeError,
    KeyError or AttributeError for what is no such document.
    """
    paths = {path: item for path, item in document["paths"].items() if path.startswith(prefix)}
    definitions = dict(document.get("definitions") or {})
    if any(path not in paths for path in document["paths"]):
        needed = _needed(document["paths"], definitions)
        kept = _needed(paths, definitions)
        definitions = {name: each for name, each in definitions.items() if name not in needed or name in kept}
    made: Tree = {"paths": paths, "definitions": definitions}
    orjson.dumps(made)  # both may raise, and not when a client asks
    protobuf.encode({"swagger": "2.0", **made})
    return made


def merged(own: Tree, others: Iterable[Tree]) -> Tree:
    """Our document with what others say; our own paths stay.

    A definition whose name is taken by another one gets a new name.
    """
    paths, definitions = dict(own["paths"]), dict(own["definitions"])
    for other in others:
        names: dict[str, str] = {}
        for name, definition in other["definitions"].items():
            if name in definitions and not _same(definitions[name], definition):
                number = 2
                while f"{name}_v{number}" in definitions:
                    number += 1
                names[name] = f"{name}_v{number}"
        for name, definition in other["definitions"].items():
            if name in names or name not in definitions:
                definitions[names.get(name, name)] = _renamed(definition, names)
        for path, item in other["paths"].items():
            paths.setdefault(path, _renamed(item, names))
    return {**own, "paths": dict(sorted(paths.items())), "definitions": dict(sorted(definitions.items()))}


def _same(ours: Any, theirs: Any) -> bool:
    def plain(definition: Any) -> Any:
        return {name: value for name, value in definition.items() if name != KINDS}

    return bool(plain(ours) == plain(theirs))


def _references(value: Any) -> Iterator[str]:
    """The definitions that a part of a document names."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            reference = each.get("$ref")
            if isinstance(reference, str) and reference.startswith(REFERENCE):
                yield reference.removeprefix(REFERENCE)
            left += each.values()
        elif isinstance(each, list):
            left += each


def _needed(paths: Tree, definitions: Tree) -> dict[str, None]:
    """The definitions that paths name, and those that these name."""
    found: dict[str, None] = {}
    left = list(_references(paths))
    while left:
        name = left.pop()
        if name not in found and name in definitions:
            found[name] = None
            left += _references(definitions[name])
    return found


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return value
    if isinstance(value, dict):
        made = {key: _renamed(each, names) for key, each in value.items()}
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.removeprefix(REFERENCE) in names:
            made["$ref"] = REFERENCE + names[reference.removeprefix(REFERENCE)]
        return made
    return [_renamed(each, names) for each in value] if isinstance(value, list) else value
