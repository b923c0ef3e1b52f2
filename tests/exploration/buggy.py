"""Small operators with the bugs that Sieve's and Acto's authors describe, and their mended twins.

Each watches ConfigMaps whose names begin with ``web``.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS
from fakekube.runtime import controller
from tests.exploration.operators import POD, is_web

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


def _declared(name, make):
    return controller(name).for_(CONFIG_MAPS).complete(make)


secret_only_first, secret_always = _declared("secret-only-first", SecretOnlyFirst), _declared("secret-always", SecretAlways)
by_stale_view, by_servers_view = _declared("by-stale-view", DeletesByStaleView), _declared(
    "by-servers-view", DeletesByServersView)
sees, there = _declared("cleans-what-it-sees", CleansWhatItSees), _declared("cleans-what-is-there", CleansWhatIsThere)
gives_up, tries_again = _declared("gives-up", GivesUpOnConflict), _declared("tries-again", TriesAgainAfterConflict)
makes_another, makes_the_same = _declared("makes-another", MakesAnotherAfterError), _declared(
    "makes-the-same", MakesTheSameAfterError)
