"""What is looked for in an expression whose types are right: mistakes that would show up later.

Upstream: cel-go's cel/validator.go.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fakekube.cel import errors, tree, types, values
from fakekube.cel.standard import conversions, times
from fakekube.cel.types import Kind
from fakekube.util import regex

Validator = Callable[[Sequence[tree.Expression]], Iterator[errors.Issue]]
"""Gives what is wrong with a tree whose types are known, given as all its ``nodes``."""

EXEMPT_FUNCTION = "format"
"""The arguments of this function may be lists of mixed types."""


def nodes(root: tree.Expression, *, below: Callable[[tree.Expression], bool] | None = None) -> list[tree.Expression]:
    """All parts of an expression, itself first, one that stands in it twice once.

    ``below`` says whether the parts of a part are looked at as well.
    """
    pending, found = [root], dict[int, tree.Expression]()
    while pending:
        node = pending.pop()
        if id(node) not in found:
            found[id(node)] = node
            if below is None or below(node):
                pending.extend(node.children())
    return list(found.values())


def homogeneous_literals(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """Lists and maps that are written down with elements of different types."""
    if not any(isinstance(node, tree.CreateList | tree.CreateMap) for node in parts):
        return
    for node in nodes(parts[0], below=_is_not_exempt):
        if isinstance(node, tree.CreateList):
            yield from _mixed_list(node)
        elif isinstance(node, tree.CreateMap):
            yield from _mixed_map(node)


def _is_not_exempt(node: tree.Expression) -> bool:
    return not (isinstance(node, tree.Call) and node.function == EXEMPT_FUNCTION)


def _mixed_list(node: tree.CreateList) -> Iterator[errors.Issue]:
    first: types.Type | None = None
    for index, element in enumerate(node.elements):
        found = _held(element, optional=index in node.optional)
        if first is None:
            first = found
        elif not equivalent(first, found):
            yield _mismatch(element, first, found)
            return


def _mixed_map(node: tree.CreateMap) -> Iterator[errors.Issue]:
    first: tuple[types.Type, types.Type] | None = None
    for entry in node.entries:
        assert entry.key is not None
        found = entry.key.type, _held(entry.value, optional=entry.optional)
        if first is None:
            first = found
            continue
        for part, expected, actual in zip((entry.key, entry.value), first, found, strict=True):
            if not equivalent(expected, actual):
                yield _mismatch(part, expected, actual)


def _held(node: tree.Expression, *, optional: bool) -> types.Type:
    return node.type.parameters[0] if optional and node.type.parameters else node.type


def _mismatch(node: tree.Expression, expected: types.Type, found: types.Type) -> errors.Issue:
    return errors.Issue(f"expected type '{expected}' but found '{found}'", node.offset)


def equivalent(left: types.Type, right: types.Type) -> bool:
    """Whether two types are the same; type parameters are, whatever their names."""
    if left.kind is not right.kind or len(left.parameters) != len(right.parameters):
        return False
    if left.kind is not Kind.TYPE_PARAMETER and left.name != right.name:
        return False
    return all(map(equivalent, left.parameters, right.parameters))


def duration_literals(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """``duration('1x')``."""
    return _literals(parts, "duration", times.parse_duration)


def timestamp_literals(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """``timestamp('yesterday')``."""
    return _literals(parts, "timestamp", _parse_timestamp)


def _parse_timestamp(value: str | int) -> values.Timestamp:
    return conversions.int_to_timestamp(value) if isinstance(value, int) else times.parse_timestamp(value)


def regex_literals(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """``'a'.matches('(')``. Of ``matches('a', '(')`` upstream looks at the first argument."""
    return _literals(parts, "matches", regex.compiled)


def _literals(
    parts: Sequence[tree.Expression], function: str, parse: Callable[[Any], Any],
) -> Iterator[errors.Issue]:
    for node in parts:
        if not isinstance(node, tree.Call) or node.function != function or not node.arguments:
            continue
        argument = node.arguments[0]
        if isinstance(argument, tree.Literal) and argument.value.__class__ in {str, int}:
            try:
                parse(argument.value)
            except (errors.EvaluationError, regex.RegexError):
                yield errors.Issue(f"invalid {function} argument", argument.offset)
