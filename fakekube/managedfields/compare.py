"""What has to change for one value to become another.

Only what differs is looked into: parts that are one object in both, and parts that are equal, cost one comparison.
Upstream: structured-merge-diff/typed/compare.go, which tells modified fields from added ones: who writes them comes to own
both, so they are one set here.
"""

from typing import Any

from fakekube.apimachinery.equality import equals_are_same, same
from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldset import SELF, FieldSet, ordered
from fakekube.managedfields.nodes import LIST, MAP, SCALAR, Node, TypedError
from fakekube.managedfields.sets import members

LEAVES = (str, int, bool, float)

Difference = tuple[FieldSet | None, FieldSet | None]
"""What was removed, and what was changed or added; None when nothing was."""


def difference(node: Node, old: Json, new: Json) -> Difference:
    """What has to change for ``old`` to become ``new``; the two differ. Raises TypedError."""
    before, after = node.atom_of(old), node.atom_of(new)
    if before != after:
        removed = members(node, old) if before == MAP and old else {}
        added = members(node, new) if after == MAP and new else {}
        return {element: below for element, below in removed.items() if element != SELF} or None, added
    if old or new:
        if after == MAP and node.granular:
            return difference_of_maps(node, _of_type(dict, old), _of_type(dict, new))
        if after == LIST and node.associative:
            return _difference_of_lists(node, _of_type(list, old), _of_type(list, new))
    return None, {}


def difference_of_maps(node: Node, old: dict[str, Json], new: dict[str, Json]) -> Difference:
    """``difference`` of two granular maps, which may be the same. Raises TypedError."""
    removed: FieldSet = {}
    changed: FieldSet = {}
    elements, children = node.elements, node.children
    added = 0
    for name, value in new.items():
        if name not in old:
            added += 1
            changed[elements.get(name) or node.element_of(name)] = (
                members(children.get(name) or node.child_of(name), value) if type(value) is dict or type(value) is list else {})
            continue
        known = old[name]
        if known is value or (known == value and (type(value) is str or equals_are_same(known, value))):
            continue
        element, child = elements.get(name) or node.element_of(name), children.get(name) or node.child_of(name)
        if type(value) in LEAVES and type(known) in LEAVES and child.atom in ("", SCALAR):
            changed[element] = {}
        else:
            _collect(element, difference(child, known, value), removed, changed)
    if len(new) - added < len(old):
        for name, value in old.items():
            if name not in new:
                removed[node.element_of(name)] = members(node.child_of(name), value)
    return ordered(removed) or None, ordered(changed) or None


def _difference_of_lists(node: Node, old: list[Any], new: list[Any]) -> Difference:
    before, after = node.items_by_text(old), node.items_by_text(new)
    if before is None or after is None:
        return _difference_of_items(node, node.items(old), node.items(new))
    removed: FieldSet = {}
    changed: FieldSet = {}
    element = node.element
    for text, value in after.items():
        if text not in before:
            changed[text] = members(element, value)
        elif not same(known := before[text], value):
            _collect(text, difference(element, known, value), removed, changed)
    for text, value in before.items():
        if text not in after:
            removed[text] = members(element, value)
    return _by_item(node, removed), _by_item(node, changed)


def _by_item(node: Node, by_text: FieldSet) -> FieldSet | None:
    return {node.item_with(text): by_text[text] for text in sorted(by_text)} or None


def _difference_of_items(node: Node, before: dict[str, list[Json]], after: dict[str, list[Json]]) -> Difference:
    removed: FieldSet = {}
    changed: FieldSet = {}
    element = node.element
    for item in [*before, *(item for item in after if item not in before)]:
        left, right = before.get(item, []), after.get(item, [])
        if same(left, right):
            continue
        if len(left) == len(right) == 1:
            _collect(item, difference(element, left[0], right[0]), removed, changed)
        elif len(left) > 1 and len(right) > 1:
            changed[item] = {}
        else:
            # Duplicates are one indivisible thing; a single item next to nothing, or to them, is itself.
            if left:
                removed[item] = members(element, left[0]) if len(left) == 1 else {}
            if right:
                changed[item] = members(element, right[0]) if len(right) == 1 else {}
    return ordered(removed) or None, ordered(changed) or None


def _of_type(kind: type[Any], value: Json) -> Any:
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypedError(f"expected {'map' if kind is dict else 'list'}, got {value}")
    return value


def _collect(element: str, inner: Difference, removed: FieldSet, changed: FieldSet) -> None:
    """Hang what changed below one element into the sets of the level above."""
    if inner[0] is not None:
        removed[element] = inner[0]
    if inner[1] is not None:
        changed[element] = inner[1]
