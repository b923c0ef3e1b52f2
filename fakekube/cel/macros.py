"""Macros: calls that the parser rewrites into loops, presence tests and conditions.

Upstream: parser/macro.go, cel/library.go (optMap, optFlatMap), ext/comprehensions.go and
ext/bindings.go.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fakekube.cel import tree

ACCUMULATOR = "@result"
OLD_ACCUMULATOR = "__result__"
UNUSED = "#unused"
MAP_INSERT = "cel.@mapInsert"

ANY_NUMBER = -1


class MacroError(Exception):
    """The arguments of a macro are not what it takes; ``offset`` is where."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


Expander = Callable[[int, tree.Expression | None, list[tree.Expression]], tree.Expression | None]


@dataclass(frozen=True, slots=True)
class Macro:
    """A rewriting of calls of ``name`` with so many arguments (or ANY_NUMBER).

    ``expand`` takes the offset of the call, the receiver if it is a macro with one, and the
    arguments. It returns the new expression, or None if the call is none of its own. It raises
    MacroError.
    """

    name: str
    arguments: int
    receiver: bool
    expand: Expander


def variable_name(node: tree.Expression, message: str) -> str:
    """The name that a macro binds. Raises MacroError."""
    if not isinstance(node, tree.Ident):
        raise MacroError(node.offset, message)
    if node.name in {ACCUMULATOR, OLD_ACCUMULATOR}:
        raise MacroError(node.offset, "iteration variable overwrites accumulator variable")
    return node.name


