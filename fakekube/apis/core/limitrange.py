"""LimitRange: how large things in a namespace may be, and how large they are when nobody says.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/core/validation. Who keeps to it is
admission/limit_ranger.py.
"""

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    complaints,
    duplicate,
    forbidden,
    index,
    invalid,
    key,
    required,
    typed,
)
from fakekube.apimachinery.quantity import Quantity
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import stored_as_null
from fakekube.apis.core.podresources import HUGE_PAGES
from fakekube.apis.core.podspec_defaults import round_amounts
from fakekube.apis.core.resource_requirements import (
    is_extended,
    validate_container_resource_name,
    validate_resource_name,
)
from fakekube.registry.strategy import Strategy, WriteContext

TYPES = ("Pod", "Container", "PersistentVolumeClaim")
PARTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


class LimitRangeStrategy(Strategy):
    """What is particular to LimitRanges."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """For containers: the limit is the maximum, the request the limit, or the minimum."""
        for limit in (obj.get("spec") or {}).get("limits") or ():
            for part in PARTS:
                round_amounts(limit.get(part) or {})
            if limit.get("type") != "Container":
                continue
            default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
            request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
            for name, amounts in (("default", default), ("defaultRequest", request)):
                if amounts and amounts != limit.get(name):
                    limit[name] = dict(sorted(amounts.items()))

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Who gives it no name gets one."""
        if not obj["metadata"].get("name"):
            obj["metadata"]["name"] = ctx.rng.uid()

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "spec", "limits")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Each type once; names, and amounts in order."""
        found: list[FieldError] = []
        seen: set[str] = set()
        for number, limit in enumerate((obj.get("spec") or {}).get("limits") or ()):
            path, kind = index("spec.limits", number), limit.get("type", "")
            where = child(path, "type")
            shown = typed(kind)
            texts = names.qualified_name(kind)
            if not texts and "/" not in kind and kind not in TYPES:
                texts = ["must be a standard limit type or fully qualified"]
            found += complaints(where, shown, texts)
            if kind in seen:
                found.append(duplicate(where, shown))
            seen.add(kind)
            found += _limit(path, limit, kind)
        return found


def _limit(path: str, limit: Tree, kind: str) -> list[FieldError]:
    rule = validate_container_resource_name if kind in ("Pod", "Container") else validate_resource_name
    found: list[FieldError] = []
    names_seen: dict[str, None] = {}
    for part in PARTS:
        amounts = limit.get(part) or {}
        if part == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            found += _claim(path, limit)
        if part in ("default", "defaultRequest") and kind == "Pod":
            if amounts:
                found.append(forbidden(child(path, part), "may not be specified when `type` is 'Pod'"))
            continue
        for name in amounts:
            found += rule(name, key(child(path, part), name))
            names_seen[name] = None
    for name in names_seen:
        found += _amounts(path, limit, kind, name)
    return found


def _claim(path: str, limit: Tree) -> list[FieldError]:
    if any("storage" in (limit.get(part) or {}) for part in ("min", "max")):
        return []
    text = "either minimum or maximum storage value is required, but neither was provided"
    return [required(child(path, "limits"), text)]


def _amounts(path: str, limit: Tree, kind: str, name: str) -> list[FieldError]:
    def part(field: str) -> Quantity | None:
        if kind == "Pod" and field.startswith("default"):
            return None
        text = (limit.get(field) or {}).get(name)
        return None if text is None else quantity.parse(text)

    low, high, usual, asked, ratio = (part(field) for field in ("min", "max", "default", "defaultRequest", PARTS[-1]))
    request = "default request value"
    orders = (
        ("min", low, "min value", high, "max value", low),
        ("defaultRequest", low, "min value", asked, request, asked),
        ("defaultRequest", asked, request, high, "max value", asked),
        ("defaultRequest", asked, request, usual, "default limit value", asked),
        ("default", low, "min value", usual, "default value", low),
        ("default", usual, "default value", high, "max value", high),
    )
    found = []
    for field, small, small_words, large, large_words, shown in orders:
        if small and large and shown and small.nano > large.nano:
            text = f"{small_words} {small.text} is greater than {large_words} {large.text}"
            found.append(invalid(key(child(path, field), name), shown.text, text))
    if ratio:
        found += _ratio(key(child(path, "maxLimitRequestRatio"), name), ratio, low, high)
    overcommitted = not is_extended(name) and not name.startswith(HUGE_PAGES)
    if usual and asked and not overcommitted and usual.nano != asked.nano:
        text = f"default value {usual.text} must equal to defaultRequest value {asked.text} in {name}"
        found.append(invalid(key(child(path, "defaultRequest"), name), asked.text, text))
    return found


def _ratio(path: str, ratio: Quantity, low: Quantity | None, high: Quantity | None) -> list[FieldError]:
    found = []
    if ratio.nano < quantity.parse("1").nano:
        found.append(invalid(path, ratio.text, f"ratio {ratio.text} is less than 1"))
    if low and high and low.nano:
        most = quantity.quotient(high.nano, low.nano)
        if quantity.quotient(ratio.milli_value, 1000) > most:
            found.append(invalid(path, ratio.text, f"ratio {ratio.text} is greater than max/min = {most:f}"))
    return found


STRATEGY = LimitRangeStrategy()
