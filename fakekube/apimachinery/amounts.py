"""Amounts of resources, and sums of them; ``pod_resources`` adds up those of a pod.

Upstream: apiserver/pkg/quota/v1/resources.go.
"""

from collections.abc import Iterable, Mapping

from fakekube.apimachinery import quantity
from fakekube.apimachinery.quantity import Quantity

Amounts = dict[str, Quantity]


def read(resources: Mapping[str, str] | None) -> Amounts:
    """The amounts of a resource list."""
    return {name: quantity.parse(text) for name, text in (resources or {}).items()}


def amount(nano: int, form: str) -> Quantity:
    """An amount in billionths, written in one of quantity's ways."""
    return Quantity(nano, form, quantity.render(nano, form))


def count(number: int) -> Quantity:
    """A number of things."""
    return quantity.parse(str(number))


def add(left: Amounts, right: Amounts) -> Amounts:
    """The sum, resource by resource; of two ways of writing the left one is kept, unless it is that
    of nothing.
    """
    result = dict(left)
    for name, more in right.items():
        present = result.get(name)
        if not present or not present.nano:
            result[name] = more
        else:
            result[name] = amount(present.nano + more.nano, present.format)
    return result


def largest(left: Amounts, right: Amounts) -> Amounts:
    """The larger of two, resource by resource."""
    result = dict(left)
    for name, other in right.items():
        if name not in result or other.nano > result[name].nano:
            result[name] = other
    return result


def spent(new: Amounts, old: Amounts) -> Amounts:
    """What ``new`` has more than ``old``, never less than nothing."""
    result = {}
    for name, now in new.items():
        before = old[name].nano if name in old else 0
        result[name] = amount(max(now.nano - before, 0), now.format)
    return result


def pick(amounts: Amounts, names: Iterable[str]) -> Amounts:
    """Those of these names."""
    return {name: amounts[name] for name in names if name in amounts}


def shown(amounts: Amounts) -> str:
    """``cpu=1,pods=2``, by name."""
    return ",".join(f"{name}={amounts[name].text}" for name in sorted(amounts))


def texts(amounts: Amounts) -> dict[str, str]:
    """As a resource list has them, by name."""
    return {name: amounts[name].text for name in sorted(amounts)}
