"""What operators with bugs have in common. Each watches ConfigMaps whose names begin with ``web``.
"""

from base64 import b64encode
from datetime import timedelta

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS
from fakekube.runtime import controller
from fakekube.runtime.reconcile import Request, Result
from tests.exploration.operators import is_web


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


class OfOne(Reconciler):
    """Does its work for the map ``web`` alone, and may say when it is to come again."""

    async def reconcile(self, request):
        return await self.work(request.name, self.maps.get("default", request.name)) if request.name == "web" else Result()


class Timed(Reconciler):
    """Does something every so many seconds, and nothing when it hears of that."""

    seconds = 1.0

    def __init__(self, ctx):
        super().__init__(ctx)
        self.clock, self.due = ctx.clock, 0.0

    async def reconcile(self, request):
        found = self.maps.get("default", request.name)
        if request.name != "web" or found is None:
            return Result()
        if self.clock.time() >= self.due:
            self.due = self.clock.time() + self.seconds
            await self.tick(found)
        return Result(requeue_after=timedelta(seconds=self.due - self.clock.time()))


def version(text):
    """The data of a Secret that says it."""
    return {"version": b64encode(text.encode()).decode()}


def declared(name, make):
    return controller(name).for_(CONFIG_MAPS).complete(make)


def declared_with_secrets(name, make):
    """Looks at ``web`` again whenever a Secret changes."""
    return controller(name).for_(CONFIG_MAPS).watches(SECRETS, lambda _: [Request("default", "web")]).complete(make)
