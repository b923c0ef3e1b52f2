"""A configuration merged into an object, and fields taken out of one, by the schema.

Nothing that comes in is changed; what comes out shares with it: of what a configuration leaves as
it is, the very values come out that came in.
Upstream: structured-merge-diff/typed/{merge,remove}.go.
"""

from operator import is_
from typing import Any

from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields.fieldset import SELF, FieldSet, is_member, ordered
from fakekube.managedfields.nodes import ANYTHING, LIST, MAP, Node


def merged(node: Node, old: Json, config: Json) -> Json:
    """``old`` with everything that ``config`` says; leaves are the configuration's, items are
    merged by their keys.
    """
    kind = node.atom or node.atom_of(config if config is not None else old)
    if kind == MAP and node.granular and (old or config):
        before, after = _as(dict, old), _as(dict, config)
        return _merged_map(node, before, after)
    if kind == LIST and node.associative and (old or config):
        return _merged_list(node, _as(list, old), _as(list, config))
    return config


def _as(kind: type[Any], value: Json) -> Any:
    return value if isinstance(value, kind) else kind()


def _merged_map(node: Node, old: Tree, config: Tree) -> Tree:
    result = old
    children = node.children
    for name, wanted in config.items():
        known, value = old.get(name), wanted
        kind = type(wanted)
        if kind is str or kind is int or kind is bool:
            if type(known) is kind and known == value:
                continue
        elif name in old and (value is None or kind is dict or kind is list):
            child = children.get(name) or node.child_of(name)
            if child.named and kind is dict and type(known) is dict:
                value = _merged_map(child, known, wanted)
            else:
                value = merged(child, known, wanted)
            if value is known:
                continue
        if result is old:
            result = dict(old)
        result[name] = value
    return result


def _merged_list(node: Node, old: list[Any], config: list[Any]) -> list[Any]:
    """Items of the configuration in its order, the others where they stood between them."""
    here, there = node.items_by_text(old), node.items_by_text(config)
    if here is not None and there is not None:
        if [text for text in here if text in there] == [*there]:  # each has its place already
            element = node.element
            items = [merged(element, value, there[text]) if text in there else value for text, value in here.items()]
            return old if all(map(is_, items, old)) else items
        if here.keys() == there.keys():
            return [merged(node.element, here[text], there[text]) for text in there]
        known, wanted = {text: [here[text]] for text in here}, {text: [there[text]] for text in there}
        left, right = list(known), list(wanted)
    else:
        known, wanted = node.items(old), node.items(config)
        left, right = [node.item(value) for value in old], list(wanted)
    shared = [item for item in right if item in known]
    result: list[Any] = []
    done: dict[str, bool] = {}

    def take(item: str) -> None:
        done[item] = True
        if shared and shared[0] == item:
            shared.pop(0)
        value = wanted[item][0]
        same = known.get(item, ())
        # Duplicates in the object are not merged with the item that takes their place.
        result.append(merged(node.element, same[0], value) if len(same) == 1 else value)

    at_left, at_right = 0, 0
    while at_left < len(left) or at_right < len(right):
        if at_left < len(left):
            item = left[at_left]
            if at_right < len(right):
                if item == right[at_right]:
                    take(item)
                    at_left += 1
                    at_right += 1
                    continue
                if item in wanted and shared and shared[0] != item:
                    at_left += 1
                    continue
            if item not in wanted:
                result.append(old[at_left])
                at_left += 1
                continue
            if item in done:
                at_left += 1
        if at_right < len(right):
            take(right[at_right])
            at_right += 1
    return result


def without(node: Node, value: Json, fields: FieldSet) -> Json:
    """A value without the fields and items of a set; a map or list that loses everything becomes
    None.
    """
    kind = node.atom_of(value)
    if kind == MAP and isinstance(value, dict):
        if not node.granular:
            return None
        return _without_fields(node, value, fields) or None
    if kind == LIST and isinstance(value, list):
        if not node.associative:
            return None
        return _without_items(node, value, fields) or None
    return None if kind in (MAP, LIST) else value


def _without_fields(node: Node, value: Tree, fields: FieldSet) -> Tree:
    result: Tree = {}
    for name, inner in value.items():
        below = fields.get(f"f:{name}")
        if below is None:
            result[name] = inner
        elif not is_member(below):
            result[name] = without(node.child(name) or ANYTHING, inner, below)
    return result


def _without_items(node: Node, values: list[Any], fields: FieldSet) -> list[Any]:
    result: list[Any] = []
    for value in values:
        below = fields.get(node.item(value))
        if below is None:
            result.append(value)
        elif not is_member(below):
            result.append(without(node.element, value, below))
    return result


def with_named_fields(node: Node, fields: FieldSet) -> FieldSet:
    """The set with every field in it that the schema names and that leads to a member, besides the
    members.
    """
    result: FieldSet = {}
    for element, below in fields.items():
        if element == SELF or not below:
            result[element] = below
            continue
        if element.startswith("f:"):
            name = element[2:]
            inner = with_named_fields(node.child(name) or ANYTHING, below)
            if node.declares(name) and SELF not in inner:
                inner = {SELF: {}, **inner}
        else:
            inner = with_named_fields(node.element, below)
        result[element] = inner
    return ordered(result)
