"""Path elements as they travel, as they are shown to people, and the reading of sets that a client
sent.

Upstream: structured-merge-diff/fieldpath/serialize.go, serialize-pe.go and element.go.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from fakekube.apimachinery import strconv
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gotext import value_text
from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldset import SELF, FieldSet, Path, ordered
from fakekube.util.memory import memoized

_ESCAPED = (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e"))


class FieldsError(ValueError):
    """A tree that is no set of fields."""


def key_element(keys: Mapping[str, Json]) -> str:
    """The element of an item that is known by its keys: ``k:{"name":"c"}``."""
    return f"k:{quoted(keys)}"


def value_element(value: Json) -> str:
    """The element of a set's item: ``v:"x"``."""
    return f"v:{quoted(value)}"


def quoted(value: Json) -> str:
    """A value as JSON, keys sorted, in the way of Go: what HTML takes for its own is escaped."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    if "&" in text or "<" in text or ">" in text:
        for sign, escaped in _ESCAPED:
            text = text.replace(sign, escaped)
    return text


def path_text(path: Path) -> str:
    """``.spec.containers[name="c"].image``, as conflicts print it."""
    return "".join(map(element_text, path))


def element_text(element: str) -> str:
    """``.spec``, ``[name="c"]``, ``[="x"]`` or ``[0]``."""
    kind, text = element[0], element[2:]
    if kind == "f":
        return f".{text}"
    if kind == "i":
        return f"[{text}]"
    value = orjson.loads(text)
    if kind == "v":
        return f"[={_shown(value)}]"
    return f"[{','.join(f'{name}={_shown(value[name])}' for name in sorted(value))}]"


def _shown(value: Json) -> str:
    """A value as it stands in a path: a map without braces and commas, as upstream has it."""
    if isinstance(value, dict):
        return "".join(f"{key}={_shown(value[key])}" for key in sorted(value))
    if isinstance(value, list):
        return f"[{','.join(map(_shown, value))}]"
    if value is None:
        return "null"
    return go_quote(value) if isinstance(value, str) else value_text(value)


def parse(tree: Json) -> FieldSet:
    """A set from a tree that anybody may have written. Raises FieldsError.

    Elements of kinds that nobody knows are dropped, as upstream does.
    """
    if tree is None:
        return {}
    children, _ = _parsed(tree)
    return children


def _parsed(tree: Json) -> tuple[FieldSet, bool]:
    if not isinstance(tree, dict):
        raise FieldsError("a set of fields must be an object")
    children: FieldSet = {}
    member = False
    for element, below in tree.items():
        if element == SELF:
            member = True
            continue
        known = _normal(element)
        if known is None:
            continue
        grandchildren, is_member = _parsed(below)
        children[known] = {SELF: {}, **grandchildren} if grandchildren and is_member else grandchildren
    return ordered(children), member or not children


@memoized(4096, longest=1024)
def _normal(element: str) -> str | None:
    """The element in the one way to write it, or None when nobody knows its kind."""
    if len(element) < 2 or element[1] != ":":
        raise FieldsError(f"missing colon: {element}")
    kind, text = element[0], element[2:]
    if kind == "f":
        return element
    if kind not in ("k", "v", "i"):
        return None
    try:
        value: Any = strconv.parse_int(text) if kind == "i" else orjson.loads(text)
    except ValueError:
        raise FieldsError(f"cannot parse {element}") from None
    if kind == "i":
        return f"i:{value}"
    if kind == "k" and not isinstance(value, dict):
        raise FieldsError(f"cannot parse {element}")
    return f"{kind}:{quoted(value)}"
