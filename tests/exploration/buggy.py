"""Small operators with the bugs that Sieve's and Acto's authors describe, and their mended twins.

Each watches ConfigMaps whose names begin with ``web``.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS
from fakekube.runtime import controller
from tests.exploration.operators import POD, is_web, one_child, two_children

__all__ = ["one_child", "two_children"]

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def name_of(obj):
    return obj["metadata"]["name"]


async def missing_ok(coroutine, reason="NotFound"):
    """What is not there need not be deleted; what is there need not be made."""
    try:
        return await coroutine
    except APIError as error:
        if error.reason != reason:
            raise
        return None


async def create_once(client, resource, name, **fields):
    await missing_ok(client.create(resource, {"metadata": {"name": name, "namespace": "default"}, **fields}), "AlreadyExists")


class Reconciler:
    """What they have in common."""

    def __init__(self, ctx):
        self.client, self.maps = ctx.client, ctx.lister(CONFIG_MAPS)
        self.pods, self.secrets = ctx.lister(PODS), ctx.lister(SECRETS)

    async def reconcile(self, request):
        if is_web(request.name):
            await self.work(request.name, self.maps.get("default", request.name))


class SecretOnlyFirst(Reconciler):
    """Makes a pod, then a Secret for it; where there is a pod, it takes the Secret as made.

    Dies between the two: the Secret is never made (Sieve: intermediate states).
    """

    def is_done(self, name):
        return self.pods.get("default", name) is not None

    async def work(self, name, found):
        if found is None or self.is_done(name):
            return
        await create_once(self.client, PODS, name, spec=POD)
        await create_once(self.client, SECRETS, name)


class SecretAlways(SecretOnlyFirst):
    """Looks for each."""

    def is_done(self, name):
        return self.secrets.get("default", name) is not None and super().is_done(name)


class DeletesByStaleView(Reconciler):
    """Scales down when its cache says so: deletes the claim of a map that is marked, by name.

    A cache that is behind shows a mark that was taken away long since (Sieve: stale states).
    """

    async def is_current(self, found):
        return True

    async def work(self, name, found):
        if found is None:
            return
        if (found.get("data") or {}).get("scale") != "0":
            await create_once(self.client, PERSISTENT_VOLUME_CLAIMS, name, spec=CLAIM)
        elif await self.is_current(found):
            await missing_ok(self.client.delete(PERSISTENT_VOLUME_CLAIMS, name, "default"))


class DeletesByServersView(DeletesByStaleView):
    """Asks the server before it deletes."""

    async def is_current(self, found):
        current = await missing_ok(self.client.get(CONFIG_MAPS, name_of(found), "default"))
        return current is not None and current["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


class CleansWhatItSees(Reconciler):
    """Makes a Secret for a map, and deletes it once it sees the map gone.

    Who deletes a map and makes another between two looks is not seen: the Secret stays that of
    the first (Sieve: unobserved states).
    """

    async def work(self, name, found):
        if found is None:
            await missing_ok(self.client.delete(SECRETS, name, "default"))
            return
        labels = {"of": found["metadata"]["uid"]}
        metadata = {"name": name, "namespace": "default", "labels": labels}
        await missing_ok(self.client.create(SECRETS, {"metadata": metadata}), "AlreadyExists")


class CleansWhatIsThere(CleansWhatItSees):
    """Compares uids, of what is there."""

    async def work(self, name, found):
        secret = await missing_ok(self.client.get(SECRETS, name, "default"))
        if found is not None and secret is not None and secret["metadata"]["labels"]["of"] != found["metadata"]["uid"]:
            await missing_ok(self.client.delete(SECRETS, name, "default"))
        await super().work(name, found)


class GivesUpOnConflict(Reconciler):
    """Says that a map is ready. Where others are faster, it gives up for ever.
    """

    gives_up = True

    async def work(self, name, found):
        if found is None or (found.get("data") or {}).get("ready"):
            return
        try:
            await self.client.update(CONFIG_MAPS, {**found, "data": {**(found.get("data") or {}), "ready": "true"}})
        except APIError as error:
            if error.reason != "Conflict" or not self.gives_up:
                raise


class TriesAgainAfterConflict(GivesUpOnConflict):
    """Lets its queue try again."""

    gives_up = False


class MakesAnotherAfterError(Reconciler):
    """Makes a pod of a generated name, and notes it; an answer that is lost means another pod."""

    def metadata(self, name):
        return {"generateName": f"{name}-"}

    async def work(self, name, found):
        if found is None or "pod" in (found.get("data") or {}):
            return
        metadata = {**self.metadata(name), "namespace": "default", "labels": {"of": name}}
        made = await missing_ok(self.client.create(PODS, {"metadata": metadata, "spec": POD}), "AlreadyExists")
        pod = name_of(made) if made is not None else metadata["name"]
        await self.client.update(CONFIG_MAPS, {**found, "data": {**(found.get("data") or {}), "pod": pod}})


class MakesTheSameAfterError(MakesAnotherAfterError):
    """A name that the server takes once only."""

    def metadata(self, name):
        return {"name": f"{name}-0"}


class MovesInMemory(Reconciler):
    """Moves a Secret to the place that a map names: reads it, deletes it, makes it there.

    Dies after the second step: what it had read is gone (Sieve: intermediate states).
    """

    async def work(self, name, found):
        place = ((found or {}).get("data") or {}).get("place")
        for secret in self.secrets.list("default"):
            if place and name_of(secret) != place and secret["metadata"].get("labels", {}).get("of") == name:
                await self.move(secret, {"metadata": {
                    "name": place, "namespace": "default", "labels": {"of": name}}, "data": secret.get("data") or {}})

    async def move(self, secret, moved):
        await missing_ok(self.client.delete(SECRETS, name_of(secret), "default"))
        await missing_ok(self.client.create(SECRETS, moved), "AlreadyExists")


class MovesOnTheServer(MovesInMemory):
    """Makes it there before it deletes it."""

    async def move(self, secret, moved):
        await missing_ok(self.client.create(SECRETS, moved), "AlreadyExists")
        await missing_ok(self.client.delete(SECRETS, name_of(secret), "default"))


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


class RollsBack(Reconciler):
    """Makes a Secret and says so in the map; where that fails it deletes the Secret again, and says
    in its memory that it has tried (Acto: recovery from an error).
    """

    def __init__(self, ctx):
        super().__init__(ctx)
        self.tried = set()

    async def work(self, name, found):
        if found is None or "ready" in (found.get("data") or {}) or name in self.tried:
            return
        await create_once(self.client, SECRETS, name)
        try:
            await self.client.update(CONFIG_MAPS, {**found, "data": {"ready": "true"}})
        except APIError:
            await self.fail(name)

    async def fail(self, name):
        self.tried.add(name)
        await missing_ok(self.client.delete(SECRETS, name, "default"))


class TriesAgain(RollsBack):
    """Leaves what is made, and tries again."""

    async def fail(self, name):
        raise RuntimeError(f"{name} is not ready yet")


class Plain:
    """A plain client without a cache: lists and watches maps, and makes a pod for each that comes.

    After a watch has expired everything comes again (client-go's list and watch by hand).
    """

    user_agent, user = "", None

    def __init__(self, name, field):
        self.name, self._field = name, field

    async def start(self, ctx):
        self._client = ctx.client
        ctx.tasks.spawn(self._run(), self.name)

    async def stop(self):
        """Its task ends with its context."""

    async def _run(self):
        while True:
            listed = await self._client.list(CONFIG_MAPS, "default", resource_version="0")
            for found in listed.items:
                await self._came(found)
            try:
                await self._watch(listed.resource_version)
            except APIError as error:
                if error.code != 410:
                    raise

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


def _declared(name, make):
    return controller(name).for_(CONFIG_MAPS).complete(make)


secret_only_first, secret_always = _declared("secret-only-first", SecretOnlyFirst), _declared("secret-always", SecretAlways)
by_stale_view, by_servers_view = _declared("by-stale-view", DeletesByStaleView), _declared(
    "by-servers-view", DeletesByServersView)
sees, there = _declared("cleans-what-it-sees", CleansWhatItSees), _declared("cleans-what-is-there", CleansWhatIsThere)
gives_up, tries_again = _declared("gives-up", GivesUpOnConflict), _declared("tries-again", TriesAgainAfterConflict)
makes_another, makes_the_same = _declared("makes-another", MakesAnotherAfterError), _declared(
    "makes-the-same", MakesTheSameAfterError)
moves_in_memory, moves_on_the_server = _declared("moves-in-memory", MovesInMemory), _declared(
    "moves-on-the-server", MovesOnTheServer)
counts_twice, counts_once = _declared("counts-twice", CountsTwice), _declared("counts-once", CountsOnce)
rolls_back, tries_again_later = _declared("rolls-back", RollsBack), _declared("tries-again-later", TriesAgain)
bills_again, bills_once = Plain("bills-again", "generateName"), Plain("bills-once", "name")
