"""What is odd about the schemas of a CustomResourceDefinition, and yet accepted.

Upstream: WarningsOnCreate and WarningsOnUpdate in
apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go.
"""

from collections.abc import Iterator

from fakekube.apiextensions.objects.constraints import is_checked_format
from fakekube.apiextensions.validation import schemas, structural
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

FORMATS_SINCE, SETS_SINCE = 34, 37
"""The minor numbers of the releases that began to warn."""


def definition_warnings(obj: Tree, old: Tree | None, minor: int) -> list[str]:
    """Formats that nothing checks, in the order of the schemas, then sets whose items are no
    scalars, sorted; without what the stored definition has, too.

    ``minor`` is the minor number of the release: 37 of ``1.37``.
    """
    known = [] if old is None else _all(old, minor)
    return [text for text in _all(obj, minor) if text not in known]


def _all(definition: Tree, minor: int) -> list[str]:
    nodes = list(_schemas_in(definition))
    found = dict.fromkeys(_of_formats(nodes, minor)) if minor >= FORMATS_SINCE else {}
    return [*found, *sorted(set(_of_sets(nodes)))] if minor >= SETS_SINCE else list(found)


def _schemas_in(definition: Tree) -> Iterator[Tree]:
    for version in definition["spec"].get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            yield from structural.every_schema(schema)


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
