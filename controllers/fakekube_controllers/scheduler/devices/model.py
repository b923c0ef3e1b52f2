"""Names of devices, what is switched on, and what goes wrong.

Upstream: structured/internal/types.go, structured/schedulerapi/types.go.
"""

from typing import NamedTuple

MAX_RESULTS = 32
"""Devices of one claim. Upstream: AllocationResultsMaxSize."""


class PoolID(NamedTuple):
    """A pool of a driver."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    """A device of a pool."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Features(NamedTuple):
    """What a feature gate switches on: each is named after its gate."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_binding_and_status: bool = True
    consumable_capacity: bool = True
    fractional_capacity_range: bool = False
    list_type_attributes: bool = False


class AllocationError(Exception):
    """Something is wrong with a claim or a class: no node is worth a look."""


class NodeAllocationError(AllocationError):
    """Something is wrong with what one node offers; others may do."""


class TakesTooLong(AllocationError):
    """The search for devices on a node was given up."""