def has(offset: int, _target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``has(a.b)``."""
    (argument,) = arguments
    if not isinstance(argument, tree.Select):
        raise MacroError(argument.offset, "invalid argument to has() macro")
    return tree.Select(offset, argument.operand, argument.field, test_only=True)


def _variables(arguments: list[tree.Expression], message: str) -> tuple[str, str | None]:
    """The names of one or two variables: as many as there are before the last argument."""
    first = variable_name(arguments[0], message)
    if len(arguments) == 1:
        return first, None
    if not isinstance(arguments[1], tree.Ident):
        raise MacroError(arguments[1].offset, message)
    if arguments[1].name == first:
        raise MacroError(arguments[1].offset, f"duplicate variable name: {first}")
    return first, variable_name(arguments[1], message)


def quantifier_all(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.all(x, predicate)`` and ``range.all(i, x, predicate)``."""
    assert target is not None
    variable, variable2 = _variables(arguments[:-1], "argument must be a simple name")
    return tree.Comprehension(
        offset,
        target,
        variable,
        ACCUMULATOR,
        tree.Literal(offset, True),
        tree.Call(offset, "@not_strictly_false", [tree.Ident(offset, ACCUMULATOR)]),
        tree.Call(offset, "_&&_", [tree.Ident(offset, ACCUMULATOR), arguments[-1]]),
        tree.Ident(offset, ACCUMULATOR),
        variable2,
    )


def quantifier_exists(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.exists(x, predicate)`` and ``range.exists(i, x, predicate)``."""
    assert target is not None
    variable, variable2 = _variables(arguments[:-1], "argument must be a simple name")
    accumulator = tree.Ident(offset, ACCUMULATOR)
    return tree.Comprehension(
        offset,
        target,
        variable,
        ACCUMULATOR,
        tree.Literal(offset, False),
        tree.Call(offset, "@not_strictly_false", [tree.Call(offset, "!_", [accumulator])]),
        tree.Call(offset, "_||_", [tree.Ident(offset, ACCUMULATOR), arguments[-1]]),
        tree.Ident(offset, ACCUMULATOR),
        variable2,
    )


def quantifier_exists_one(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.exists_one(x, predicate)`` and ``range.existsOne(i, x, predicate)``."""
    assert target is not None
    variable, variable2 = _variables(arguments[:-1], "argument must be a simple name")
    incremented = tree.Call(offset, "_+_", [tree.Ident(offset, ACCUMULATOR), tree.Literal(offset, 1)])
    return tree.Comprehension(
        offset,
        target,
        variable,
        ACCUMULATOR,
        tree.Literal(offset, 0),
        tree.Literal(offset, True),
        tree.Call(offset, "_?_:_", [arguments[-1], incremented, tree.Ident(offset, ACCUMULATOR)]),
        tree.Call(offset, "_==_", [tree.Ident(offset, ACCUMULATOR), tree.Literal(offset, 1)]),
        variable2,
    )


def _collected(
    offset: int,
    target: tree.Expression | None,
    variables: tuple[str, str | None],
    element: tree.Expression,
    predicate: tree.Expression | None,
) -> tree.Expression:
    """A loop that appends an element each time, or only where the predicate holds."""
    assert target is not None
    step: tree.Expression = tree.Call(
        offset, "_+_", [tree.Ident(offset, ACCUMULATOR), tree.CreateList(offset, [element])]
    )
    if predicate is not None:
        step = tree.Call(offset, "_?_:_", [predicate, step, tree.Ident(offset, ACCUMULATOR)])
    return tree.Comprehension(
        offset,
        target,
        variables[0],
        ACCUMULATOR,
        tree.CreateList(offset, []),
        tree.Literal(offset, True),
        step,
        tree.Ident(offset, ACCUMULATOR),
        variables[1],
    )


def map_elements(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.map(x, transform)`` and ``range.map(x, predicate, transform)``."""
    variable = variable_name(arguments[0], "argument is not an identifier")
    predicate = arguments[1] if len(arguments) == 3 else None
    return _collected(offset, target, (variable, None), arguments[-1], predicate)


def filter_elements(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.filter(x, predicate)``."""
    variable = variable_name(arguments[0], "argument is not an identifier")
    return _collected(offset, target, (variable, None), arguments[0], arguments[1])


def transform_list(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.transformList(i, x, transform)``, with a predicate before it or without."""
    variables = _variables(arguments[:2], "argument must be a simple name")
    return _collected(offset, target, variables, arguments[-1], arguments[2] if len(arguments) == 4 else None)


def _inserted(
    offset: int, target: tree.Expression | None, arguments: list[tree.Expression], *, whole_entry: bool
) -> tree.Expression:
    """A loop that inserts into a map under the first variable, or what a map literal says."""
    assert target is not None
    variable, variable2 = _variables(arguments[:2], "argument must be a simple name")
    inserted: list[tree.Expression] = [tree.Ident(offset, ACCUMULATOR)]
    if not whole_entry:
        inserted.append(tree.Ident(offset, variable))
    step: tree.Expression = tree.Call(offset, MAP_INSERT, [*inserted, arguments[-1]])
    if len(arguments) == 4:
        step = tree.Call(offset, "_?_:_", [arguments[2], step, tree.Ident(offset, ACCUMULATOR)])
    return tree.Comprehension(
        offset,
        target,
        variable,
        ACCUMULATOR,
        tree.CreateMap(offset, []),
        tree.Literal(offset, True),
        step,
        tree.Ident(offset, ACCUMULATOR),
        variable2,
    )


def transform_map(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.transformMap(k, v, transform)``, with a predicate before it or without."""
    return _inserted(offset, target, arguments, whole_entry=False)


def transform_map_entry(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.transformMapEntry(k, v, {key: value})``, with a predicate before it or without."""
    return _inserted(offset, target, arguments, whole_entry=True)


def binding(offset: int, name: str, value: tree.Expression, body: tree.Expression) -> tree.Expression:
    """``body`` with a name for a value in it: a loop that never runs."""
    return tree.Comprehension(
        offset,
        tree.CreateList(offset, []),
        UNUSED,
        name,
        value,
        tree.Literal(offset, False),
        tree.Ident(offset, name),
        body,
    )


def bind(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression | None:
    """``cel.bind(name, value, body)``."""
    if not isinstance(target, tree.Ident) or target.name != "cel":
        return None
    if not isinstance(arguments[0], tree.Ident):
        raise MacroError(arguments[0].offset, "cel.bind() variable names must be simple identifiers")
    return binding(offset, arguments[0].name, arguments[1], arguments[2])


def _optional_map(
    offset: int, target: tree.Expression | None, arguments: list[tree.Expression], name: str, *, flat: bool
) -> tree.Expression:
    assert target is not None
    variable = arguments[0]
    if not isinstance(variable, tree.Ident):
        raise MacroError(variable.offset, f"{name}() variable name must be a simple identifier")
    # the receiver stands in the tree twice, as one node: copies would double along a chain
    bound = binding(offset, variable.name, tree.Call(offset, "value", [], target), arguments[1])
    mapped = bound if flat else tree.Call(offset, "optional.of", [bound])
    present = tree.Call(offset, "hasValue", [], target)
    return tree.Call(offset, "_?_:_", [present, mapped, tree.Call(offset, "optional.none", [])])


def optional_map(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``optional.optMap(x, transform)``."""
    return _optional_map(offset, target, arguments, "optMap", flat=False)


def optional_flat_map(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``optional.optFlatMap(x, transform)``, where the transform gives an optional."""
    return _optional_map(offset, target, arguments, "optFlatMap", flat=True)


STANDARD = (
    Macro("has", 1, False, has),
    Macro("all", 2, True, quantifier_all),
    Macro("exists", 2, True, quantifier_exists),
    Macro("exists_one", 2, True, quantifier_exists_one),
    Macro("existsOne", 2, True, quantifier_exists_one),
    Macro("map", 2, True, map_elements),
    Macro("map", 3, True, map_elements),
    Macro("filter", 2, True, filter_elements),
)
OPTIONAL = (
    Macro("optMap", 2, True, optional_map),
    Macro("optFlatMap", 2, True, optional_flat_map),
)
TWO_VARIABLES = (
    Macro("all", 3, True, quantifier_all),
    Macro("exists", 3, True, quantifier_exists),
    Macro("existsOne", 3, True, quantifier_exists_one),
    Macro("exists_one", 3, True, quantifier_exists_one),
    Macro("transformList", 3, True, transform_list),
    Macro("transformList", 4, True, transform_list),
    Macro("transformMap", 3, True, transform_map),
    Macro("transformMap", 4, True, transform_map),
    Macro("transformMapEntry", 3, True, transform_map_entry),
    Macro("transformMapEntry", 4, True, transform_map_entry),
)
BINDINGS = (Macro("bind", 3, True, bind),)
