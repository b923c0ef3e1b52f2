"""They take what they are told twice for two things.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.client.transport import TransportError
from tests.exploration.buggy.base import missing_ok, name_of
from tests.exploration.operators import POD, is_web


class Plain:
    """A plain client without a cache: lists and watches maps, and makes a pod for each that comes.

    After a watch has expired everything comes again (client-go's list and watch by hand).
    """

    user_agent, user = "", None

    def __init__(self, name, field):
        self.name, self._field = name, field

    async def start(self, ctx):
        self._client, self._clock = ctx.client, ctx.clock
        ctx.tasks.spawn(self._run(), self.name)

    async def stop(self):
        """Its task ends with its context."""

    async def _run(self):
        while True:
            try:
                listed = await self._client.list(CONFIG_MAPS, "default", resource_version="0")
                for found in listed.items:
                    await self._came(found)
                await self._watch(listed.resource_version)
            except (APIError, TransportError):  # a watch that has expired, or any other
                await self._clock.sleep(1)

    async def _watch(self, version):
        async with await self._client.watch(CONFIG_MAPS, "default", resource_version=version) as events:
            async for event in events:
                if event.type == "ADDED":
                    await self._came(event.object)

    async def _came(self, found):
        name = name_of(found)
        if is_web(name):
            metadata = {self._field: f"{name}-bill", "namespace": "default"}
            await missing_ok(self._client.create(PODS, {"metadata": metadata, "spec": POD}), "AlreadyExists")


bills_again, bills_once = Plain("bills-again", "generateName"), Plain("bills-once", "name")
