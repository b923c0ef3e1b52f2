"""How much of a device's capacity a request takes: shares of devices that allow many allocations.

Amounts are in billionths. Upstream: consumable_capacity.go of the allocator.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery import quantity
from fakekube.apimachinery.quantity import MAX_INT64, NANO, Quantity
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import AllocationError

MILLI = NANO // 1000
UNREPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


class Amount(NamedTuple):
    """An amount, and its text."""

    nano: int
    text: str


def consumed(
    requested: ReadOnlyTree | None, capacities: Mapping[str, ReadOnlyTree], *, fractions: bool,
) -> dict[str, Amount] | None:
    """What a request takes of each capacity, by the device's policies; None: it asks for one that
    the device does not have, or for what a policy forbids.

    ``requested`` is the request's ``capacity``; ``fractions``: ranges go by thousandths. Raises
    AllocationError for a request that no device could be asked for.
    """
    asked = (requested or {}).get("requests") or {}
    if any(name not in capacities for name in asked):
        return None
    found: dict[str, Amount] = {}
    for name, capacity in capacities.items():
        try:
            amount = _consumed(asked.get(name), capacity, fractions=fractions)
        except AllocationError as refused:
            raise AllocationError(f'capacity "{name}": {refused}') from None
        if amount.nano < 0:
            raise AllocationError(f'capacity "{name}": capacity value is negative')
        found[name] = amount
    policies = ((amount, capacities[name].get("requestPolicy")) for name, amount in found.items())
    return None if any(policy and _violates(amount, policy, fractions=fractions) for amount, policy in policies) else found


def fits(amounts: Mapping[str, Amount], capacities: Mapping[str, ReadOnlyTree], *taken: Mapping[str, int]) -> bool:
    """Whether a device has that much left."""
    return all(
        amount.nano + sum(each.get(name, 0) for each in taken) <= quantity.parse(capacities[name]["value"]).nano
        for name, amount in amounts.items())


def _consumed(asked: str | None, capacity: ReadOnlyTree, *, fractions: bool) -> Amount:
    policy = capacity.get("requestPolicy") or {}
    if asked is None:
        return _amount(quantity.parse(policy["default"] if policy.get("default") is not None else capacity["value"]))
    wanted = quantity.parse(asked)
    within = policy.get("validRange") or {}
    if within.get("min") is not None:
        return _round_up(wanted, within, fractions=fractions)
    for value in policy.get("validValues") or ():
        if wanted.nano <= quantity.parse(value).nano:
            return _amount(quantity.parse(value))
    return _amount(wanted)


def _round_up(wanted: Quantity, within: ReadOnlyTree, *, fractions: bool) -> Amount:
    """The least of a range that is no less: so many steps above its least."""
    least = quantity.parse(within["min"])
    if wanted.nano < least.nano:
        return _amount(least)
    if within.get("step") is None:
        return _amount(wanted)
    step = quantity.parse(within["step"])
    if _by_thousandths(within, fractions=fractions):
        if wanted.nano % MILLI:
            raise AllocationError(f"{UNREPRESENTABLE}: request {wanted.text} is not a representable milli value")
        rounded = _steps_up(wanted.milli_value, least.milli_value, step.milli_value)
        if rounded > MAX_INT64:
            raise AllocationError(
                f"{UNREPRESENTABLE}: rounding request {wanted.text} up to the next step passes the milli-value range")
        return Amount(rounded * MILLI, quantity.render(rounded * MILLI, step.format))
    if wanted.nano > MAX_INT64 * NANO:
        raise AllocationError(f"{UNREPRESENTABLE}: request {wanted.text} exceeds MaxInt64")
    rounded = _steps_up(wanted.value, least.value, step.value)
    if rounded > MAX_INT64:
        raise AllocationError(f"{UNREPRESENTABLE}: rounding request {wanted.text} up to the next step passes MaxInt64")
    return Amount(rounded * NANO, quantity.render(rounded * NANO, step.format))


def _steps_up(wanted: int, least: int, step: int) -> int:
    return least - (least - wanted) // step * step


def _violates(amount: Amount, policy: ReadOnlyTree, *, fractions: bool) -> bool:
    default, within = policy.get("default"), policy.get("validRange")
    if default is not None and quantity.parse(default).nano == amount.nano:
        return False
    if within is None:
        values = policy.get("validValues") or ()
        return bool(values) and all(quantity.parse(value).nano != amount.nano for value in values)
    if within.get("max") is not None and amount.nano > quantity.parse(within["max"]).nano:
        return True
    if within.get("step") is None:
        return False
    unit = MILLI if _by_thousandths(within, fractions=fractions) else NANO
    if unit == MILLI and amount.nano % MILLI:
        return True
    has, least, step = (-(-nano // unit) for nano in (
        amount.nano, quantity.parse(within.get("min") or "0").nano, quantity.parse(within["step"]).nano))
    return bool((has - least) % step)


def _by_thousandths(within: ReadOnlyTree, *, fractions: bool) -> bool:
    """Whether all bounds of a range are thousandths."""
    bounds = [quantity.parse(within[name]).nano for name in ("min", "max", "step") if within.get(name) is not None]
    return fractions and not any(nano % MILLI for nano in bounds) and quantity.parse(within["step"]).nano >= MILLI


def _amount(of: Quantity) -> Amount:
    return Amount(of.nano, of.text)
