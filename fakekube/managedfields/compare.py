"""What has to change for one value to become another.

Only what differs is looked into: parts that are one object in both, and parts that are equal, cost
one comparison.
Upstream: structured-merge-diff/typed/compare.go, which tells modified fields from added ones: who
writes them comes to own both, so they are one set here.
"""

from typing import Any

from fakekube.apimachinery.equality import equals_are_same, same
from fakekube.apimachinery.types import Json
from fakekube.managedfields.fieldset import SELF, FieldSet, ordered
from fakekube.managedfields.nodes import LIST, MAP, Node, TypedError
from fakekube.managedfields.sets import members

LEAVES = (str, int, bool, float)

Difference = tuple[FieldSet | None, FieldSet | None]
"""What was removed, and what was changed or added; None when nothing was."""


def difference(node: Node, old: Json, new: Json) -> Difference:
    """What has to change for ``old`` to become ``new``; the two differ. Raises TypedError."""
    atom = node.atom
    if not atom:
        atom = node.atom_of(new)
        if atom != node.atom_of(old):
            return _difference_of_kinds(node, old, new)
    if atom == MAP and node.granular and (old or new):
        return difference_of_maps(node, _of_type(dict, old), _of_type(dict, new))
    if atom == LIST and (node.keyed or node.is_set) and (old or new):
        return _difference_of_lists(node, _of_type(list, old), _of_type(list, new))
    return None, {}


def _difference_of_kinds(node: Node, old: Json, new: Json) -> Difference:
    """``difference`` of a map, a list or a scalar and something else of these.

    Of lists and scalars nothing is told.
    """
    removed = members(node, old) if type(old) is dict else {}
    added = members(node, new) if type(new) is dict else {}
    return {element: below for element, below in removed.items() if element != SELF} or None, added


def changed_by_create(node: Node, empty: dict[str, Json], new: dict[str, Json]) -> FieldSet:
    """What is changed or added, from the object that a create starts with to the new one.

    Raises TypedError.
    """
    result: FieldSet = {}
    elements, children = node.elements, node.children
    for name in sorted(new):
        value = new[name]
        element = elements.get(name) or node.element_of(name)
        if name not in empty:
            if type(value) is dict or type(value) is list:
                result[element] = members(children.get(name) or node.child_of(name), value)
            else:
                result[element] = {}
            continue
        known, child = empty[name], children.get(name) or node.child_of(name)
        if type(value) is dict and type(known) is dict and child.granular and child.atom == MAP:
            below = changed_by_create(child, known, value)
            if below:
                result[element] = below
        elif not same(known, value):
            changed = difference(child, known, value)[1]
            if changed is not None:
                result[element] = changed
    return result


def difference_of_maps(node: Node, old: dict[str, Json], new: dict[str, Json]) -> Difference:
    """``difference`` of two granular maps, which may be the same. Raises TypedError."""
    removed: FieldSet = {}
    changed: FieldSet = {}
    elements, children = node.elements, node.children
    left = len(old)
    for name, value in new.items():
        if name not in old:
            element = elements.get(name) or node.element_of(name)
            if type(value) is dict or type(value) is list:
                changed[element] = members(children.get(name) or node.child_of(name), value)
            else:
                changed[element] = {}
            continue
        left -= 1
        known = old[name]
        if known is value:
            continue
        child = children.get(name) or node.child_of(name)
        if type(value) is dict and type(known) is dict and child.named:
            gone, other = difference_of_maps(child, known, value)
        elif known == value and (type(value) is str or equals_are_same(known, value)):
            continue
        else:
            gone, other = difference(child, known, value)
        if gone is not None:
            removed[elements.get(name) or node.element_of(name)] = gone
        if other is not None:
            changed[elements.get(name) or node.element_of(name)] = other
    if left:
        for name, value in old.items():
            if name not in new:
                removed[elements.get(name) or node.element_of(name)] = members(node.child_of(name), value)
    return _by_name(removed), _by_name(changed)


def _by_name(fields: FieldSet) -> FieldSet | None:
    """The fields of one map in order; None when there are none."""
    return {element: fields[element] for element in sorted(fields)} if len(fields) > 1 else fields or None


def _difference_of_lists(node: Node, old: list[Any], new: list[Any]) -> Difference:
    before, after = node.items_by_text(old), node.items_by_text(new)
    if before is None or after is None:
        return _difference_of_items(node, node.items(old), node.items(new))
    removed: FieldSet = {}
    changed: FieldSet = {}
    element = node.element
    for text, value in after.items():
        known = before.get(text)
        if known is None:
            changed[text] = members(element, value)
        elif known is not value and not same(known, value):
            _collect(text, difference(element, known, value), removed, changed)
    for text, value in before.items():
        if text not in after:
            removed[text] = members(element, value)
    return _by_text(node, removed), _by_text(node, changed)


def _by_text(node: Node, items: FieldSet) -> FieldSet | None:
    """The items of one list in order, by their path elements in place of what their key holds; None
    when there are none.
    """
    return {node.item_with(text): items[text] for text in sorted(items)} or None


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
            # Duplicates are one indivisible thing; a single item next to nothing, or to them, is
            # itself.
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
