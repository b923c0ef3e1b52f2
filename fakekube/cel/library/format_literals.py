"""Whether the clauses of a literal template take the arguments that a literal list gives them.

Upstream: the validator in cel-go's ext/formatting.go.
"""

from collections.abc import Iterator, Sequence

from fakekube.cel import errors, tree
from fakekube.cel.library import formatting
from fakekube.cel.types import Kind

_NUMBERS = frozenset({Kind.INT, Kind.UINT})
_TAKEN = {
    "d": _NUMBERS,
    "f": frozenset({Kind.DOUBLE, Kind.STRING}),
    "e": frozenset({Kind.DOUBLE, Kind.STRING}),
    "b": _NUMBERS | {Kind.BOOL},
    "x": _NUMBERS | {Kind.STRING, Kind.BYTES},
    "X": _NUMBERS | {Kind.STRING, Kind.BYTES},
    "o": _NUMBERS,
    "s": _NUMBERS | {
        Kind.LIST, Kind.MAP, Kind.DOUBLE, Kind.BOOL, Kind.STRING, Kind.TIMESTAMP, Kind.BYTES, Kind.DURATION, Kind.TYPE, Kind.NULL,
    },
}


class _Refused(Exception):
    """An argument that its clause does not take."""

    def __init__(self, node: tree.Expression, clause: str) -> None:
        super().__init__(f"error during formatting: {formatting.refusal(clause.lower(), node.type.name)}")
        self.offset = node.offset


def validate(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """What is wrong with the templates of an expression."""
    for node in parts:
        if isinstance(node, tree.Call) and node.function == "format" and isinstance(node.target, tree.Literal):
            listed = node.arguments[0] if len(node.arguments) == 1 else None
            if isinstance(node.target.value, str) and isinstance(listed, tree.CreateList):
                yield from _template(node, node.target.value, listed.elements)


def _template(node: tree.Call, template: str, arguments: list[tree.Expression]) -> Iterator[errors.Issue]:
    clauses = formatting.parse(template, len(arguments), checked=True)
    try:
        for clause in clauses:
            if not isinstance(clause, str):
                _check(clause[0], arguments[clause[2]])
    except errors.EvaluationError as error:
        yield errors.Issue(str(error), node.offset)
        return
    except _Refused as refused:
        yield errors.Issue(str(refused), refused.offset)
        return
    if len(arguments) > clauses.used:
        counted = f"(expected {clauses.used}, got {len(arguments)})"
        yield errors.Issue(f"too many arguments supplied to string.format {counted}", node.offset)


def _check(clause: str, argument: tree.Expression) -> None:
    pending = [argument]
    while pending:
        node = pending.pop()
        if node.type.kind is not Kind.DYN and node.type.kind not in _TAKEN[clause]:
            raise _Refused(node, clause)
        if clause == "s":
            pending.extend(_parts(node))


def _parts(node: tree.Expression) -> list[tree.Expression]:
    """What a literal list or map is made of, the first last."""
    if isinstance(node, tree.CreateList | tree.CreateMap):
        return list(node.children())[::-1]
    return []
