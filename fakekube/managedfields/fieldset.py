"""Sets of fields, kept in the very form in which they travel: the FieldsV1 tree.

A set is a dict from path elements (``f:spec``, ``k:{"name":"c"}``, ``v:"x"``) to what lies below
them. An element is a member of the set when its dict is empty or holds ``"."``; otherwise it only
leads to members. So reading and writing managedFields costs nothing, and sets share what they have
in common: nobody changes one in place.
Upstream: structured-merge-diff/fieldpath/set.go.
"""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from fakekube.util.memory import memoized

FieldSet = dict[str, Any]
Path = tuple[str, ...]

SELF = "."
SHARED_BRANCHES = 1_000
SHARED_BYTES = 16 * 1024
"""Of the text of a branch; a pod with ten containers has half of that."""


_EMPTY: Final[FieldSet] = {}


def shared(fields: FieldSet) -> FieldSet:
    """An equal set of which all that is below an object's parts (``f:spec`` ``f:containers``) is
    one object for all equal sets.

    Pods of one template own the same fields: a hundred dicts each, if they were not shared.
    """
    return {
        part: {name: _branch(orjson.dumps(below)) if below else _EMPTY for name, below in branches.items()}
        for part, branches in fields.items()}


@memoized(SHARED_BRANCHES, longest=SHARED_BYTES)
def _branch(data: bytes) -> FieldSet:
    branch: FieldSet = orjson.loads(data)
    return branch


def is_member(below: FieldSet) -> bool:
    """Whether the element above ``below`` belongs to its set itself."""
    return not below or SELF in below


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in either: the very first set when the second adds nothing."""
    if not left or left is right:
        return right
    if not right:
        return left
    result: FieldSet | None = None
    for element, below in right.items():
        known = left.get(element)
        joined = below if known is None else known if element == SELF else _joined(known, below)
        if joined is known:
            continue
        if result is None:
            result = dict(left)
        result[element] = joined
    if result is None:
        return left
    return ordered(result) if len(result) > len(left) else result


def _joined(left: FieldSet, right: FieldSet) -> FieldSet:
    """The two dicts below one element: an empty one means that the element is a member."""
    if not left and not right:
        return left
    if not left:
        left, right = right, left
    if not right:
        return left if SELF in left else {SELF: {}, **left}
    return union(left, right)


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """The members of the first that are no members of the second; what lies below a member counts
    by itself.

    The very first set comes back when there is nothing to take away.
    """
    if not right:
        return left
    result: FieldSet | None = None
    fewer, others = (right, left) if len(right) < len(left) else (left, right)
    for element, below in fewer.items():
        known = others.get(element)
        if known is None or element == SELF:
            continue
        mine = below if fewer is left else known
        rest = _rest(mine, known if fewer is left else below)
        if rest is mine:
            continue
        if result is None:
            result = dict(left)
        if rest is None:
            del result[element]
        else:
            result[element] = rest
    return left if result is None else result


def _rest(mine: FieldSet, theirs: FieldSet) -> FieldSet | None:
    """What is left below one element, or None when neither it nor anything below is."""
    if mine == theirs:
        return None
    if not mine:
        return None if is_member(theirs) else mine
    below = difference(mine, theirs) if theirs else mine
    if SELF in below and is_member(theirs):
        below = {element: inner for element, inner in below.items() if element != SELF}
        return below or None
    if below is not mine and len(below) == 1 and SELF in below:
        return {}
    return below or None


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """As ``difference``, but a member of the second takes away all that lies below it as well."""
    result: FieldSet = {}
    for element, mine in left.items():
        theirs = right.get(element)
        if theirs is None or element == SELF:
            result[element] = mine
        elif not is_member(theirs):
            below = recursive_difference(mine, theirs)
            if not mine or below:
                result[element] = {} if len(below) == 1 and SELF in below else below
    return result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is a member of both."""
    result: FieldSet = {}
    for element, mine in left.items():
        theirs = right.get(element)
        if theirs is None or element == SELF:
            continue
        both = is_member(mine) and is_member(theirs)
        below = intersection(mine, theirs) if mine and theirs else {}
        if below:
            result[element] = {SELF: {}, **below} if both else below
        elif both:
            result[element] = {}
    return result


def of_paths(*paths: Path) -> FieldSet:
    """The set of these paths."""
    result: FieldSet = {}
    for path in paths:
        single: FieldSet = {}
        for element in reversed(path):
            single = {element: single}
        result = union(result, single)
    return result


def paths(fields: FieldSet, prefix: Path = ()) -> Iterator[Path]:
    """All members, those of one level before what lies below them."""
    for element, below in fields.items():
        if element != SELF and is_member(below):
            yield (*prefix, element)
    for element, below in fields.items():
        if element != SELF and below:
            yield from paths(below, (*prefix, element))


def ordered(fields: FieldSet) -> FieldSet:
    """One level in upstream's order: fields by name, then items by key or value, numbers as
    numbers.
    """
    if len(fields) < 2:
        return fields
    elements = list(fields)
    order = sorted(elements)
    if order[-1][0] in "kvi":
        order.sort(key=_rank)
    return fields if order == elements else {element: fields[element] for element in order}


@memoized(4096, longest=1024)
def _rank(element: str) -> tuple[Any, ...]:
    if element[0] == "k":
        return ("k", [(name, *_rank_of_value(value)) for name, value in orjson.loads(element[2:]).items()])
    if element[0] == "v":
        return ("v", _rank_of_value(orjson.loads(element[2:])))
    if element[0] == "i":
        return ("w", int(element[2:]))
    return (element[0], element)


def _rank_of_value(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    return (1, value) if isinstance(value, str) else (3, orjson.dumps(value))
