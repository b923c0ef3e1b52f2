"""What calls of Kubernetes' functions cost: before, by sizes; at run time, by values.

Upstream: apiserver/pkg/cel/library/cost.go, and the costs of cel-go's ext/costs.go.
"""

from collections.abc import Sequence
from typing import Any

from fakekube.cel import costs, values
from fakekube.cel.functions import Estimate, Node, RunTimeCost, Sizes

CALL = 1
FACTOR = costs.STRING_TRAVERSAL_FACTOR
ONE = costs.CallEstimate(costs.fixed(1))


def nominal_cost(_arguments: Sequence[Any], _result: Any) -> int:
    """What reading a part of a value costs."""
    return 1


def nominal(_sizes: Sizes, _receiver: Node | None, _arguments: Sequence[Node]) -> costs.CallEstimate:
    """The same, before."""
    return ONE


def walk_cost(factor: float = FACTOR) -> RunTimeCost:
    """What one walk over the first argument costs, at so much a unit."""

    def cost(arguments: Sequence[Any], _result: Any) -> int:
        return costs.scaled(values.size(arguments[0]), factor)

    return cost


def walk(factor: float = FACTOR, *, sized: bool = False) -> Estimate:
    """The same, before; ``sized`` if the result is as large as what was walked over."""

    def estimate(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
        size = sizes.size(receiver if receiver is not None else arguments[0])
        return costs.CallEstimate(size.cost(factor), size if sized else None)

    return estimate


def traversal(value: Any) -> int:
    """What it costs to look at everything in a value once."""
    if isinstance(value, str):
        return int(len(value.encode(errors="replace")) * FACTOR)
    if isinstance(value, bytes):
        return int(len(value) * FACTOR)
    if isinstance(value, list | tuple):
        return sum(map(traversal, value))
    if isinstance(value, dict):
        return sum(traversal(values.key_value(key)) + traversal(held) for key, held in value.items())
    return 1


def traversal_cost(arguments: Sequence[Any], _result: Any) -> int:
    """What it costs to look at everything in the first argument."""
    return traversal(arguments[0])


def literal_uint(node: Node, default: int) -> int:
    """The number that an argument is if it is a literal, no less than 0; else the default."""
    value = node.literal
    return max(value, 0) if value.__class__ is int else default
