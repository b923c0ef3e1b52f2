"""The sets of what a value holds: of one that somebody brings as a whole, and of one that a
configuration speaks of.

Upstream: structured-merge-diff/typed/tofieldset.go, and what compare.go adds of a value that was
not there before.
"""

from typing import Any

from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldset import SELF, FieldSet, ordered
from fakekube.managedfields.nodes import LIST, MAP, SCALAR, Node


def members(node: Node, value: Json) -> FieldSet:
    """Everything in a value, the value included, as it is owned by who brings it as a whole.

    Raises TypedError.
    """
    if type(value) is dict:
        return _members_of_map(node, value)
    return _members_of_list(node, value) if type(value) is list else {}


def _members_of_map(node: Node, value: dict[str, Json]) -> FieldSet:
    if not value or not node.granular or node.atom not in (MAP, ""):
        return {}
    result: FieldSet = {SELF: {}}
    if not node.named:
        for name in sorted(value):
            inner = value[name]
            result[f"f:{name}"] = members(node.child_of(name), inner) if type(inner) is dict or type(inner) is list else {}
        return result
    elements, children = node.elements, node.children
    for name in sorted(value):
        inner = value[name]
        try:
            element = elements[name]
        except KeyError:
            element = node.element_of(name)
        kind = type(inner)
        if kind is dict:
            result[element] = _members_of_map(children.get(name) or node.child_of(name), inner)
        elif kind is list:
            result[element] = _members_of_list(children.get(name) or node.child_of(name), inner)
        else:
            result[element] = {}
    return result


def _members_of_list(node: Node, values: list[Any]) -> FieldSet:
    if not values or not (node.keyed or node.is_set):
        return {}
    result: FieldSet = {SELF: {}}
    element = node.element
    by_text = node.items_by_text(values)
    if by_text is not None:
        for text in sorted(by_text):
            result[node.item_with(text)] = _members_of_map(element, by_text[text])
        return result
    found = {item: members(element, alike[0]) if len(alike) == 1 else {} for item, alike in node.items(values).items()}
    result.update(ordered(found))
    return result


def to_set(node: Node, value: Json) -> FieldSet:
    """What an applied configuration speaks of: leaves and items, not the maps on the way.

    Never raises TypedError for a value that ``check`` has passed.
    """
    if isinstance(value, dict) and node.granular:
        return _set_of_map(node, value)
    if isinstance(value, list) and node.associative:
        return _set_of_list(node, value)
    return {}


def _set_of_map(node: Node, value: dict[str, Json]) -> FieldSet:
    result: FieldSet = {}
    elements, children = node.elements, node.children
    for name in sorted(value):
        inner = value[name]
        element = elements.get(name) or node.element_of(name)
        if type(inner) is not dict and type(inner) is not list:
            result[element] = {}
            continue
        below = _set_below(children.get(name) or node.child_of(name), inner, declared=name in elements)
        if below is not None:
            result[element] = below
    return result


def _set_of_list(node: Node, values: list[Any]) -> FieldSet:
    result: FieldSet = {}
    by_text = node.items_by_text(values)
    if by_text is not None:
        for text in sorted(by_text):
            owned = _set_below(node.element, by_text[text], declared=False)
            result[node.item_with(text)] = {} if owned is None else owned
        return result
    for item, alike in node.items(values).items():
        owned = _set_below(node.element, alike[0], declared=False) if len(alike) == 1 else {}
        result[item] = {} if owned is None else owned
    return ordered(result)


def _set_below(node: Node, value: Json, *, declared: bool) -> FieldSet | None:
    """The dict below an element that holds ``value``; None when there is nothing to own."""
    kind = node.atom or node.atom_of(value)
    if kind == SCALAR or (kind == MAP and not node.granular) or (kind == LIST and not node.associative):
        return {}
    below = to_set(node, value)
    member = not declared or value is None or value == {}
    if not below:
        return {} if member else None
    return {SELF: {}, **below} if member else below
