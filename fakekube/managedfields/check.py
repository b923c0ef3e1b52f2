"""Whether an applied configuration fits its schema, in upstream's words.

Upstream: structured-merge-diff/typed/validate.go. Every complaint has a path; a map is looked at up
to its first unknown field.
"""

from typing import Any

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gotext import value_text
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields.fieldsv1 import element_text
from fakekube.managedfields.nodes import LIST, MAP, SCALAR, Node, TypedError


def check(node: Node, value: Json) -> None:
    """Pass a value that fits; raise TypedError with all complaints about one that does not."""
    if _fits(node, value):
        return
    found = [f"{path}: {text}" if path else text for path, text in _complaints(node, value, "")]
    raise TypedError(found[0] if len(found) == 1 else "\n  ".join(["errors:", *found]))


def _fits(node: Node, value: Json) -> bool:
    """Whether there is nothing to complain of."""
    if value is None:
        return True
    kind = node.atom or node.atom_of(value)
    if kind == MAP:
        return isinstance(value, dict) and _map_fits(node, value)
    if kind == LIST:
        return isinstance(value, list) and _list_fits(node, value)
    return not _about_scalar(node.scalar, value)


def _map_fits(node: Node, value: Tree) -> bool:
    children = node.children
    for name, inner in value.items():
        child = children.get(name) or node.child(name)
        if child is None:
            return False
        kind = type(inner)
        if kind is str:
            if not child.takes_text:
                return False
        elif kind is dict:
            if child.atom not in (MAP, "") or not _map_fits(child, inner):
                return False
        elif not _fits(child, inner):
            return False
    return True


def _list_fits(node: Node, values: list[Any]) -> bool:
    if node.associative and node.items_by_text(values) is None:
        try:
            if len({node.item(value) for value in values}) < len(values):
                return False
        except TypedError:
            return False
    element = node.element
    for value in values:  # noqa: SIM110 - a generator costs as much as the check
        if not _fits(element, value):
            return False
    return True


def _complaints(node: Node, value: Json, path: str) -> list[tuple[str, str]]:
    if value is None:
        return []
    kind = node.atom_of(value)
    if kind == MAP:
        return _about_map(node, value, path) if isinstance(value, dict) else [(path, f"expected map, got {_shown(value)}")]
    if kind == LIST:
        return _about_list(node, value, path) if isinstance(value, list) else [(path, f"expected list, got {_shown(value)}")]
    assert kind == SCALAR, "there are three kinds"
    complaint = _about_scalar(node.scalar, value)
    return [(path, complaint)] if complaint else []


def _about_map(node: Node, value: Tree, path: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, inner in value.items():
        child = node.child(name)
        if child is None:
            return [*found, (f"{path}.{name}", "field not declared in schema")]
        found += _complaints(child, inner, f"{path}.{name}")
    return found


def _about_list(node: Node, values: list[Any], path: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    seen: dict[str, bool] = {}
    for number, value in enumerate(values):
        if not node.associative:
            found += _complaints(node.element, value, f"{path}[{number}]")
            continue
        try:
            item = node.item(value)
        except TypedError as error:
            return [*found, (path, f"element {number}: {error}")]
        shown = element_text(item)
        if item in seen:
            found.append((path, f"duplicate entries for key {shown}"))
        seen[item] = True
        found += _complaints(node.element, value, f"{path}{shown}")
    return found


def _about_scalar(wanted: str, value: Json) -> str:
    if wanted == "numeric":
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if fits else f"expected numeric (int or float), got {_go_type(value)}"
    if wanted == "string":
        return "" if isinstance(value, str) else f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    if wanted == "boolean":
        return "" if isinstance(value, bool) else f"expected boolean, got {_shown(value)}"
    return f"expected any scalar, got {_shown(value)}" if isinstance(value, dict | list) else ""


def _shown(value: Json) -> str:
    """A value as Go's %v prints the wrapper around it."""
    return f"&{{{value_text(value)}}}"


def _go_syntax(value: Json) -> str:
    """A value as Go's %#v prints it."""
    if isinstance(value, dict):
        return _go_type(value) + "{" + ", ".join(f"{go_quote(key)}:{_go_syntax(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return _go_type(value) + "{" + ", ".join(map(_go_syntax, value)) + "}"
    if isinstance(value, str):
        return go_quote(value)
    if value is None:
        return "interface {}(nil)"
    return value_text(value)


def _go_type(value: Json) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return {bool: "bool", int: "int64", float: "float64"}.get(type(value), "string")
