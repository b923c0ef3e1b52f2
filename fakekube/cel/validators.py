"""What is looked at after the type check: constants that cannot be what they are meant to be.

Upstream: cel/validator.go.
"""

from collections.abc import Callable, Iterator

from fakekube.cel import errors, tree, types
from fakekube.cel.standard import texts, times
from fakekube.cel.standard.conversions import int_to_timestamp

_EXEMPT = "format"


def validate(text: str, root: tree.Expression, *, homogeneous: bool, literals: bool) -> None:
    """Look at a checked tree. Raises CompileError.

    ``homogeneous`` refuses lists and maps of mixed types; ``literals`` refuses durations,
    timestamps and regular expressions that are none.
    """
    if not homogeneous and not literals:
        return
    issues: list[errors.Issue] = []
    nodes = list(_nodes(root))
    if literals:
        for name in ("duration", "timestamp", "matches"):
            issues.extend(_invalid_literals(nodes, name))
    if homogeneous:
        for node, exempt in nodes:
            if not exempt and isinstance(node, tree.CreateList):
                issues.extend(_mixed_list(node))
        for node, exempt in nodes:
            if not exempt and isinstance(node, tree.CreateMap):
                issues.extend(_mixed_map(node))
    if issues:
        raise errors.CompileError(text, issues[: errors.MAX_REPORTED], len(issues))


def _nodes(root: tree.Expression) -> Iterator[tuple[tree.Expression, bool]]:
    """All nodes, and whether each stands within a call of ``format``, where types may mix."""
    pending, seen = [(root, False)], set()
    while pending:
        node, exempt = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node, exempt
        within = exempt or (isinstance(node, tree.Call) and node.function == _EXEMPT)
        pending.extend((child, within) for child in reversed(list(node.children())))


def _invalid_literals(nodes: list[tuple[tree.Expression, bool]], name: str) -> Iterator[errors.Issue]:
    for node, _ in nodes:
        if isinstance(node, tree.Call) and node.function == name and node.arguments:
            argument = node.arguments[0]
            if isinstance(argument, tree.Literal) and not _is_valid(name, argument):
                yield errors.Issue(f"invalid {name} argument", argument.offset)


def _is_valid(name: str, argument: tree.Literal) -> bool:
    checks: dict[tuple[str, type], Callable[..., object]] = {
        ("duration", str): times.parse_duration,
        ("timestamp", str): times.parse_timestamp,
        ("timestamp", int): int_to_timestamp,
        ("matches", str): lambda pattern: texts.matches("", pattern),
    }
    check = checks.get((name, argument.value.__class__))
    try:
        return check is None or check(argument.value) is not check
    except errors.EvaluationError:
        return False


def _mixed_list(node: tree.CreateList) -> Iterator[errors.Issue]:
    """The first element that has not the type of the first."""
    first: types.Type | None = None
    for position, element in enumerate(node.elements):
        given = _inner(element.type) if position in node.optional else element.type
        if first is None:
            first = given
        elif given != first:
            yield _mismatch(element, first, given)
            return


def _mixed_map(node: tree.CreateMap) -> Iterator[errors.Issue]:
    """All keys and values that have not the types of the first."""
    first: tuple[types.Type, types.Type] | None = None
    for entry in node.entries:
        assert entry.key is not None
        given = _inner(entry.value.type) if entry.optional else entry.value.type
        if first is None:
            first = (entry.key.type, given)
            continue
        if entry.key.type != first[0]:
            yield _mismatch(entry.key, first[0], entry.key.type)
        if given != first[1]:
            yield _mismatch(entry.value, first[1], given)


def _inner(optional: types.Type) -> types.Type:
    return optional.parameters[0] if optional.parameters else optional


def _mismatch(node: tree.Expression, expected: types.Type, given: types.Type) -> errors.Issue:
    return errors.Issue(f"expected type '{expected}' but found '{given}'", node.offset)
