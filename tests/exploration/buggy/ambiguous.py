"""They take an error for a write that was not made.
"""

from fakekube.client.resources import CONFIG_MAPS
from tests.exploration.buggy.base import Reconciler, declared, missing_ok


class CountsTwice(Reconciler):
    """Counts a map once: adds one, then notes that it did. An answer that is lost counts again."""

    async def work(self, name, found):
        if found is None:
            return
        current = await missing_ok(self.client.get(CONFIG_MAPS, name, "default"))
        if current is not None and "counted" not in (current.get("data") or {}):
            await self.count(current, {"count": str(int((current.get("data") or {}).get("count", "0")) + 1)})

    async def count(self, current, data):
        counted = await self.client.update(CONFIG_MAPS, {**current, "data": data})
        await self.client.update(CONFIG_MAPS, {**counted, "data": {**data, "counted": "true"}})


class CountsOnce(CountsTwice):
    """Does both in one write."""

    async def count(self, current, data):
        await self.client.update(CONFIG_MAPS, {**current, "data": {**data, "counted": "true"}})


class CountsOneTwice(CountsTwice):
    """Does so for one of many maps."""

    async def work(self, name, found):
        if name == "web-17":
            await super().work(name, found)
        elif found is not None and "data" not in found:
            await self.client.update(CONFIG_MAPS, {**found, "data": {"counted": "true"}})


class CountsOneOnce(CountsOneTwice, CountsOnce):
    """Does both in one write."""


counts_twice, counts_once = declared("counts-twice", CountsTwice), declared("counts-once", CountsOnce)
counts_one_twice, counts_one_once = declared("counts-one-twice", CountsOneTwice), declared("counts-one-once", CountsOneOnce)
