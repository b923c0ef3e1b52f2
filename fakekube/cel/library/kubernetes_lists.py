"""Kubernetes' functions of lists: ``[1, 2].sum()``, ``isSorted``, ``min``, ``max``, ``indexOf``.

Upstream: apiserver/pkg/cel/library/lists.go.
"""

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fakekube.cel import costs, types, values
from fakekube.cel.errors import EvaluationError, no_such_overload
from fakekube.cel.functions import Function, Node, Sizes, function, member
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing, ordering
from fakekube.cel.standard import arithmetic

_SUMMABLE: tuple[tuple[str, types.Type, Any, Callable[[Any, Any], Any]], ...] = (
    ("int", types.INT, 0, arithmetic.add_ints),
    ("uint", types.UINT, values.Uint(0), arithmetic.add_uints),
    ("double", types.DOUBLE, 0.0, operator.add),
    ("duration", types.DURATION, values.Duration(0), arithmetic.add_durations),
)


def library(version: int) -> Library:
    """The functions of a version: 0 until 1.36, 1 with ``includes`` since."""
    element = types.parameter("A")
    walked: dict[str, Any] = {"cost": costing.traversal_cost, "estimate": estimate}
    functions: tuple[Function, ...] = (
        function("isSorted", *(
            member(f"list_{name}_is_sorted_bool", [types.list_of(kind)], types.BOOL, is_sorted, **walked)
            for name, kind in ordering.COMPARABLE
        )),
        function("sum", *(
            member(f"list_{name}_sum_{name}", [types.list_of(kind)], kind, _sum_from(zero, add), **walked)
            for name, kind, zero, add in _SUMMABLE
        )),
        *(function(which, *(
            member(f"list_{name}_{which}_{name}", [types.list_of(kind)], kind, extreme, **walked)
            for name, kind in ordering.COMPARABLE
        )) for which, extreme in (("max", greatest), ("min", least))),
        function("indexOf", member(
            "list_a_index_of_int", [types.list_of(element), element], types.INT, index_of, **walked)),
        function("lastIndexOf", member(
            "list_a_last_index_of_int", [types.list_of(element), element], types.INT, last_index_of, **walked)),
    )
    if version >= 1:
        functions += (function("includes", member(
            "list_includes_dyn_dyn", [types.DYN, types.DYN], types.BOOL, includes,
            cost=costing.traversal_cost, estimate=_estimate_includes)),)
    return Library(f"kubernetes lists {version}", functions)


def is_sorted(elements: Sequence[Any]) -> bool:
    """Whether no element is greater than the next."""
    if not all(map(ordering.is_comparable, elements)):
        raise no_such_overload()
    return all(ordering.compare(left, right) != 1 for left, right in itertools.pairwise(elements))


def _sum_from(zero: Any, add: Callable[[Any, Any], Any]) -> Callable[[Iterable[Any]], Any]:
    def total(elements: Iterable[Any]) -> Any:
        found = zero
        for element in elements:
            if element.__class__ is not found.__class__:
                raise no_such_overload()
            found = add(found, element)
        return found

    return total


def least(elements: Iterable[Any]) -> Any:
    """The least element, the first of equal ones."""
    return _extreme(elements, "min", 1)


def greatest(elements: Iterable[Any]) -> Any:
    """The greatest element, the first of equal ones."""
    return _extreme(elements, "max", -1)


def _extreme(elements: Iterable[Any], name: str, worse: int) -> Any:
    found: list[Any] = []
    for element in elements:
        if not ordering.is_comparable(element):
            raise no_such_overload()
        if not found or ordering.compare(found[0], element) == worse:
            found = [element]
    if not found:
        raise EvaluationError(f"{name} called on empty list")
    return found[0]


def index_of(elements: Sequence[Any], wanted: Any) -> int:
    """Where an element that is equal first stands; -1 if nowhere."""
    return next((index for index, element in enumerate(elements) if values.equal(element, wanted)), -1)


def last_index_of(elements: Sequence[Any], wanted: Any) -> int:
    """Where an element that is equal last stands; -1 if nowhere."""
    return next((index for index in reversed(range(len(elements))) if values.equal(elements[index], wanted)), -1)


def includes(target: Any, wanted: Any) -> bool:
    """Whether a list has an element that is equal; of anything else, whether it is equal."""
    if isinstance(target, list | tuple):
        return index_of(target, wanted) >= 0
    return values.equal(target, wanted)


def estimate(sizes: Sizes, receiver: Node | None, _arguments: Sequence[Node]) -> costs.CallEstimate | None:
    """One for each element, and a walk over each that is a text.

    What is not known to be a list is taken for a text.
    """
    if receiver is None:
        return None
    element = sizes.element(receiver)
    if element is None:
        return costs.CallEstimate(sizes.size(receiver).cost(costing.FACTOR))
    each = costs.fixed(1)
    if element.type.kind in (types.Kind.STRING, types.Kind.BYTES):
        each = each.plus(sizes.size(element).cost(costing.FACTOR))
    return costs.CallEstimate(sizes.size(receiver).cost_each(each))


def _estimate_includes(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    """The same; what is not known to be a list is taken for one."""
    if receiver is not None and sizes.element(receiver) is None:
        return costs.CallEstimate(sizes.size(receiver).cost(1))
    return estimate(sizes, receiver, arguments)
