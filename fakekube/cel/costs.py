"""Amounts of cost and size, and their arithmetic: ranges of unsigned 64-bit numbers that saturate.

Upstream: the estimates of cel-go's checker/cost.go and the constants of common/cost.go.
"""

import math
from typing import NamedTuple

SELECT_AND_IDENT = 1
CREATE_LIST = 10
CREATE_MAP = 30
CREATE_STRUCT = 40
STRING_TRAVERSAL_FACTOR = 0.1
REGEX_LENGTH_FACTOR = 0.25

MAX = 2**64 - 1


def scaled(amount: int, factor: float) -> int:
    """The amount times the factor, rounded up."""
    product = amount * factor
    return MAX if product >= MAX else math.ceil(product)


class CostEstimate(NamedTuple):
    """The least and the most that something may cost."""

    min: int
    max: int

    def plus(self, other: "CostEstimate") -> "CostEstimate":
        """Both, one after the other."""
        return CostEstimate(min(self.min + other.min, MAX), min(self.max + other.max, MAX))

    def times(self, other: "CostEstimate") -> "CostEstimate":
        """One for each unit of the other."""
        return CostEstimate(min(self.min * other.min, MAX), min(self.max * other.max, MAX))

    def scaled(self, factor: float) -> "CostEstimate":
        """As often as the factor says, rounded up."""
        return CostEstimate(scaled(self.min, factor), scaled(self.max, factor))

    def union(self, other: "CostEstimate") -> "CostEstimate":
        """Either of them."""
        return CostEstimate(min(self.min, other.min), max(self.max, other.max))


class SizeEstimate(NamedTuple):
    """The least and the greatest size that a value may have."""

    min: int
    max: int

    def plus(self, other: "SizeEstimate") -> "SizeEstimate":
        """The size of both together."""
        return SizeEstimate(min(self.min + other.min, MAX), min(self.max + other.max, MAX))

    def times(self, other: "SizeEstimate") -> "SizeEstimate":
        """The size of one for each unit of the other."""
        return SizeEstimate(min(self.min * other.min, MAX), min(self.max * other.max, MAX))

    def union(self, other: "SizeEstimate") -> "SizeEstimate":
        """Either of them."""
        return SizeEstimate(min(self.min, other.min), max(self.max, other.max))

    def cost(self, factor: float) -> CostEstimate:
        """What a walk over it costs, at so much a unit."""
        return CostEstimate(scaled(self.min, factor), scaled(self.max, factor))

    def cost_each(self, cost: CostEstimate) -> CostEstimate:
        """What it costs to spend this much on each unit."""
        return CostEstimate(min(self.min * cost.min, MAX), min(self.max * cost.max, MAX))


class CallEstimate(NamedTuple):
    """What a call costs besides its arguments, and how large its result is if that is known."""

    cost: CostEstimate
    result_size: SizeEstimate | None = None


UNKNOWN_SIZE = SizeEstimate(0, MAX)


def fixed(amount: int) -> CostEstimate:
    """A cost that is known."""
    return CostEstimate(amount, amount)


def fixed_size(amount: int) -> SizeEstimate:
    """A size that is known."""
    return SizeEstimate(amount, amount)
