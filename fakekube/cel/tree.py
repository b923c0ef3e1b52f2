"""The tree of an expression: what the parser makes, the check completes and the rest reads.

``offset`` is the code point of the source that errors point at. The check fills ``type``; in a call
``overloads``; in an identifier, or a selection that turned out to be a qualified name,
``declaration``.

Upstream: common/ast/expr.go.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakekube.cel import types
from fakekube.cel.decltypes import DeclType

if TYPE_CHECKING:
    from fakekube.cel.functions import Overload


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """What an identifier stands for: a variable, or a constant if ``constant`` is set.

    ``decl`` is what a schema says of it, if one does.
    """

    name: str
    type: types.Type
    value: Any = None
    constant: bool = False
    decl: DeclType | None = None


class Expression:
    """Any node. ``depth`` counts what nests in the source, for the limit of the parser."""

    __slots__ = ("depth", "offset", "type")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.depth = 0
        self.type = types.DYN

    def children(self) -> Iterator["Expression"]:
        """The parts, in the order of the source."""
        return iter(())


class Literal(Expression):
    """A constant."""

    __slots__ = ("value",)

    def __init__(self, offset: int, value: Any) -> None:
        super().__init__(offset)
        self.value = value


class Ident(Expression):
    """A name; one with a leading dot means the outermost scope."""

    __slots__ = ("declaration", "name")

    def __init__(self, offset: int, name: str) -> None:
        super().__init__(offset)
        self.name = name
        self.declaration: Declaration | None = None


class Select(Expression):
    """``operand.field``, or ``has(operand.field)`` if ``test_only``."""

    __slots__ = ("declaration", "field", "operand", "test_only")

    def __init__(self, offset: int, operand: Expression, field: str, *, test_only: bool = False) -> None:
        super().__init__(offset)
        self.operand = operand
        self.field = field
        self.test_only = test_only
        self.declaration: Declaration | None = None

    def children(self) -> Iterator[Expression]:
        """The operand."""
        yield self.operand


class Call(Expression):
    """A call of a function or an operator, with a receiver or without.

    ``&&`` and ``||`` take any number of arguments; ``growing`` while the parser may add more.
    """

    __slots__ = ("arguments", "function", "growing", "overloads", "target")

    def __init__(self, offset: int, function: str, arguments: list[Expression], target: Expression | None = None) -> None:
        super().__init__(offset)
        self.function = function
        self.arguments = arguments
        self.target = target
        self.overloads: tuple[Overload, ...] = ()
        self.growing = False

    def children(self) -> Iterator[Expression]:
        """The receiver, if there is one, and the arguments."""
        if self.target is not None:
            yield self.target
        yield from self.arguments


class CreateList(Expression):
    """``[a, ?b]``; ``optional`` holds the indexes of the elements with a question mark."""

    __slots__ = ("elements", "optional")

    def __init__(self, offset: int, elements: list[Expression], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(offset)
        self.elements = elements
        self.optional = optional

    def children(self) -> Iterator[Expression]:
        """The elements."""
        return iter(self.elements)


class Entry:
    """``key: value`` in a map, ``name: value`` in an object (``key`` is None then)."""

    __slots__ = ("key", "name", "offset", "optional", "value")

    def __init__(self, offset: int, key: Expression | None, name: str, value: Expression, *, optional: bool) -> None:
        self.offset = offset
        self.key = key
        self.name = name
        self.value = value
        self.optional = optional


class CreateMap(Expression):
    """``{a: b, ?c: d}``."""

    __slots__ = ("entries",)

    def __init__(self, offset: int, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.entries = entries

    def children(self) -> Iterator[Expression]:
        """Keys and values in turn."""
        for entry in self.entries:
            if entry.key is not None:
                yield entry.key
            yield entry.value


class CreateStruct(Expression):
    """``Name{field: value}``."""

    __slots__ = ("entries", "name")

    def __init__(self, offset: int, name: str, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.name = name
        self.entries = entries

    def children(self) -> Iterator[Expression]:
        """The values of the fields."""
        return (entry.value for entry in self.entries)


class Comprehension(Expression):
    """A loop over a list or a map that folds into an accumulator; made by macros only."""

    __slots__ = ("accumulator", "condition", "initial", "range", "result", "step", "variable", "variable2")

    def __init__(
        self,
        offset: int,
        range_: Expression,
        variable: str,
        accumulator: str,
        initial: Expression,
        condition: Expression,
        step: Expression,
        result: Expression,
        variable2: str | None = None,
    ) -> None:
        super().__init__(offset)
        self.range = range_
        self.variable = variable
        self.variable2 = variable2
        self.accumulator = accumulator
        self.initial = initial
        self.condition = condition
        self.step = step
        self.result = result

    def children(self) -> Iterator[Expression]:
        """The range, the initial value, the condition, the step and the result."""
        yield from (self.range, self.initial, self.condition, self.step, self.result)


def bottom_up(root: Expression, parts: Callable[[Expression], Iterable[Expression]]) -> list[Expression]:
    """The nodes below a node, each after its parts, the node itself last; no recursion."""
    order: list[Expression] = []
    pending = [root]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(parts(node))
    order.reverse()
    return order


def qualified_name(node: Expression) -> str | None:
    """``a.b.c`` if that is what the node is, a name with selections and nothing else."""
    names = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name)
    return ".".join(reversed(names))


def is_binding(node: Comprehension) -> bool:
    """Whether a loop only gives a name to a value."""
    return (
        isinstance(node.range, CreateList)
        and not node.range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
    )
