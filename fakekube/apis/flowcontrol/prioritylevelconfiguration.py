"""PriorityLevelConfiguration: how many requests of a level run at once.

Upstream: pkg/apis/flowcontrol/{v1/defaults.go,validation}. Left out: that the mandatory ones must not change; nothing
is queued here.
"""

from fakekube.apimachinery.field_errors import FieldError, child, forbidden, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext

DEFAULT_SHARES = 30
QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


class PriorityLevelConfigurationStrategy(StatusStrategy):
    """What is particular to PriorityLevelConfigurations."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Shares, lending and queues."""
        spec = obj.setdefault("spec", {})
        for name, shares in (("exempt", 0), ("limited", DEFAULT_SHARES)):
            if name in spec:
                spec[name].setdefault("nominalConcurrencyShares", shares)
                spec[name].setdefault("lendablePercent", 0)
        queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for name, value in QUEUING.items():
                if not queuing.get(name):
                    queuing[name] = value

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """One of two types, and its numbers."""
        spec, found = obj["spec"], []
        kind, name = spec.get("type", ""), obj["metadata"].get("name", "")
        if (name == "exempt") != (kind == "Exempt"):
            found.append(invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
        if not kind:
            return [*found, required("spec.type")]
        if kind not in ("Exempt", "Limited"):
            return [*found, not_supported("spec.type", kind, ("Exempt", "Limited"))]
        if kind == "Exempt" and "limited" in spec:
            found.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
        if kind == "Limited" and "exempt" in spec:
            found.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
        if kind == "Limited" and "limited" not in spec:
            found.append(required("spec.limited", "must not be empty when type is Limited"))
        level = kind.lower()
        return found + (_numbers(child("spec", level), spec[level]) if level in spec else [])


def _numbers(path: str, level: Tree) -> list[FieldError]:
    found = []
    shares, percent = level["nominalConcurrencyShares"], level["lendablePercent"]
    borrowed = level.get("borrowingLimitPercent")
    if shares < 0:
        found.append(invalid(child(path, "nominalConcurrencyShares"), shares, "must be a non-negative integer"))
    if not 0 <= percent <= 100:
        found.append(invalid(child(path, "lendablePercent"), percent, "must be between 0 and 100, inclusive"))
    if borrowed is not None and borrowed < 0:
        text = "if specified, must be a non-negative integer"
        found.append(invalid(child(path, "borrowingLimitPercent"), borrowed, text))
    return found


STRATEGY = PriorityLevelConfigurationStrategy()
