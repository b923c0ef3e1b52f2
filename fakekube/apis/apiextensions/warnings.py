"""What is said of a CustomResourceDefinition that is taken: formats that nobody checks, and sets
whose items cannot be told apart by their values.

What an update leaves as it was is not told again. Upstream:
apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go.
"""

from collections.abc import Iterator

from fakekube.apiextensions.objects.formats import format_named
from fakekube.apiextensions.validation.structural import every_schema
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

# the minor number of the release that tells of sets of objects and lists
SETS_SINCE = 37
NUMBER_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}
NO_SCALARS = (
    'x-kubernetes-list-type: set for items of type "{}" is not supported by server-side apply or CEL validation rules')


def definition_warnings(obj: Tree, old: Tree | None, minor: int) -> list[str]:
    """The warnings of a new definition, or of a changed one that was ``old``.

    ``minor`` is that of the release. Formats come in the order of the schema, sets after them.
    """
    schemas = _schemas_of(obj)
    before = [] if old is None else _schemas_of(old)
    if schemas == before:
        return []
    told = _warnings(before, minor)
    return [text for text in _warnings(schemas, minor) if text not in told]


def _schemas_of(definition: Tree) -> list[Tree]:
    """The schemas of all versions that have one."""
    found = ((entry.get("schema") or {}).get("openAPIV3Schema") for entry in definition["spec"].get("versions") or ())
    return [schema for schema in found if schema is not None]


def _warnings(schemas: list[Tree], minor: int) -> list[str]:
    nodes = [node for schema in schemas for node in every_schema(schema)]
    formats = dict.fromkeys(f"unrecognized format {go_quote(name)}" for name in _unrecognized(nodes, minor))
    sets = sorted(set(_sets(nodes))) if minor >= SETS_SINCE else []
    return [*formats, *sets]


def _unrecognized(nodes: list[Tree], minor: int) -> Iterator[str]:
    """The formats that say nothing of values of their type, or did not in the release before."""
    for node in nodes:
        name, type_ = node.get("format"), node.get("type", "")
        if not name:
            continue
        is_known = name in NUMBER_FORMATS.get(type_, ())
        if type_ in ("", "string"):
            is_known = format_named(name, minor - 1) is not None
        if not is_known:
            yield name


def _sets(nodes: list[Tree]) -> Iterator[str]:
    for node in nodes:
        items = node.get("items")
        if node.get("x-kubernetes-list-type") == "set" and isinstance(items, dict) and items.get("type") in ("object", "array"):
            yield NO_SCALARS.format(items["type"])
