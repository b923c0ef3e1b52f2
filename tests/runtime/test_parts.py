"""A component whose parts are declared controllers with something in common."""

from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.runtime.builder import controller
from fakekube.runtime.parts import Parts


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
