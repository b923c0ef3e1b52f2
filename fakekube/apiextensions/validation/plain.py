"""The parts of a schema in which nothing can be wrong, found by one quick look at each node.

Nearly all of a schema is types, texts and bounds. So the rules of ``schemas`` and ``structural`` go
only where there is more: defaults, rules in CEL, junctors, embedded objects, mistakes. Upstream has
no counterpart: its walk costs little.
"""

from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.util import regex

TYPES = frozenset({"boolean", "integer", "number", "string"})
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
PLAIN_KEYS = frozenset({
    "type", "description", "properties", "items", "additionalProperties", "required", "format", "enum", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
    "maxProperties", "multipleOf", "pattern", "nullable", "title", "example", "externalDocs",
    "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "anyOf", "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
})
INT_STRING, PRESERVE = "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"


def plain_parts(schema: Tree) -> frozenset[int]:
    """The ids of the nodes below which, and in which, nothing can be wrong.

    They are good as long as the schema is held.
    """
    found: set[int] = set()
    _look(schema, found)
    return frozenset(found)


def _look(node: Tree, found: set[int]) -> bool:
    is_plain = node.keys() <= PLAIN_KEYS and _is_plain(node)
    for below in (node.get("properties") or {}).values():
        if below.__class__ is dict and not _look(below, found):
            is_plain = False
    for name in ("items", "additionalProperties"):
        below = node.get(name)
        if below.__class__ is dict and not _look(below, found):
            is_plain = False
    if is_plain:
        found.add(id(node))
    return is_plain


def _is_plain(node: Tree) -> bool:
    """Of a node that has none but the plain fields: whether they go together."""
    get, type_ = node.get, node.get("type")
    if "pattern" in node and not _is_pattern(node["pattern"]):
        return False
    if type_ == "array":
        shaped = get("items").__class__ is dict
    elif type_ is None:
        shaped = INT_STRING in node or PRESERVE in node
    else:
        shaped = type_ == "object" or type_ in TYPES
    if "properties" in node and "additionalProperties" in node:
        return False
    if not shaped or (INT_STRING in node and PRESERVE in node) or get(PRESERVE) is False:
        return False
    if "anyOf" in node and node["anyOf"] != INT_OR_STRING:
        return False
    if "x-kubernetes-map-type" in node and (type_ != "object" or node["x-kubernetes-map-type"] not in ("atomic", "granular")):
        return False
    return ("x-kubernetes-list-type" not in node and "x-kubernetes-list-map-keys" not in node) or _is_plain_list(node)


def _is_plain_list(node: Tree) -> bool:
    """A list with a type, whose items fit it."""
    list_type, keys, items = node.get("x-kubernetes-list-type"), node.get("x-kubernetes-list-map-keys"), node.get("items")
    if node.get("type") != "array" or items.__class__ is not dict:
        return False
    if list_type == "atomic":
        return not keys
    if items.get("nullable"):
        return False
    if list_type == "set":
        return not keys and items.get("type") in TYPES
    return list_type == "map" and _are_plain_keys(keys or [], items)


def _are_plain_keys(keys: list[str], items: Tree) -> bool:
    if not keys or items.get("type") != "object" or len(keys) != len(set(keys)):
        return False
    properties, required = items.get("properties") or {}, items.get("required") or ()
    for key in keys:
        found = properties.get(key)
        if found is None or found.get("type") not in TYPES or found.get("nullable"):
            return False
        if key not in required and found.get("default") is None:
            return False
    return True


def _is_pattern(text: Any) -> bool:
    try:
        regex.compiled(text)
    except regex.RegexError:
        return False
    return True
