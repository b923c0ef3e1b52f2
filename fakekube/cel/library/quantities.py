"""Quantities: ``quantity('1Gi').isGreaterThan(quantity('500M'))``, ``isQuantity('1,5')``.

An amount is exact, and remembers whether Go would hold it in 64 bits: only such a one is an
integer. Upstream: apiserver/pkg/cel/library/quantity.go with
apimachinery/pkg/api/resource/quantity.go and amount.go.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from fakekube.apimachinery import quantity
from fakekube.cel import types
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

QUANTITY_TYPE = types.object_type("kubernetes.Quantity", {})
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """The value of ``quantity('1Gi')``: ``number`` times ten to the power of ``scale``.

    ``small`` says that Go holds the number in 64 bits. Equal if the amounts are.
    """

    cel_type: ClassVar[types.Type] = QUANTITY_TYPE
    number: int
    scale: int
    small: bool

    def compare(self, other: "Quantity") -> int:
        """-1, 0 or 1."""
        scale = min(self.scale, other.scale)
        left, right = (each.number * 10 ** (each.scale - scale) for each in (self, other))
        return int(left > right) - int(left < right)

    def add(self, other: "Quantity", sign: int = 1) -> "Quantity":
        """The sum, or the difference for the sign -1."""
        number = sign * other.number
        if self.small and other.small:
            if number == 0:
                return self
            if self.number == 0:
                return Quantity(number, other.scale, small=True)
        scale = min(self.scale, other.scale)
        addends = [self.number * 10 ** (self.scale - scale), number * 10 ** (other.scale - scale)]
        small = self.small and other.small and all(map(_fits, [*addends, sum(addends)]))
        return Quantity(sum(addends), scale, small=small)

    @property
    def integer(self) -> int | None:
        """The amount as an int; None for a fraction, and for what is not held in 64 bits."""
        if not self.small or self.scale < 0:
            return None
        number = self.number * 10**self.scale
        return number if _fits(number) else None

    @property
    def approximate_float(self) -> float:
        """The nearest double, or nearly so."""
        try:
            number = float(self.number)
        except OverflowError:
            return float("inf") if self.number > 0 else float("-inf")
        return number * _power_of_ten(self.scale) if self.scale else number

    def __str__(self) -> str:
        return quantity.render(self.number * 10 ** max(self.scale + 9, 0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __hash__(self) -> int:
        return hash(Quantity)


def _power_of_ten(exponent: int) -> float:
    return float(f"1e{exponent}")


def _fits(number: int) -> bool:
    return _MIN_INT64 <= number <= _MAX_INT64


def library() -> Library:
    """The functions, since 1.28."""
    kind, text, integer, truth = QUANTITY_TYPE, types.STRING, types.INT, types.BOOL
    walk: dict[str, Any] = {"cost": costing.walk_cost(), "estimate": costing.walk()}
    nominal: dict[str, Any] = {"cost": costing.nominal_cost, "estimate": costing.nominal}
    return Library("quantity", (
        function("quantity", overload("string_to_quantity", [text], kind, to_quantity, **walk)),
        function("isQuantity", overload("is_quantity_string", [text], truth, is_quantity, **walk)),
        function("sign", overload("quantity_sign", [kind], integer, sign, **nominal)),
        function("isGreaterThan", member(
            "quantity_is_greater_than", [kind, kind], truth, lambda left, right: left.compare(right) == 1, **nominal)),
        function("isLessThan", member(
            "quantity_is_less_than", [kind, kind], truth, lambda left, right: left.compare(right) == -1, **nominal)),
        function("compareTo", member("quantity_compare_to", [kind, kind], integer, Quantity.compare, **nominal)),
        function("asApproximateFloat", member(
            "quantity_get_float", [kind], types.DOUBLE, lambda amount: amount.approximate_float, **nominal)),
        function("asInteger", member("quantity_get_int", [kind], integer, to_integer, **nominal)),
        function("isInteger", member(
            "quantity_is_integer", [kind], truth, lambda amount: amount.integer is not None, **nominal)),
        function(
            "add",
            member("quantity_add", [kind, kind], kind, Quantity.add, **nominal),
            member("quantity_add_int", [kind, integer], kind, lambda left, right: left.add(from_int(right)), **nominal),
        ),
        function(
            "sub",
            member("quantity_sub", [kind, kind], kind, lambda left, right: left.add(right, -1), **nominal),
            member("quantity_sub_int", [kind, integer], kind, lambda left, right: left.add(from_int(right), -1), **nominal),
        ),
    ))


def to_quantity(text: str) -> Quantity:
    """The amount that a text says."""
    try:
        exact = quantity.parse_exact(text)
    except quantity.QuantityError as error:
        raise EvaluationError(str(error)) from None
    return Quantity(exact.number, exact.scale, small=exact.small)


def from_int(number: int) -> Quantity:
    """The amount of so many whole units."""
    return Quantity(number, 0, small=True)


def is_quantity(text: str) -> bool:
    """Whether ``quantity`` takes a text."""
    try:
        to_quantity(text)
    except EvaluationError:
        return False
    return True


def sign(amount: Quantity) -> int:
    """-1, 0 or 1."""
    return int(amount.number > 0) - int(amount.number < 0)


def to_integer(amount: Quantity) -> int:
    """The amount as an int."""
    found = amount.integer
    if found is None:
        raise EvaluationError("cannot convert value to integer")
    return found
