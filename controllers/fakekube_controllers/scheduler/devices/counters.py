"""What is left of the counters that the devices of a pool share.

Upstream: checkAvailableCounters of the allocator.
"""

from collections.abc import Sequence

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import PoolID
from fakekube_controllers.scheduler.devices.pools import Counters, Pool, amounts_of, device_id, devices_of
from fakekube_controllers.scheduler.devices.usage import AllocatedDevices


class CountersLeft:
    """The counters of one search.

    ``available``: what is left by what is allocated, which is found out once for all nodes.
    """

    def __init__(self, available: dict[PoolID, Counters], allocated: AllocatedDevices) -> None:
        self._available, self._allocated = available, allocated
        self._taken: dict[PoolID, Counters] = {}

    def take(self, pool: Pool, consumption: Sequence[ReadOnlyTree]) -> bool:
        """Take what a device consumes; False, and nothing is taken, where there is too little.

        Where more is allocated than there is, no device of the pool can be had.
        """
        self._count(pool, consumption, 1)
        available, taken = self._left(pool), self._taken[pool.id]
        if all(taken.get(name, {}).get(counter, 0) <= amount
               for name, counters in available.items() for counter, amount in counters.items()):
            return True
        self._count(pool, consumption, -1)
        return False

    def give_back(self, pool: Pool, consumption: Sequence[ReadOnlyTree]) -> None:
        """Give back what was taken."""
        self._count(pool, consumption, -1)

    def _count(self, pool: Pool, consumption: Sequence[ReadOnlyTree], sign: int) -> None:
        taken = self._taken.setdefault(pool.id, {})
        for each in consumption:
            counters = taken.setdefault(each["counterSet"], {})
            for name, amount in amounts_of(each).items():
                counters[name] = counters.get(name, 0) + sign * amount

    def _left(self, pool: Pool) -> Counters:
        found = self._available.get(pool.id)
        if found is None:
            found = {name: dict(counters) for name, counters in pool.counters.items()}
            for of, device in devices_of((*pool.slices, *pool.other_slices)):
                if not device.get("consumesCounters") or not self._allocated.is_used(device_id(of, device)):
                    continue
                for each in device["consumesCounters"]:
                    for name, amount in amounts_of(each).items():
                        found[each["counterSet"]][name] -= amount
            self._available[pool.id] = found
        return found
