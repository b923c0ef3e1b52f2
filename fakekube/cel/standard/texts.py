"""Functions of strings and collections: ``contains``, ``matches``, ``in``, ``size``, ``+``.

Upstream: common/types/string.go, list.go and map.go.
"""

from typing import Any

from fakekube.cel import values
from fakekube.cel.errors import EvaluationError
from fakekube.util import regex


def contains(text: str, part: str) -> bool:
    """Whether the part stands in the text."""
    return part in text


def matches(text: str, pattern: str) -> bool:
    """Whether the regular expression is found in the text. Raises EvaluationError."""
    try:
        return regex.compiled(pattern).is_in(text)
    except regex.RegexError as invalid:
        raise EvaluationError(str(invalid)) from None


def in_list(element: Any, elements: list[Any]) -> bool:
    """Whether an element of the list equals it."""
    return any(values.equal(element, candidate) for candidate in elements)


def in_map(key: Any, of: dict[Any, Any]) -> bool:
    """Whether the map has the key."""
    try:
        return values.map_key(key) in of
    except TypeError:
        return False


def add_lists(left: list[Any], right: list[Any]) -> list[Any]:
    """One list after the other; sets and maps of a schema are merged."""
    if isinstance(left, values.SetList):
        held: dict[Any, list[Any]] = {}
        for element in left:
            held.setdefault(values.digest(element), []).append(element)
        return values.SetList([*left, *(added for added in right if not in_list(added, held.get(values.digest(added), [])))])
    if isinstance(left, values.MapList):
        return merged_by_keys(left, right)
    return [*left, *right]


def merged_by_keys(left: values.MapList, right: list[Any]) -> values.MapList:
    """The elements of the left list, replaced by those of the right that have the same keys."""
    merged: dict[Any, Any] = {}
    for element in (*left, *right):
        identity = tuple(values.digest(element.get(key)) for key in left.keys)
        merged[identity] = element
    return values.MapList(list(merged.values()), left.keys)


def not_a_result(*_: Any) -> Any:
    """What the planner computes itself has no implementation here."""
    raise EvaluationError("no such overload")
