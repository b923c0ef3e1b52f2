"""A component whose parts are declared controllers with something in common."""

from fakekube.apimachinery import errors
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.runtime.builder import controller
from fakekube.runtime.manager import Manager
from fakekube.runtime.parts import Parts
from fakekube.util.activity import Activity
from fakekube.util.rng import Rng


class Names:
    """Adds the names of what it is asked to reconcile to what is shared."""

    def __init__(self, shared, ctx):
        self.shared, self.ctx = shared, ctx
        shared.append(f"{ctx.name} begins")

    async def reconcile(self, request):
        if request.namespace == "default" and not request.name.startswith("kube-"):
            self.shared.append(f"{self.ctx.name} {request.name}")


class Both:
    """A component of two parts: one starts at once, one with the first Secret."""

    def __init__(self):
        self.runs = []

    async def start(self, ctx):
        shared = []
        self.runs.append(shared)
        self.parts = Parts(ctx)
        await self.parts.start(controller("maps").for_(CONFIG_MAPS).complete(lambda part: Names(shared, part)))
        waiting = controller("secrets").for_(SECRETS).starts_with(SECRETS)
        await self.parts.start(waiting.complete(lambda part: Names(shared, part)))

    async def stop(self):
        await self.parts.stop()


async def test_parts_share_and_begin_anew():
    """Given a component of two parts When ConfigMaps and Secrets are made, and it is stopped and
    started Then the lazy part begins with the first Secret, both tell the same list, nobody tells
    anything while stopped, and the next run begins with an empty one and what is there."""
    component = Both()
    declared = controller("both").starts_with(is_needed=lambda _: True).runs(lambda: component)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[declared]) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        await cluster.settle()
        assert component.runs == [["maps begins", "maps a"]]
        await cluster.client.create(SECRETS, {"metadata": {"name": "s"}}, "default")
        await cluster.settle()
        assert component.runs == [["maps begins", "maps a", "secrets begins", "secrets s"]]
        assert cluster.manager.taken >= 2
        await cluster.stop_controller("both")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "default")
        await cluster.settle()
        assert len(component.runs[0]) == 4
        await cluster.start_controller("both")
        await cluster.settle()
        assert sorted(component.runs[1]) == ["maps a", "maps b", "maps begins", "secrets begins", "secrets s"]


class Followed(Both):
    """A component of one part, which follows Secrets for it."""

    async def start(self, ctx):
        ctx.informer(SECRETS)
        await super().start(ctx)


async def test_a_part_waits_for_the_caches_of_its_component():
    """Given a component of another process that follows Secrets, which cannot be listed for a while
    When it starts Then its part, which follows ConfigMaps alone, acts once Secrets are there, too.
    """
    component, refused = Followed(), []
    declared = controller("both").starts_with(is_needed=lambda _: True).runs(lambda: component)

    async def refuse(info, request, serve):
        if (info.resource, info.verb) == ("secrets", "list") and not refused:
            refused.append(info)
            raise errors.raw("storage is (re)initializing")
        return await serve(info, request)

    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        cluster.apiserver.interceptors = (refuse,)
        manager = Manager(
            cluster.client, clock=cluster.clock, activity=Activity(), rng=Rng(1), tasks=cluster.tasks)
        manager.add(declared)
        await manager.start()
        await cluster.run_until(lambda: refused)
        await cluster.settle()
        assert component.runs == [["maps begins"]]
        await cluster.run_until(lambda: component.runs == [["maps begins", "maps a"]])
        await manager.stop()
