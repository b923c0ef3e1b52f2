"""Lists as sets: ``sets.contains([1, 2], [2])``, ``sets.equivalent``, ``sets.intersects``.

Upstream: cel-go's ext/sets.go.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from fakekube.cel import costs, types, values
from fakekube.cel.functions import Estimate, Node, RunTimeCost, Sizes, function, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing


def library() -> Library:
    """The functions, since 1.29."""
    elements = types.list_of(types.parameter("T"))
    return Library("sets", tuple(
        function(f"sets.{name}", overload(
            f"list_sets_{name}_list", [elements, elements], types.BOOL, implementation,
            cost=_cost(factor), estimate=_estimate(factor)))
        for name, implementation, factor in (
            ("contains", contains, 1), ("equivalent", equivalent, 2), ("intersects", intersects, 1))
    ))


class Members:
    """The elements of a list, to be asked for quickly."""

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._by_digest: dict[Any, list[Any]] = {}
        for element in elements:
            self._by_digest.setdefault(values.digest(element), []).append(element)

    def __contains__(self, wanted: Any) -> bool:
        return any(values.equal(wanted, element) for element in self._by_digest.get(values.digest(wanted), ()))

    def add(self, element: Any) -> bool:
        """Whether it was not there, and is now."""
        if element in self:
            return False
        self._by_digest.setdefault(values.digest(element), []).append(element)
        return True


def contains(elements: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether all of the second list are in the first."""
    members = Members(elements)
    return all(element in members for element in wanted)


def intersects(elements: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether any of the second list is in the first."""
    members = Members(others)
    return any(element in members for element in elements)


def equivalent(elements: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether each list contains the other."""
    return contains(elements, others) and contains(others, elements)


def _cost(factor: int) -> RunTimeCost:
    def cost(arguments: Sequence[Any], _result: Any) -> int:
        return costing.CALL + values.size(arguments[0]) * values.size(arguments[1]) * factor

    return cost


def _estimate(factor: int) -> Estimate:
    def estimate(sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
        product = sizes.size(arguments[0]).times(sizes.size(arguments[1]))
        return costs.CallEstimate(product.cost(factor).plus(costs.fixed(costing.CALL)))

    return estimate
