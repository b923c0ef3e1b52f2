"""PriorityLevelConfiguration: how many requests of a level run at once.

Upstream: pkg/apis/flowcontrol/{v1/defaults.go,validation}. Left out: that the mandatory ones must
not change; nothing is queued here.
"""

import math

from fakekube.apimachinery.field_errors import FieldError, child, forbidden, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext

DEFAULT_SHARES = 30
TYPES, RESPONSES = ("Exempt", "Limited"), ("Queue", "Reject")
MAX_QUEUES, MAX_HASH_BITS = 10 * 1000 * 1000, 60
QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


class PriorityLevelConfigurationStrategy(StatusStrategy):
    """What is particular to PriorityLevelConfigurations."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Shares, lending and queues."""
        spec = obj.setdefault("spec", {})
        for name, shares in (("exempt", 0), ("limited", DEFAULT_SHARES)):
            if name in spec:
                if spec[name].get("nominalConcurrencyShares") is None:
                    spec[name]["nominalConcurrencyShares"] = shares
                spec[name].setdefault("lendablePercent", 0)
        queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for name, value in QUEUING.items():
                if not queuing.get(name):
                    queuing[name] = value

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """One of two types, and its numbers.

        Since 1.37 upstream tells what is missing or out of place last.
        """
        spec, found = obj["spec"], []
        kind, name = spec.get("type", ""), obj["metadata"].get("name", "")
        if (name == "exempt") != (kind == "Exempt"):
            found.append(invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
        if ctx.minor < DECLARATIVE_SINCE:
            found += _shape_before(spec, kind)
        if kind in TYPES:
            level = kind.lower()
            found += _numbers(child("spec", level), spec[level]) if level in spec else []
        elif kind:
            found.append(not_supported("spec.type", kind, TYPES))
        return found if ctx.minor < DECLARATIVE_SINCE else found + _shape(spec, kind)


def _shape_before(spec: Tree, kind: str) -> list[FieldError]:
    """The shape as hand-written checks see it, which look at no more than the type's own part."""
    if not kind:
        return [required("spec.type")]
    if kind != "Limited":
        alien = kind == "Exempt" and "limited" in spec
        return [forbidden("spec.limited", "must be nil if the type is not Limited")] if alien else []
    found = [forbidden("spec.exempt", "must be nil if the type is Limited")] if "exempt" in spec else []
    if "limited" not in spec:
        return [*found, required("spec.limited", "must not be empty when type is Limited")]
    response, path = spec["limited"].get("limitResponse") or {}, "spec.limited.limitResponse"
    how, there = response.get("type", ""), "queuing" in response
    if how == "Queue" and not there:
        found.append(required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited"))
    elif how == "Reject" and there:
        found.append(forbidden(f"{path}.queuing", "must be nil if limited.limitResponse.type is not Limited"))
    elif not how:
        found.append(required(f"{path}.type"))
    return found


def _shape(spec: Tree, kind: str) -> list[FieldError]:
    """Each type has a part of its own, and so has each way to respond to a full level."""
    found = []
    if "exempt" in spec and kind != "Exempt":
        found.append(forbidden("spec.exempt", ""))
    found += _belongs("spec.limited", "limited" in spec, wanted=kind == "Limited")
    if not kind:
        found.append(required("spec.type"))
    if "limited" in spec:
        response, path = spec["limited"].get("limitResponse") or {}, "spec.limited.limitResponse"
        found += _belongs(f"{path}.queuing", "queuing" in response, wanted=response.get("type") == "Queue")
        if not response.get("type"):
            found.append(required(f"{path}.type"))
    return found


def _belongs(path: str, there: bool, *, wanted: bool) -> list[FieldError]:
    if there == wanted:
        return []
    return [required(path) if wanted else forbidden(path, "")]


def _numbers(path: str, level: Tree) -> list[FieldError]:
    found = []
    shares, percent = level["nominalConcurrencyShares"], level["lendablePercent"]
    borrowed = level.get("borrowingLimitPercent")
    if shares < 0:
        found.append(invalid(child(path, "nominalConcurrencyShares"), shares, "must be a non-negative integer"))
    found += _response(child(path, "limitResponse"), level.get("limitResponse") or {})
    if not 0 <= percent <= 100:
        found.append(invalid(child(path, "lendablePercent"), percent, "must be between 0 and 100, inclusive"))
    if borrowed is not None and borrowed < 0:
        text = "if specified, must be a non-negative integer"
        found.append(invalid(child(path, "borrowingLimitPercent"), borrowed, text))
    return found


def _response(path: str, response: Tree) -> list[FieldError]:
    kind = response.get("type", "")
    if kind and kind not in RESPONSES:
        return [not_supported(child(path, "type"), kind, RESPONSES)]
    if kind != "Queue" or "queuing" not in response:
        return []
    queuing, path, found = response["queuing"], child(path, "queuing"), []
    length, queues, hand = (queuing[name] for name in ("queueLengthLimit", "queues", "handSize"))
    if length <= 0:
        found.append(invalid(child(path, "queueLengthLimit"), length, "must be positive"))
    if queues <= 0:
        found.append(invalid(child(path, "queues"), queues, "must be positive"))
    elif queues > MAX_QUEUES:
        found.append(invalid(child(path, "queues"), queues, f"must not be greater than {MAX_QUEUES}"))
    text = ""
    if hand <= 0:
        text = "must be positive"
    elif hand > queues:
        text = f"should not be greater than queues ({queues})"
    elif math.ceil(math.log2(queues) * hand) > MAX_HASH_BITS:
        text = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than "
            f"{MAX_HASH_BITS}")
    return [*found, invalid(child(path, "handSize"), hand, text)] if text else found


STRATEGY = PriorityLevelConfigurationStrategy()
