"""Strategic merge patch: a merge patch that knows of lists whose items have keys, and of
directives.

``$patch`` replaces or deletes a map or a list's item, ``$deleteFromPrimitiveList/x`` takes scalars
from a list, ``$setElementOrder/x`` orders one, ``$retainKeys`` names the fields that may stay. The
input stays untouched. Upstream: apimachinery/pkg/util/strategicpatch/patch.go, in whose words
errors are. Left out: making and merging of patches, which clients do.
"""

from collections.abc import Iterable
from typing import Any

from sortedcontainers import SortedList

from fakekube.apimachinery.gotext import string_text, value_text
from fakekube.apimachinery.types import Json, Tree
from fakekube.patch.element_order import DIRECTIVE, Places, hashable, in_order, kind_of, partition, text_keys
from fakekube.patch.errors import PatchError, bad_format, bad_type, no_merge_key
from fakekube.schema.structural import Schema

__all__ = ["PatchError", "apply"]

RETAIN_KEYS = "$retainKeys"
DELETE_FROM, ELEMENT_ORDER = "$deleteFromPrimitiveList", "$setElementOrder"
REPLACE, DELETE, MERGE = "replace", "delete", "merge"


def apply(tree: Tree, patch: Tree, schema: Schema) -> Tree:
    """The tree with the patch merged into it by the kind's schema. Raises PatchError."""
    return _merge_map(tree, patch, schema)


def _merge_map(original: Tree, patch: Tree, schema: Schema | None) -> Tree:
    if DIRECTIVE in patch:
        if patch[DIRECTIVE] == REPLACE:
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        if patch[DIRECTIVE] == DELETE:
            return {}
        raise _unknown_directive(patch)
    result, rest = dict(original), dict(patch)
    _retain_keys(result, rest)
    for key in [key for key in patch if key.startswith(ELEMENT_ORDER)]:
        _merge_ordered(result, rest, key, schema)
    for key, value in rest.items():
        _merge_field(result, key, value, schema)
    return result


def _merge_field(result: Tree, key: str, value: Json, schema: Schema | None) -> None:
    deletes = key.startswith(DELETE_FROM)
    if deletes:
        key = _field_of(key, DELETE_FROM, "primitive list")
    if value is None:
        result.pop(key, None)
        return
    if key in result and isinstance(value, dict) and isinstance(result[key], dict):
        field = _field(schema, key)
        replaced = REPLACE in _strategies(field)
        result[key] = value if replaced else _merge_map(result[key], value, field)
    elif key in result and isinstance(value, list) and isinstance(result[key], list):
        field = _field(schema, key)
        if deletes or MERGE in _strategies(field):
            result[key] = _merge_list(result[key], value, field, deletes=deletes)
        else:
            result[key] = value
    elif not deletes:
        cleaned, kept = _cleaned(value)
        if kept:
            result[key] = cleaned
        else:
            result.pop(key, None)


def _retain_keys(result: Tree, rest: Tree) -> None:
    """Drop the fields that the directive does not name.

    Whatever else the patch brings must be named too.
    """
    if RETAIN_KEYS not in rest:
        return
    named = rest.pop(RETAIN_KEYS)
    if not isinstance(named, list):
        raise bad_format("invalid patch format of retainKeys")
    for key, value in rest.items():
        if value is not None and not key.startswith((DELETE_FROM, ELEMENT_ORDER)) and key not in named:
            raise bad_format("invalid patch format of retainKeys")
    for key in [key for key in result if key not in named]:
        del result[key]


def _merge_ordered(result: Tree, rest: Tree, directive: str, schema: Schema | None) -> None:
    """Merge the list that an order directive speaks of, and put it in that order."""
    order = rest.pop(directive)
    if not isinstance(order, list):
        raise bad_type([], order)
    key = _field_of(directive, ELEMENT_ORDER, "setElementOrder list")
    original, patch = result.get(key, []), rest.get(key, [])
    for value in (original, patch):
        if not isinstance(value, list):
            raise bad_type([], value)
    field = _field(schema, key)
    merge_key = field.merge_key
    wanted, given = text_keys(order, merge_key), text_keys(patch, merge_key)
    if wanted is None or wanted != given:
        _check_order(patch, order, merge_key)
    if wanted and given and key in rest and MERGE in _strategies(field):
        found = _merge_named(original, patch, field, wanted) if key in result else _as_named(patch, given, wanted)
        if found is not None:
            result[key] = found
            del rest[key]
            return
    if key in result and key in rest:
        merged = _merge_list(original, patch, field) if MERGE in _strategies(field) else patch
    elif key in rest:
        merged, _ = _without_directives(patch)
    elif key in result:
        merged = original
    else:
        return
    named, unnamed = partition(merged, order, merge_key)
    kind = _element_kind(original, patch)
    live_order = _overwritten(original, patch, merge_key) if MERGE in _strategies(field) and kind is dict else original
    result[key] = in_order(named, unnamed, order, live_order, merge_key, kind)
    rest.pop(key, None)


