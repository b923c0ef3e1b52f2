"""Small operators that an oracle accuses."""

from datetime import timedelta

from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS
from fakekube.runtime import controller
from fakekube.runtime.reconcile import Result
from tests.exploration.buggy.base import OfOne, Reconciler, Timed, create_once, declared
from tests.exploration.operators import POD


async def count(client, found):
    """Write how often it was counted."""
    number = int((found.get("data") or {}).get("count", "0"))
    await client.update(CONFIG_MAPS, {**found, "data": {"count": str(number + 1)}})


class NeverRests(Reconciler):
    """Counts its own writes, of which it hears."""

    async def work(self, name, found):
        if found is not None:
            await count(self.client, found)


class WritesTwiceASecond(Timed):
    """Counts, every half second."""

    seconds = 0.5

    async def tick(self, found):
        await count(self.client, found)


class WritesTheSame(OfOne):
    """Updates a map as it is, every second."""

    async def work(self, name, found):
        if found is not None:
            await self.client.update(CONFIG_MAPS, found)
            return Result(requeue_after=timedelta(seconds=1))
        return Result()


class Swings(Reconciler):
    """Says A of its pod, and then B, each time that it hears of it; forty times."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self.left = 40

    async def work(self, name, found):
        for pod in self.pods.list("default"):
            if self.left:
                self.left -= 1
                reason = "B" if pod.get("status", {}).get("reason") == "A" else "A"
                await self.client.update_status(PODS, {**pod, "status": {**pod["status"], "reason": reason}})

    async def reconcile(self, request):
        await self.work(request.name, None)


class PutsOnAFinalizer(Reconciler):
    """Puts a finalizer on, and forgets it."""

    async def work(self, name, found):
        if found is not None and not found["metadata"].get("finalizers") and "deletionTimestamp" not in found["metadata"]:
            await self.client.update(
                CONFIG_MAPS, {**found, "metadata": {**found["metadata"], "finalizers": ["fakekube.dev/mine"]}})


class MakesForTheGone(Reconciler):
    """Makes a Secret for a map that it knew, once that has gone."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self.known = {}

    async def work(self, name, found):
        if found is not None:
            self.known[name] = found["metadata"]["uid"]
        elif name in self.known:
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": self.known.pop(name)}
            await self.client.create(SECRETS, {
                "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}})


class MakesAPod(Reconciler):
    """Does its work, and rests."""

    async def work(self, name, found):
        if found is not None:
            await create_once(self.client, PODS, name, spec=POD)


never_rests = declared("never-rests", NeverRests)
writes_twice_a_second = declared("writes-twice-a-second", WritesTwiceASecond)
writes_the_same = declared("writes-the-same", WritesTheSame)
swings = controller("swings").for_(PODS).complete(Swings)
puts_on_a_finalizer = declared("puts-on-a-finalizer", PutsOnAFinalizer)
makes_for_the_gone = declared("makes-for-the-gone", MakesForTheGone)
makes_a_pod = declared("makes-a-pod", MakesAPod)
