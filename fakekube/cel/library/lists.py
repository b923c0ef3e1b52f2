"""Functions that make lists: ``slice``, ``flatten``, ``sort``, ``sortBy``, ``distinct``,
``reverse``, ``lists.range``.

Elements that are equal by their keys keep their order; upstream's sort leaves it open from 13
elements on. Upstream: version 3 of cel-go's ext/lists.go.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fakekube.cel import costs, macros, tree, types, values
from fakekube.cel.errors import EvaluationError, no_such_overload
from fakekube.cel.functions import Estimate, Function, Node, Sizes, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing, ordering, sets

MAX_RANGE = 1_000_000


def library() -> Library:
    """The functions, since 1.34."""
    elements, integer = types.list_of(types.parameter("T")), types.INT
    functions: tuple[Function, ...] = (
        function("slice", member(
            "list_slice", [elements, integer, integer], elements, cut, cost=_output_cost, estimate=_estimate_slice)),
        function(
            "flatten",
            member("list_flatten", [types.list_of(elements)], elements, flatten,
                   cost=_flatten_cost, estimate=_estimate_flatten),
            member("list_flatten_int", [types.LIST, integer], types.LIST, flatten,
                   cost=_flatten_cost, estimate=_estimate_flatten),
        ),
        function("sort", *(
            member(f"list_{kind.name}_sort", [types.list_of(kind)], types.list_of(kind), sort,
                   cost=_comparison_cost(0), estimate=_estimate_sort(kind, by_keys=False), dear=True)
            for _, kind in ordering.COMPARABLE
        )),
        function("@sortByAssociatedKeys", *(
            member(f"list_{kind.name}_sortByAssociatedKeys", [elements, types.list_of(kind)], elements, sort_by_keys,
                   cost=_comparison_cost(1), estimate=_estimate_sort(kind, by_keys=True), dear=True)
            for _, kind in ordering.COMPARABLE
        )),
        function("lists.range", overload(
            "lists_range", [integer], types.list_of(integer), number_range,
            cost=_output_cost, estimate=_estimate_range)),
        function("reverse", member(
            "list_reverse", [elements], elements, lambda listed: listed[::-1], cost=_output_cost, estimate=_estimate_reverse)),
        function("distinct", member(
            "list_distinct", [elements], elements, distinct, cost=_comparison_cost(0), estimate=_estimate_distinct, dear=True)),
    )
    functions = tuple(_unguarded(each) if each.name in _UNGUARDED else each for each in functions)
    return Library("lists", functions, macros=(macros.Macro("sortBy", 2, True, sort_by),))


_SORTED = "@__sortBy_input__"
_LISTS = (tree.CreateList, tree.Select, tree.Ident, tree.Comprehension, tree.Call)


def sort_by(offset: int, target: tree.Expression | None, arguments: list[tree.Expression]) -> tree.Expression:
    """``range.sortBy(x, key)``: the range gets a name, so that it is computed once."""
    assert target is not None
    if not isinstance(target, _LISTS):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise macros.MacroError(target.offset, message)
    keys = macros.map_elements(offset, tree.Ident(offset, _SORTED), arguments)
    ordered = tree.Call(offset, "@sortByAssociatedKeys", [keys], tree.Ident(offset, _SORTED))
    return macros.binding(offset, _SORTED, target, ordered)


def cut(elements: Sequence[Any], start: int, end: int) -> list[Any]:
    """The elements from one index to before another."""
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(elements) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return list(elements[start:end])


_UNGUARDED = ("flatten", "sort", "@sortByAssociatedKeys")


def _unguarded(of: Function) -> Function:
    """A function that looks at the types of its arguments itself."""
    return Function(of.name, tuple(replace(each, guarded=False) for each in of.overloads))


def flatten(elements: Any, *depths: Any) -> list[Any]:
    """The elements, with those of lists in their place, as deep as is said, or one deep."""
    depth = depths[0] if depths else 1
    if not isinstance(elements, list | tuple) or not isinstance(depth, int):
        given, kind = ", ".join(values.type_of(each).name for each in depths), values.type_of(elements)
        name = kind if kind.parameters else kind.name
        raise EvaluationError(f"no such overload: {name}.flatten({given})")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    pending = [(iter(elements), depth)]
    while pending:
        rest, level = pending[-1]
        for element in rest:
            if level > 0 and isinstance(element, list | tuple):
                pending.append((iter(element), level - 1))
                break
            flat.append(element)
        else:
            pending.pop()
    return flat


_RECEIVERS = (str, values.Duration, values.Timestamp)
"""What is asked itself about a call for which there is no overload; its error names nothing."""


def sort(elements: Any) -> list[Any]:
    """The elements in their order."""
    if not isinstance(elements, list | tuple):
        raise no_such_overload() if isinstance(elements, _RECEIVERS) else EvaluationError("no such overload: sort")
    return sort_by_keys(elements, elements)


def sort_by_keys(elements: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
    """The elements in the order of the keys that belong to them."""
    if not isinstance(elements, list | tuple):
        raise EvaluationError("no such overload: @sortByAssociatedKeys")
    if len(elements) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got "
            f"{len(elements)} and {len(keys)} elements respectively")
    if not keys:
        return list(elements)
    if not ordering.is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    kind = values.type_of(keys[0])
    if len(keys) > 1 and any(values.type_of(key) != kind for key in keys):
        raise EvaluationError("list elements must have the same type")

    def order(left: int, right: int) -> int:
        return ordering.compare(keys[left], keys[right]) or 0

    return [elements[index] for index in sorted(range(len(keys)), key=functools.cmp_to_key(order))]


def number_range(count: int) -> list[int]:
    """The numbers from 0 to before the count."""
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_RANGE:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})")
    return list(range(count))


def distinct(elements: Sequence[Any]) -> list[Any]:
    """The first of all elements that are equal."""
    seen = sets.Members()
    return [element for element in elements if seen.add(element)]


def _allocation_cost(size: int, factor: float) -> int:
    return min(int(size * (factor if factor >= 0 else 1.0)) + costing.CALL + costs.CREATE_LIST, costs.MAX)


def _output_cost(_arguments: Sequence[Any], result: Any) -> int:
    return _allocation_cost(values.size(result), 1)


def _flatten_cost(arguments: Sequence[Any], _result: Any) -> int:
    return _allocation_cost(values.size(arguments[0]), float(arguments[1]) if len(arguments) == 2 else 1.0)


def _comparison_cost(argument: int) -> Any:
    """What it costs to compare each element of an argument with each."""

    def cost(arguments: Sequence[Any], _result: Any) -> int:
        elements = arguments[argument]
        if not isinstance(elements, list | tuple):
            return 0
        factor = 2.0 + (costing.FACTOR if elements and isinstance(elements[0], str | bytes) else 0)
        return _allocation_cost(len(elements) ** 2, factor)

    return cost


def _allocation(size: costs.SizeEstimate, factor: float) -> costs.CallEstimate:
    return costs.CallEstimate(size.cost(factor).plus(costs.fixed(costing.CALL + costs.CREATE_LIST)), size)


def _estimate_slice(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    start = costing.literal_uint(arguments[0], 0)
    end = costing.literal_uint(arguments[1], sizes.size(receiver).max)
    return _allocation(costs.fixed_size((end - start) % 2**64), 1)


def _estimate_flatten(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    depth = costing.literal_uint(arguments[0], costs.MAX) if arguments else 1
    return _allocation(sizes.size(receiver), float(depth))


def _estimate_range(_sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
    return _allocation(costs.fixed_size(costing.literal_uint(arguments[0], costs.MAX)), 1)


def _estimate_reverse(sizes: Sizes, receiver: Node | None, _arguments: Sequence[Node]) -> costs.CallEstimate | None:
    return _allocation(sizes.size(receiver), 1) if receiver is not None else None


def _estimate_distinct(sizes: Sizes, receiver: Node | None, _arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    size = sizes.size(receiver)
    return _allocation(size.times(size), 2)


def _estimate_sort(kind: types.Type, *, by_keys: bool) -> Estimate:
    factor = 2 + (costing.FACTOR if kind in (types.STRING, types.BYTES) else 0)

    def estimate(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
        if receiver is None:
            return None
        size = sizes.size(arguments[0] if by_keys else receiver)
        return _allocation(size.times(size), factor)

    return estimate
