"""Amounts of resources: thousandths of a CPU, units of all else, as plain integers.

They are those of 64 bits: sums stop at both ends, and a quota that is larger than any amount is
``UNLIMITED``, which no use makes smaller. Upstream: pkg/resources (amount.go, requests.go,
resource.go, resource_formatter.go, slice_requests.go), pkg/util/math. Left out: resources in
bytes that device classes declare.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fakekube.apimachinery import quantity
from fakekube.apimachinery.pod_resources import NOTHING, Sum, requests
from fakekube.apimachinery.quantity import MAX_INT64, NANO
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.memory import memoized

PODS = "pods"
UNLIMITED = MAX_INT64
_MIN_INT64 = -MAX_INT64 - 1
_MILLI = NANO // 1000
_HUGE_PAGES = "hugepages-"
_BINARY = ("memory", "ephemeral-storage")


class FlavorResource(NamedTuple):
    """One resource in one flavor."""

    flavor: str
    resource: str


Requests = dict[str, int]
"""Amounts by resource. Never changed once made: whoever wants another makes another."""

FlavorResourceQuantities = dict[FlavorResource, int]


def add(left: int, right: int) -> int:
    """The sum; all that UNLIMITED is added to is UNLIMITED."""
    if left == UNLIMITED or right == UNLIMITED:
        return UNLIMITED
    return _bounded(left + right)


def subtract(left: int, right: int) -> int:
    """The difference. UNLIMITED less any amount is UNLIMITED, and less UNLIMITED is nothing."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return _MIN_INT64 if right == UNLIMITED else _bounded(left - right)


def multiply(amount: int, factor: int) -> int:
    """The product."""
    return _bounded(amount * factor)


def _bounded(number: int) -> int:
    return number if _MIN_INT64 <= number <= MAX_INT64 else MAX_INT64 if number > 0 else _MIN_INT64


def resource_value(name: str, text: str | float) -> int:
    """What a request's quantity is as an amount, rounded up."""
    return _value(str(text), name)


@memoized(8192, longest=quantity.KEPT_CHARACTERS)
def _value(text: str, name: str) -> int:
    found = quantity.parse(text)
    return _bounded(found.milli_value if name == "cpu" else found.value)


def amount_from_quantity(name: str, text: str | float) -> int:
    """What a quota's quantity is as an amount; UNLIMITED when no amount is as large."""
    nano = quantity.parse(text).nano
    if nano >= (MAX_INT64 // 1000 if name == "cpu" else MAX_INT64) * NANO:
        return UNLIMITED
    return resource_value(name, text)


@memoized(8192, longest=512)
def resource_quantity(name: str, amount: int) -> str:
    """An amount as the quantity that upstream prints for it."""
    if name == "cpu":
        return quantity.render(amount * _MILLI)
    if name in _BINARY or name.startswith(_HUGE_PAGES):
        return quantity.canonical(quantity.render(amount * NANO, quantity.BINARY))
    return quantity.render(amount * NANO)


def amount_quantity(name: str, amount: int) -> str:
    """A quota as messages have it: the same, or that it has no limit."""
    return "<unlimited>" if amount == UNLIMITED else resource_quantity(name, amount)


def requests_from_resource_list(resources: Mapping[str, str] | None) -> Requests:
    """The amounts of a resource list."""
    return {name: resource_value(name, text) for name, text in (resources or NOTHING).items()}


def to_resource_list(amounts: Mapping[str, int]) -> dict[str, str]:
    """Amounts as a resource list, by name."""
    return {name: resource_quantity(name, amounts[name]) for name in sorted(amounts)}


def requests_from_sum(total: Sum) -> Requests:
    """A sum of quantities as amounts, rounded up."""
    return {name: _bounded(_whole(name, nano)) for name, (nano, _) in total.items()}


def requests_from_pod_spec(spec: ReadOnlyTree) -> Requests:
    """What a pod with this spec requests."""
    return requests_from_sum(requests({"spec": spec}))


def _whole(name: str, nano: int) -> int:
    unit = _MILLI if name == "cpu" else NANO
    whole = -(-abs(nano) // unit)
    return whole if nano >= 0 else -whole


def scaled(amounts: Requests, count: int, new_count: int) -> Requests:
    """What ``count`` pods request, for another number of pods."""
    if not count:
        return {name: 0 if not amount else multiply(amount, new_count) for name, amount in amounts.items()}
    return {name: multiply(quotient(amount, count), new_count) for name, amount in amounts.items()}


def quotient(amount: int, divisor: int) -> int:
    """The whole quotient, rounded towards nothing, as Go's."""
    whole = abs(amount) // abs(divisor)
    return whole if (amount < 0) == (divisor < 0) else -whole


def total(parts: Iterable[Requests]) -> Requests:
    """The sum of several."""
    result: Requests = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = add(result.get(name, 0), amount)
    return result


def greater_keys(amounts: Mapping[str, int], other: Mapping[str, int]) -> list[str]:
    """The resources that both name and the first has more of, by name."""
    return sorted(name for name, amount in amounts.items() if name in other and amount > other[name])


def in_order(names: Iterable[str]) -> list[str]:
    """Resources in the order in which upstream looks at them: that of their hashes."""
    return sorted(names, key=_order)


@memoized(1024, longest=512)
def _order(name: str) -> tuple[int, str]:
    """The 64-bit FNV-1a hash of a name, and the name."""
    result = 0xCBF29CE484222325
    for byte in name.encode():
        result = (result ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return result, name

