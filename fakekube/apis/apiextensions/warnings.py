"""What is odd about the schemas of a CustomResourceDefinition, and yet accepted.

Upstream: WarningsOnCreate and WarningsOnUpdate in
apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fakekube.apiextensions.objects.constraints import is_checked_format
from fakekube.apiextensions.validation import schemas, structural
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.util.memory import Memo

FORMATS_SINCE, SETS_SINCE = 34, 37
"""The minor numbers of the releases that began to warn."""
REMEMBERED_BYTES = 1 << 20


class _Odd(NamedTuple):
    """What is odd in one schema, in its order."""

    formats: tuple[str, ...]
    sets: tuple[str, ...]


_KNOWN: Memo[tuple[bytes, int], _Odd] = Memo(schemas.REMEMBERED_SCHEMAS, REMEMBERED_BYTES)
"""The same bundle is loaded in test after test."""


def definition_warnings(obj: Tree, old: Tree | None, minor: int) -> list[str]:
    """Formats that nothing checks, in the order of the schemas, then sets whose items are no
    scalars, sorted; without what the stored definition has, too.

    ``minor`` is the minor number of the release: 37 of ``1.37``.
    """
    known = [] if old is None else _all(old, minor)
    return [text for text in _all(obj, minor) if text not in known]


def _all(definition: Tree, minor: int) -> list[str]:
    found = [_of_schema(schema, minor) for schema in _schemas_of(definition)]
    formats = dict.fromkeys(text for each in found for text in each.formats)
    return [*formats, *sorted({text for each in found for text in each.sets})]


def _schemas_of(definition: Tree) -> Iterator[Tree]:
    for version in definition["spec"].get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            yield schema


def _of_schema(schema: Tree, minor: int) -> _Odd:
    asked = schemas.fingerprint(schema), minor
    known = _KNOWN.get(asked)
    if known is None:
        nodes = list(structural.every_schema(schema))
        known = _Odd(
            tuple(dict.fromkeys(_of_formats(nodes, minor))) if minor >= FORMATS_SINCE else (),
            tuple(dict.fromkeys(_of_sets(nodes))) if minor >= SETS_SINCE else ())
        _KNOWN.put(asked, known, sum(map(len, (*known.formats, *known.sets))))
    return known


def _of_formats(nodes: list[Tree], minor: int) -> Iterator[str]:
    for node in nodes:
        name = node.get("format", "")
        if name and not is_checked_format(name, node.get("type", ""), minor):
            yield f"unrecognized format {go_quote(name)}"


def _of_sets(nodes: list[Tree]) -> Iterator[str]:
    for node in nodes:
        items = node.get("items")
        if node.get(schemas.LIST_TYPE) == "set" and isinstance(items, dict) and items.get("type") in ("object", "array"):
            yield (f"x-kubernetes-list-type: set for items of type {go_quote(items['type'])} is not supported by server-side "
                   "apply or CEL validation rules")
