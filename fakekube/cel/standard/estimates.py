"""What calls of the standard library cost before run time, by the sizes of their operands.

Upstream: functionCost of checker/cost.go; for values of Kubernetes' types EstimateCallCost of
apiserver/pkg/cel/library/cost.go.
"""

from collections.abc import Callable, Sequence

from fakekube.cel import costs
from fakekube.cel.costs import MAX, CallEstimate, CostEstimate, SizeEstimate, fixed, fixed_size
from fakekube.cel.types import Type

Sizes = Sequence[SizeEstimate]
FACTOR = costs.STRING_TRAVERSAL_FACTOR
CONCATENATIONS = frozenset({"add_string", "add_bytes", "add_list"})

_NOMINAL = frozenset(
    {
        *("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"),
        *(f"kubernetes.authorization.{name}" for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")),
    }
)
_LONGEST_FORMAT = 64


def of_sizes(overload: str, sizes: Sizes) -> CallEstimate:
    """What a call of an overload costs; 1 if nobody says otherwise."""
    found = _BY_OVERLOAD.get(overload)
    return CallEstimate(fixed(1)) if found is None else found(sizes)


def same_type(of: Type, right: SizeEstimate | None) -> CostEstimate | None:
    """What ``==`` of two values of a type of Kubernetes costs; None for any other type."""
    if of.name in _NOMINAL:
        return fixed(1)
    if of.name == "kubernetes.NamedFormat":
        return CostEstimate(1, _LONGEST_FORMAT).scaled(FACTOR)
    if of.name == "kubernetes.URL":
        return CostEstimate(1, 1 if right is None else right.max).scaled(FACTOR)
    return None


def _walk(sizes: Sizes) -> CallEstimate:
    return CallEstimate(sizes[-1].cost(FACTOR))


def _to_bytes(sizes: Sizes) -> CallEstimate:
    largest = sizes[0].max * 4 & MAX  # upstream's product wraps around here
    return CallEstimate(sizes[0].cost(FACTOR), SizeEstimate(sizes[0].min, largest))


def _to_text(sizes: Sizes) -> CallEstimate:
    return CallEstimate(sizes[0].cost(FACTOR), SizeEstimate(sizes[0].min // 4, sizes[0].max))


def _in_list(sizes: Sizes) -> CallEstimate:
    return CallEstimate(sizes[1].cost(1))


def _matches(sizes: Sizes) -> CallEstimate:
    walked = sizes[0].plus(fixed_size(1)).cost(FACTOR)
    return CallEstimate(walked.times(sizes[1].cost(costs.REGEX_LENGTH_FACTOR)))


def _contains(sizes: Sizes) -> CallEstimate:
    return CallEstimate(sizes[0].cost(FACTOR).times(sizes[1].cost(FACTOR)))


def _compared(sizes: Sizes) -> CallEstimate:
    smaller = min(sizes[0].max, sizes[1].max)
    return CallEstimate(CostEstimate(min(smaller, 1), smaller).scaled(FACTOR))


def _added_texts(sizes: Sizes) -> CallEstimate:
    size = sizes[0].plus(sizes[1])
    return CallEstimate(size.cost(FACTOR), size)


def _added_lists(sizes: Sizes) -> CallEstimate:
    return CallEstimate(fixed(1), sizes[0].plus(sizes[1]))


_COMPARISONS = ("less", "less_equals", "greater", "greater_equals")
_BY_OVERLOAD: dict[str, Callable[[Sizes], CallEstimate]] = {
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_text,
    "starts_with_string": _walk,
    "ends_with_string": _walk,
    "in_list": _in_list,
    "matches": _matches,
    "matches_string": _matches,
    "contains_string": _contains,
    "add_string": _added_texts,
    "add_bytes": _added_texts,
    "add_list": _added_lists,
    "equals": _compared,
    "not_equals": _compared,
    **{f"{name}_{of}": _compared for name in _COMPARISONS for of in ("string", "bytes")},
}
