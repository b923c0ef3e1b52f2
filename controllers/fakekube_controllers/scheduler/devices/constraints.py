"""Constraints between the devices of a claim: an attribute is the same for all, or never the same.

Upstream: matchAttributeConstraint, distinctAttributeConstraint of the allocator. With the gate
DRAListTypeAttributes an attribute may have several values: then all devices must have one in
common, or none twice.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import AllocationError, DeviceID
from fakekube_controllers.scheduler.devices.requests import asked_of

Value = tuple[str, Any]
"""Its type and itself: the number 1 is not the version or the text 1."""

SINGLE = ("string", "int", "bool", "version")
LISTS = {"strings": "string", "ints": "int", "bools": "bool", "versions": "version"}


class Constraint(Protocol):
    """Keeps count of the devices that are tried together."""

    def add(self, request: str, sub_request: str, device: ReadOnlyTree, of: DeviceID) -> bool:
        """Try a device, too. Whether it can be with the others; if not, it was not added."""

    def remove(self, request: str, sub_request: str) -> None:
        """Take back the device that was added last for some request."""


def constraints_of(claim: ReadOnlyTree, claim_name: str, *, lists: bool) -> list[Constraint]:
    """The constraints of a claim. Raises AllocationError for one of an unknown kind."""
    found: list[Constraint] = []
    for number, each in enumerate(asked_of(claim).get("constraints") or ()):
        requests = each.get("requests") or ()
        if each.get("matchAttribute") is not None:
            found.append(MatchAttribute(each["matchAttribute"], requests, lists=lists))
        elif each.get("distinctAttribute") is not None:
            found.append(DistinctAttribute(each["distinctAttribute"], requests, lists=lists))
        else:
            raise AllocationError(
                f"claim {claim_name}, constraint #{number}: empty constraint (unsupported constraint type?)")
    return found


class _OfAttribute:
    """A constraint on an attribute of the devices of some requests (of none that is named: of
    all).
    """

    def __init__(self, attribute: str, requests: Sequence[str], *, lists: bool) -> None:
        self._attribute, self._requests, self._lists = attribute, requests, lists

    def _concerns(self, request: str, sub_request: str) -> bool:
        return (not self._requests or request in self._requests
                or (bool(sub_request) and f"{request}/{sub_request}" in self._requests))

    def _values(self, device: ReadOnlyTree, of: DeviceID) -> frozenset[Value]:
        """Of the attribute; none where the device does not have it."""
        attributes = device.get("attributes") or {}
        found = attributes.get(self._attribute)
        domain, slash, name = self._attribute.partition("/")
        if found is None and slash and domain == of.driver:
            found = attributes.get(name)
        for kind in SINGLE:
            if found is not None and found.get(kind) is not None:
                return frozenset([(kind, found[kind])])
        if self._lists and found is not None:
            for kind, single in LISTS.items():
                if found.get(kind) is not None:
                    return frozenset((single, value) for value in found[kind])
        return frozenset()


class MatchAttribute(_OfAttribute):
    """All devices have a value in common."""

    def __init__(self, attribute: str, requests: Sequence[str], *, lists: bool) -> None:
        super().__init__(attribute, requests, lists=lists)
        self._common: list[frozenset[Value]] = []  # after each device

    def add(self, request: str, sub_request: str, device: ReadOnlyTree, of: DeviceID) -> bool:
        """See Constraint."""
        if not self._concerns(request, sub_request):
            return True
        values = self._values(device, of)
        if self._common:
            values &= self._common[-1]
        if not values:
            return False
        self._common.append(values)
        return True

    def remove(self, request: str, sub_request: str) -> None:
        """See Constraint."""
        if self._concerns(request, sub_request):
            self._common.pop()


class DistinctAttribute(_OfAttribute):
    """No two devices have a value in common."""

    def __init__(self, attribute: str, requests: Sequence[str], *, lists: bool) -> None:
        super().__init__(attribute, requests, lists=lists)
        self._seen: list[frozenset[Value]] = []

    def add(self, request: str, sub_request: str, device: ReadOnlyTree, of: DeviceID) -> bool:
        """See Constraint."""
        if not self._concerns(request, sub_request):
            return True
        values = self._values(device, of)
        if not values or any(not values.isdisjoint(each) for each in self._seen):
            return False
        self._seen.append(values)
        return True

    def remove(self, request: str, sub_request: str) -> None:
        """See Constraint."""
        if self._concerns(request, sub_request):
            self._seen.pop()
