"""Small operators that an oracle accuses."""

from datetime import timedelta

from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS
from fakekube.runtime import controller
from fakekube.runtime.reconcile import Result
from tests.exploration.buggy.base import Reconciler, create_once
from tests.exploration.operators import POD


class NeverRests(Reconciler):
    """Counts its own writes, of which it hears."""

    async def work(self, name, found):
        if found is not None:
            count = int((found.get("data") or {}).get("count", "0"))
            await self.client.update(CONFIG_MAPS, {**found, "data": {"count": str(count + 1)}})


class WritesTwiceASecond(Reconciler):
    """Counts, every half second."""

    async def reconcile(self, request):
        found = self.maps.get("default", request.name)
        if request.name != "web" or found is None:
            return Result()
        now = self.clock.time()
        if now >= self.due:
            self.due = now + 0.5
            count = int((found.get("data") or {}).get("count", "0"))
            await self.client.update(CONFIG_MAPS, {**found, "data": {"count": str(count + 1)}})
        return Result(requeue_after=timedelta(seconds=self.due - now))

    def __init__(self, ctx):
        super().__init__(ctx)
        self.clock, self.due = ctx.clock, 0.0


class WritesTheSame(Reconciler):
    """Updates a map as it is, every second."""

    async def work(self, name, found):
        if found is not None:
            await self.client.update(CONFIG_MAPS, found)
            return Result(requeue_after=timedelta(seconds=1))
        return None

    async def reconcile(self, request):
        if request.name == "web":
            return await self.work(request.name, self.maps.get("default", request.name))
        return None


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


never_rests = controller("never-rests").for_(CONFIG_MAPS).complete(NeverRests)
writes_twice_a_second = controller("writes-twice-a-second").for_(CONFIG_MAPS).complete(WritesTwiceASecond)
writes_the_same = controller("writes-the-same").for_(CONFIG_MAPS).complete(WritesTheSame)
swings = controller("swings").for_(PODS).complete(Swings)
puts_on_a_finalizer = controller("puts-on-a-finalizer").for_(CONFIG_MAPS).complete(PutsOnAFinalizer)
makes_for_the_gone = controller("makes-for-the-gone").for_(CONFIG_MAPS).complete(MakesForTheGone)
makes_a_pod = controller("makes-a-pod").for_(CONFIG_MAPS).complete(MakesAPod)
