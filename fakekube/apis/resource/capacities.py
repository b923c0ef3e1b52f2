"""What a device has of a capacity, and how much of it one request may get.

Upstream: pkg/apis/resource/validation.
"""

from fakekube.apimachinery import quantity
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    duplicate,
    forbidden,
    index,
    invalid,
    repetitions,
    required,
    too_many,
)
from fakekube.apimachinery.types import Tree

MAX_VALUES = 10
NOT_SHARED = "allowMultipleAllocations must be true"
ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def capacity_errors(path: str, capacity: Tree, *, shared: bool) -> list[FieldError]:
    """What is wrong with a capacity; only that of a ``shared`` device has a policy for requests."""
    policy, where = capacity.get("requestPolicy"), child(path, "requestPolicy")
    if policy is None:
        return []
    if not shared:
        return [forbidden(where, NOT_SHARED)]
    values, span = policy.get("validValues") or [], policy.get("validRange")
    if values and span is not None:
        return [forbidden(where, ONE_POLICY)]
    if not values and span is None:
        return []
    name = "validValues" if values else "validRange"
    default = policy.get("default")
    if default is None:
        return [required(child(where, "default"), f"required when {name} is defined")]
    most = capacity.get("value", "0")
    return _values(child(where, name), values, default, most) if values else _range(child(where, name), span or {}, default, most)


def _values(path: str, values: list[str], default: str, most: str) -> list[FieldError]:
    amounts = [_amount(value) for value in values]
    found = [
        invalid(index(path, number), values[number], "values must be sorted in ascending order")
        for number in range(1, len(values)) if amounts[number] < amounts[number - 1]]
    if len(values) > MAX_VALUES:
        found.append(too_many(path, len(values), MAX_VALUES))
    else:
        found += [
            invalid(index(path, number), values[number], f"option is larger than capacity value: {most}")
            for number, amount in enumerate(amounts) if amount > _amount(most)]
        found += [duplicate(index(path, number), values[number]) for number in sorted(repetitions(amounts))]
    if len(values) > MAX_VALUES or _amount(default) not in amounts:
        found.append(invalid(path, default, "default value is not valid according to the requestPolicy"))
    return found


def _range(path: str, span: Tree, default: str, most: str) -> list[FieldError]:
    low, high, step = (span.get(name) for name in ("min", "max", "step"))
    if low is None:
        return [required(child(path, "min"), "required when validRange is defined")]
    found: list[FieldError] = []
    if _amount(low) > _amount(most):
        found.append(invalid(child(path, "min"), low, f"min is larger than capacity value: {most}"))
    if _amount(default) < _amount(low):
        found.append(invalid(child(path, "default"), default, f"default is less than min: {low}"))
    if high is not None:
        if _amount(high) > _amount(most):
            found.append(invalid(child(path, "max"), high, f"max is larger than capacity value: {most}"))
        if _amount(low) > _amount(high):
            found.append(invalid(child(path, "max"), low, f"min is larger than max: {high}"))
        if _amount(default) > _amount(high):
            found.append(invalid(child(path, "default"), default, f"default is more than max: {high}"))
    return found if step is None else found + _steps(child(path, "step"), (low, high, default), step, most)


def _steps(path: str, bounds: tuple[str, str | None, str], step: str, most: str) -> list[FieldError]:
    """From the minimum on every step counts, and the maximum and the default are one."""
    low, high, default = bounds
    size, start, found = _amount(step), _amount(low), []
    if size <= 0:
        return [invalid(path, step, "must be greater than zero")]
    if start + size > _amount(most):
        first = quantity.render(start + size, quantity.parse(low).format)
        found.append(invalid(path, step, f"one step {first} is larger than capacity value: {most}"))
    return found + [
        invalid(path, value, f"value is not a multiple of a given step ({step}) from ({low})")
        for value in (high, default) if value is not None and (_amount(value) - start) % size]


def _amount(text: str) -> int:
    return quantity.parse(text).nano