def _merge_named(original: list[Any], patch: list[Any], field: Schema, wanted: list[str]) -> list[Any] | None:
    """The merged list, when the order names whatever is in it: what a kubelet's patches do. Else
    None.

    The items of the patch have keys that are texts, and no directives.
    """
    key = field.merge_key
    known = text_keys(original, key)
    if known is None:
        return None
    items = dict(zip(known, original, strict=True))
    if len(items) < len(known):
        return None
    for item in patch:
        name = item[key]
        items[name] = _merge_map(items[name], item, field.items) if name in items else item
    found = [items[name] for name in dict.fromkeys(wanted) if name in items]
    return found if len(found) == len(items) else None


def _as_named(patch: list[Any], given: list[str], wanted: list[str]) -> list[Any] | None:
    """A list that is new to the object, when it has its order and each key once. Else None."""
    if given != wanted or len({*given}) < len(given):
        return None
    merged: list[Any] = _without_directives(patch)[0]
    return merged


def _overwritten(original: list[Any], patch: list[Any], merge_key: str) -> list[Any]:
    """The order of the live list as upstream sees it after the merge: new items have taken the room
    of deleted ones.
    """
    if any(item.get(DIRECTIVE) == REPLACE for item in patch):
        return original
    deleted = {hashable(item.get(merge_key)) for item in patch if item.get(DIRECTIVE) == DELETE}
    left = [item for item in original if hashable(item.get(merge_key)) not in deleted] if deleted else original
    known = {hashable(item.get(merge_key)) for item in left}
    new = [item for item in patch if DIRECTIVE not in item and hashable(item.get(merge_key)) not in known]
    return [*left, *new][: len(original)]


def _check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """The items of the patch must stand in the directive, and in its order.

    A directive among the items passes, but for one after the last item that the order names:
    upstream stops there.
    """
    if not order or not patch:
        return
    items = patch
    if merge_key:
        for item in patch:
            if not isinstance(item, dict):
                raise bad_type({}, item)
        items = [item for item in patch if item.get(DIRECTIVE) != DELETE]
    at, place = 0, 0
    while at < len(items) and place < len(order):
        if isinstance(items[at], dict) and DIRECTIVE in items[at]:
            at += 1
            continue
        at += _same_item(items[at], order[place], merge_key)
        place += 1
    if at < len(items):
        given, wanted = value_text(patch), value_text(order)
        raise PatchError(f"The order in patch list:\n{given}\n doesn't match {ELEMENT_ORDER} list:\n{wanted}\n")


def _same_item(left: Json, right: Json, merge_key: str) -> bool:
    if not merge_key:
        return bool(left == right)
    for item in (left, right):
        if not isinstance(item, dict):
            raise bad_type({}, item)
        if merge_key not in item:
            raise no_merge_key(item, merge_key)
    return bool(left[merge_key] == right[merge_key])


def _merge_list(original: list[Any], patch: list[Any], field: Schema, *, deletes: bool = False) -> list[Any]:
    if not original and not patch:
        return original
    kind = _element_kind(original, patch)
    merge_key = field.merge_key
    if kind is not dict:
        if deletes:
            gone = {hashable(item) for item in patch}
            return [item for item in original if hashable(item) not in gone]
        merged = _without_repetitions([*original, *patch])
    else:
        if not merge_key:
            # there are such lists of texts alone, finalizers for one
            raise PatchError(f"cannot merge lists without merge key for {field.items.type if field.items else 'map'}")
        original, patch = _special_elements(original, patch, merge_key)
        merged = _merge_items(original, patch, field)
    named, unnamed = partition(merged, patch, merge_key)
    return in_order(named, unnamed, patch, original, merge_key, kind)


