"""Which devices are allocated, and how much of those that several claims share.

Upstream: plugins/dynamicresources/allocateddevices.go, foreachAllocatedDevice.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from fakekube.apimachinery import quantity
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import DeviceID

Key = TypeVar("Key", bound=Hashable)

Amounts = dict[str, int]
"""By name of a capacity, in billionths."""


class AllocatedDevices:
    """What allocations take together.

    ``shares`` False: every device of an allocation is taken as a whole (the gate
    DRAConsumableCapacity is off).
    """

    def __init__(self, *, shares: bool = True) -> None:
        self._shares = shares
        self._whole: dict[DeviceID, int] = {}  # how many allocations have it for themselves
        self._shared: dict[DeviceID, int] = {}  # how many shares there are
        self._consumed: dict[DeviceID, Amounts] = {}

    def add(self, allocation: ReadOnlyTree) -> None:
        """An allocation of a claim holds from now on."""
        self._count(allocation, 1)

    def remove(self, allocation: ReadOnlyTree) -> None:
        """One that was added holds no more."""
        self._count(allocation, -1)

    def is_whole(self, device: DeviceID) -> bool:
        """Whether somebody has the device for themselves."""
        return device in self._whole

    def is_used(self, device: DeviceID) -> bool:
        """Whether somebody has the device, or a share of it."""
        return device in self._whole or device in self._shared

    def is_shared(self, device: DeviceID) -> bool:
        """Whether somebody has a share of the device."""
        return device in self._shared

    def consumed(self, device: DeviceID) -> Mapping[str, int]:
        """How much of its capacity the shares of a device take."""
        return self._consumed.get(device) or {}

    def _count(self, allocation: ReadOnlyTree, sign: int) -> None:
        for result in (allocation.get("devices") or {}).get("results") or ():
            if result.get("adminAccess"):
                continue
            device = DeviceID(result["driver"], result["pool"], result["device"])
            if not self._shares or not result.get("shareID"):
                _step(self._whole, device, sign)
                continue
            _step(self._shared, device, sign)
            amounts = self._consumed.setdefault(device, {})
            for name, amount in (result.get("consumedCapacity") or {}).items():
                _step(amounts, name, sign * quantity.parse(amount).nano)


def _step(counts: dict[Key, int], key: Key, by: int) -> None:
    left = counts.get(key, 0) + by
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
