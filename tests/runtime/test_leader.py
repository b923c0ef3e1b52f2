"""At any time at most one candidate leads."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.resources import CONFIG_MAPS, LEASES
from fakekube.client.transport import TransportError
from fakekube.composition.cluster import Cluster
from fakekube.runtime import controller
from fakekube.runtime.leader import LeaderElector
from fakekube.runtime.standalone import run_components
from fakekube.util.driver import Stalled
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks


class Candidate:
    def __init__(self, cluster, name):
        self.name, self.told, self.cluster = name, [], cluster
        self.broken = None
        self.elector = LeaderElector(
            cluster.client, clock=cluster.clock, rng=Rng(name), identity=name, name="lock", namespace="kube-system",
        )

    def run(self):
        return self.cluster.tasks.spawn(self.elector.run(self._started, self._stopped), self.name)

    async def _started(self):
        self.told.append("started")

    async def _stopped(self):
        self.told.append("stopped")


@pytest.fixture
async def cluster():
    async with Cluster(clock="manual", controllers="") as cluster:
        yield cluster


async def test_the_second_leads_when_the_first_has_died(cluster):
    """Given two candidates, when the leader dies, then the other leads once the lease has ended,
    not before.
    """
    first, second = Candidate(cluster, "first"), Candidate(cluster, "second")
    task = first.run()
    second.run()
    await cluster.advance(60)
    assert (first.told, second.told) == (["started"], [])
    lease = await cluster.client.get(LEASES, "lock", "kube-system")
    assert lease["spec"]["holderIdentity"] == "first"
    assert lease["spec"]["renewTime"] > lease["spec"]["acquireTime"]
    task.cancel()
    await cluster.advance(10)
    assert first.told == ["started", "stopped"]
    assert second.told == []
    await cluster.advance(15)
    assert second.elector.is_leader
    lease = await cluster.client.get(LEASES, "lock", "kube-system")
    assert lease["spec"]["leaseTransitions"] == 1


async def test_a_released_lease_is_taken_soon(cluster):
    """Given a leader that gives up properly, when it has released, then the other leads within a
    few seconds.
    """
    first, second = Candidate(cluster, "first"), Candidate(cluster, "second")
    task = first.run()
    second.run()
    await cluster.advance(10)
    task.cancel()
    await cluster.settle()
    await first.elector.release()
    await cluster.advance(5)
    assert second.elector.is_leader


async def test_who_cannot_renew_stops_before_the_lease_ends(cluster):
    """Given a leader that is cut off, when it cannot renew for ten seconds, then it stops leading.
    """
    first = Candidate(cluster, "first")
    task = first.run()
    await cluster.advance(10)

    async def cut(*_args, **_options):
        raise TransportError("cut off")

    first.elector._client = Client(type("Cut", (), {"request": cut})())
    await cluster.advance(8)
    assert first.elector.is_leader
    await cluster.advance(6)
    assert task.done()
    assert first.told == ["started", "stopped"]


async def test_who_is_overruled_stops_at_once(cluster):
    """Given a leader whose lease somebody else took, when it renews, then it stops leading."""
    first = Candidate(cluster, "first")
    first.run()
    await cluster.advance(10)
    lease = await cluster.client.get(LEASES, "lock", "kube-system")
    await cluster.client.update(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "usurper"}})
    await cluster.advance(3)
    assert first.told == ["started", "stopped"]


async def test_nobody_waits_for_an_election():
    """Given a leader that renews and another that waits, when virtual time is to run until
    something happens, then it does not run for them.
    """
    async with Cluster(clock="auto", controllers="", nodes=0) as cluster:
        first, second = Candidate(cluster, "first"), Candidate(cluster, "second")
        first.run()
        second.run()
        await cluster.settle()
        assert (first.told, second.told) == (["started"], [])
        with pytest.raises(Stalled, match="only daemon timers are left"):
            await cluster.run_until(lambda: False)


class Marker:
    def __init__(self, ctx):
        self.client = ctx.client

    async def reconcile(self, request):
        await self.client.patch(CONFIG_MAPS, *reversed(request), {"data": {"seen": "yes"}})


async def test_a_program_of_controllers_runs_on_any_cluster():
    """Given a cluster on a port, when components run as a program with a lease, then they work
    until cancelled.
    """
    async with Cluster(clock="real", controllers="") as cluster:
        server = await cluster.serve()
        client = Client(HTTP(server.url, headers={"authorization": f"Bearer {cluster.token}"}))
        marker = controller("marker").for_(CONFIG_MAPS).complete(Marker)
        tasks = Tasks()
        program = tasks.spawn(run_components(client, [marker], lease="marker"), "program")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}})

        async def seen():
            return (await cluster.client.get(CONFIG_MAPS, "a")).get("data") == {"seen": "yes"}

        await cluster.run_until(seen, within=20)
        program.cancel()
        await tasks.close()
        await client.close()


async def test_what_a_program_breaks_with_is_raised():
    """Given a component that breaks, when it runs as a program, then its error is raised."""
    class Broken:
        name, user_agent, user = "broken", "", None

        async def start(self, ctx):
            ctx.tasks.spawn(self.fail(), "fail")

        async def fail(self):
            raise APIError(500, "InternalError", "broken")

        async def stop(self):
            pass

    async with Cluster(clock="real", controllers="") as cluster:
        with pytest.raises(APIError, match="broken"):
            await run_components(cluster.client, [Broken()])


async def test_a_program_that_changes_what_a_cache_holds_breaks():
    """Given a controller that changes an object of its cache, when it runs as a program that looks
    out for that, then it breaks; without that, nobody notices.
    """
    class Careless:
        def __init__(self, ctx):
            self.lister = ctx.lister(CONFIG_MAPS)

        async def reconcile(self, request):
            self.lister.get(*request)["data"] = {"changed": "yes"}

    async with Cluster(clock="real", controllers="", nodes=0) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        careless = controller("careless").for_(CONFIG_MAPS).complete(Careless)
        with pytest.raises(Exception, match="cached ConfigMap default/a was changed by the controller careless"):
            await run_components(cluster.client, [careless], cache_mutation_detector=True)
