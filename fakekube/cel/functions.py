"""Functions that expressions may call.

A function has a name and overloads. An overload says which arguments it takes, what it gives, how
it is computed and what it costs, before and at run time.

Upstream: cel-go's common/decls; the costs as in Kubernetes' apiserver/pkg/cel/library/cost.go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fakekube.cel import costs, types


class Node(Protocol):
    """An argument of a call, as the estimate of its cost sees it."""

    @property
    def type(self) -> types.Type:
        """The type that the check found."""

    @property
    def path(self) -> tuple[str, ...]:
        """The way from a variable to it: names, ``@items``, ``@keys``, ``@values``; or empty."""

    @property
    def literal(self) -> Any:
        """The value of an argument that is a literal; None for every other."""


class Sizes(Protocol):
    """What the estimate of a cost may ask about the arguments."""

    def size(self, node: Node) -> costs.SizeEstimate:
        """The size of the value, as far as it is known."""

    def element(self, node: Node) -> Node | None:
        """The elements of a list as one argument; None if it is no list."""


RunTimeCost = Callable[[Sequence[Any], Any], int]  # arguments, result -> cost
Estimate = Callable[[Sizes, Node | None, Sequence[Node]], costs.CallEstimate | None]  # sizes, receiver, arguments


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function.

    ``arguments`` has the receiver first if there is one. ``implementation`` takes the values in
    that order and returns the result, or raises EvaluationError. ``cost`` counts the run-time cost,
    1 if there is none; ``estimate`` the cost before, 1 if there is none or it gives None.
    ``cross_type`` marks comparisons of numbers of different types, which old environments lack. One
    that is not ``guarded`` looks at the types of its values itself. What is ``dear`` takes longer
    than its arguments are large; its cost follows from them alone, and is looked at first.
    ``pausing``: the implementation is given a function as ``pause``, to be called now and then.
    """

    id: str
    arguments: tuple[types.Type, ...]
    result: types.Type
    implementation: Callable[..., Any]
    receiver: bool = False
    cost: RunTimeCost | None = None
    estimate: Estimate | None = None
    cross_type: bool = False
    guarded: bool = True
    dear: bool = False
    pausing: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its name, and the ways to call it in the order in which they are tried."""

    name: str
    overloads: tuple[Overload, ...]


def function(name: str, *overloads: Overload) -> Function:
    """A Function of these overloads."""
    return Function(name, overloads)


def overload(
    name: str,
    arguments: Sequence[types.Type],
    result: types.Type,
    implementation: Callable[..., Any],
    *,
    cost: RunTimeCost | None = None,
    estimate: Estimate | None = None,
) -> Overload:
    """An Overload that is called as ``f(a, b)``; ``name`` is its id."""
    return Overload(name, tuple(arguments), result, implementation, receiver=False, cost=cost, estimate=estimate)


def member(
    name: str,
    arguments: Sequence[types.Type],
    result: types.Type,
    implementation: Callable[..., Any],
    *,
    cost: RunTimeCost | None = None,
    estimate: Estimate | None = None,
    dear: bool = False,
    pausing: bool = False,
) -> Overload:
    """An Overload that is called as ``a.f(b)``, the receiver's type first; ``name`` is its id."""
    return Overload(
        name, tuple(arguments), result, implementation, receiver=True, cost=cost, estimate=estimate, dear=dear, pausing=pausing)