def _special_elements(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Obey the elements that are directives; what is left to merge, both sides."""
    plain: list[Any] = []
    deleted = set()
    replaces = False
    for item in patch:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            plain.append(item)
        elif directive == DELETE:
            if merge_key not in item:
                raise no_merge_key(item, merge_key)
            deleted.add(hashable(item[merge_key]))
        elif directive == REPLACE:
            replaces = True
        elif directive == MERGE:
            raise PatchError("merging lists cannot yet be specified in the patch")
        else:
            raise _unknown_directive(item)
    if replaces:
        return plain, []
    return [known for known in original if hashable(known.get(merge_key)) not in deleted] if deleted else original, plain


def _merge_items(original: list[Any], patch: list[Any], field: Schema) -> list[Any]:
    merged = list(original)
    places = Places(merged, field.merge_key, dict)
    for item in patch:
        if field.merge_key not in item:
            raise no_merge_key(item, field.merge_key)
        place = places.of(item)
        if place < 0:
            places.add(item, len(merged))
            merged.append(item)
        else:
            merged[place] = _merge_map(merged[place], item, field.items)
    return merged


def _element_kind(*lists: list[Any]) -> type[Any]:
    """The one kind of element that all lists hold.

    Raises PatchError when there are several, or none.
    """
    kinds = [kind_of(item) for items in lists for item in items]
    if not kinds:
        raise PatchError("no elements in any of the given slices")
    if kinds[0] is list:
        raise PatchError("lists of lists are not supported", 422, "Invalid")
    if any(kind is not kinds[0] for kind in kinds):
        raise PatchError(f"list element types are not identical: {value_text(lists)}")
    return kinds[0]


def _without_repetitions(items: list[Any]) -> list[Any]:
    """Each scalar once.

    Upstream fills the place of a repetition with the last item, so the order is not kept.
    """
    if len(dict.fromkeys(items)) == len(items):
        return items
    places: dict[Any, SortedList] = {}
    for place, item in enumerate(items):
        places.setdefault(item, SortedList()).add(place)
    result = list(items)
    first = 0
    while first < len(result) - 1 and len(places) < len(result):
        mine = places[result[first]]
        while len(mine) > 1:
            second = mine[1]
            last = result.pop()
            places[last].pop()
            if second < len(result):
                result[second] = last
                mine.discard(second)
                places[last].add(second)
        first += 1
    return result


def _cleaned(value: Json) -> tuple[Json, bool]:
    """A value that is new to the object, without nulls in its maps and without directives; False
    when it is one itself.
    """
    return (value, True) if _is_clean(value, nulls=False) else _without(value, nulls=False)


def _without_directives(value: Json) -> tuple[Json, bool]:
    """A value without directives in it; False when it is one itself."""
    return (value, True) if _is_clean(value, nulls=True) else _without(value, nulls=True)


def _is_clean(value: Json, *, nulls: bool) -> bool:
    """Whether there is nothing to take out of a value. ``nulls`` says that nulls may stay."""
    if value.__class__ is dict:
        if DIRECTIVE in value:
            return False
        value = value.values()
    elif value.__class__ is not list:
        return True
    for child in value:
        kind = child.__class__
        if kind is str:
            continue
        if child is None:
            if not nulls:
                return False
        elif (kind is dict or kind is list) and not _is_clean(child, nulls=nulls):
            return False
    return True


def _without(value: Json, *, nulls: bool) -> tuple[Json, bool]:
    if value.__class__ is dict:
        if DIRECTIVE in value if nulls else value.get(DIRECTIVE) is not None:
            return None, False
        found = ((key, *_without(child, nulls=nulls)) for key, child in value.items() if nulls or child is not None)
        return {key: child for key, child, kept in found if kept}, True
    if value.__class__ is list:
        return [child for child, kept in (_without(child, nulls=nulls) for child in value) if kept], True
    return value, True


def _field(schema: Schema | None, key: str) -> Schema:
    """The schema of a field that has to be merged. Raises PatchError when there is none to say how.
    """
    if schema is None or (schema.additional is not None and not schema.properties):
        raise PatchError("merging an object in json but data type is not struct, instead is: map")
    field = schema.properties.get(key)
    if field is None:
        struct = schema.go.name if schema.go else schema.name.rpartition(".")[2]
        raise PatchError(f'unable to find api field in struct {struct} for the json field "{key}"')
    return field


def _strategies(field: Schema) -> Iterable[str]:
    return field.patch_strategy.split(",")


def _field_of(directive: str, prefix: str, what: str) -> str:
    found, slash, key = directive.partition("/")
    if found != prefix or not slash:
        raise bad_format(f"invalid patch format of {what}")
    return key


def _unknown_directive(item: Tree) -> PatchError:
    return PatchError(f"unknown patch type: {string_text(item[DIRECTIVE])} in map: {value_text(item)}")
