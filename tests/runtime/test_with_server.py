"""The engine over the real API server, in process and over HTTP."""

from datetime import timedelta

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.resources import CONFIG_MAPS, EVENTS, JOBS, NAMESPACES, PODS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import Manager, Result, controller
from fakekube.runtime.ownership import ControllerRefManager
from fakekube.util.rng import Rng


class Keeper:
    """Keeps a Secret for every ConfigMap, and says in a label how often it looked."""

    def __init__(self, ctx):
        self.client, self.events = ctx.client, ctx.recorder("keeper")
        self.maps, self.secrets = ctx.lister(CONFIG_MAPS), ctx.lister(SECRETS)

    async def reconcile(self, request):
        config = self.maps.get(*request)
        if config is None or "kept" not in meta.labels_of(config):
            return None
        if not self.secrets.controlled_by(meta.uid_of(config)):
            await self.client.create(SECRETS, {"metadata": {
                "name": request.name, "namespace": request.namespace,
                "ownerReferences": [meta.controller_reference(config)],
            }})
            self.events.event(config, "Normal", "Kept", "made a secret")
        looked = int(meta.annotations_of(config).get("looked", 0)) + 1
        if looked <= 3:
            annotations = {"looked": str(looked)}
            await self.client.patch(CONFIG_MAPS, *reversed(request), {"metadata": {"annotations": annotations}})
        return Result(timedelta(minutes=10), daemon=True)


KEEPER = controller("keeper").for_(CONFIG_MAPS).owns(SECRETS).complete(Keeper)

CONFIG = {"metadata": {"name": "a", "labels": {"kept": "yes"}}}


@pytest.fixture
async def cluster():
    async with Cluster(clock="manual", controllers="", extra=[KEEPER]) as cluster:
        yield cluster


async def test_a_controller_runs_on_the_real_server(cluster):
    """Given a controller on a cluster, when its object is made and its child deleted, then the
    child is there again.
    """
    await cluster.client.create(CONFIG_MAPS, CONFIG)
    await cluster.settle()
    secret = await cluster.client.get(SECRETS, "a")
    assert secret["metadata"]["managedFields"][0]["manager"] == "keeper"
    await cluster.client.delete(SECRETS, "a")
    await cluster.settle()
    assert meta.uid_of(await cluster.client.get(SECRETS, "a")) != meta.uid_of(secret)
    assert meta.annotations_of(await cluster.client.get(CONFIG_MAPS, "a"))["looked"] == "3"


async def test_events_count_on_the_real_server(cluster):
    """Given an event that repeats, when written by patch, then the server's Event says how often.
    """
    config = await cluster.client.create(CONFIG_MAPS, CONFIG)
    await cluster.settle()
    recorder = cluster.manager.events.recorder("tester")
    for _ in range(3):
        recorder.event(config, "Warning", "Odd", "something is odd")
        await cluster.advance(60)
    events = [event for event in (await cluster.client.list(EVENTS)).items if event["reason"] == "Odd"]
    assert [event["count"] for event in events] == [3]
    assert events[0]["lastTimestamp"] == "2026-01-01T00:02:00Z"


async def test_reports_are_events_of_both_versions(cluster):
    """Given a report of events.k8s.io that repeats, when read as core/v1, then it is there with its
    series.
    """
    config = await cluster.client.create(CONFIG_MAPS, CONFIG)
    recorder = cluster.manager.events.recorder("tester")
    for _ in range(2):
        recorder.report(config, "Normal", "Looked", "Looking", "had a look")
        await cluster.advance(1)
    (event,) = [event for event in (await cluster.client.list(EVENTS)).items if event["reason"] == "Looked"]
    assert (event["message"], event["series"]["count"], event["reportingComponent"]) == ("had a look", 2, "tester")


class Everything:
    """Selects all labels."""

    def matches(self, labels):
        return True


async def test_claiming_uses_patches_that_the_server_takes(cluster):
    """Given an orphaned pod, when a Job claims it and lets it go, then its owner references follow.
    """
    client, selector = cluster.client, Everything()
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    job = await client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"template": template}})
    pod = await client.create(PODS, {"metadata": {"name": "p"}, **template})
    refs = ControllerRefManager(client, PODS, job, selector, finalizers=["batch.kubernetes.io/job-tracking"])
    assert await refs.claim([pod]) == [pod]
    owned = await client.get(PODS, "p")
    assert meta.is_controlled_by(owned, job)
    assert meta.finalizers_of(owned) == ["batch.kubernetes.io/job-tracking"]
    await refs.release(owned)
    released = await client.get(PODS, "p")
    assert meta.owners_of(released) == []
    assert meta.finalizers_of(released) == []


async def test_discovery_finds_what_the_server_serves(cluster):
    """Given the real discovery, when resources are looked up by any name, then they are the
    constants.
    """
    client = cluster.client
    assert await client.resource("jobs") == JOBS
    assert await client.resource("po") == PODS
    assert await client.resource("ns") == NAMESPACES
    assert await client.for_object({"apiVersion": "batch/v1", "kind": "Job"}) == JOBS


async def test_apply_owns_fields_and_conflicts(cluster):
    """Given an applied object, when another manager applies another value, then it conflicts unless
    forced.
    """
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "default"}}
    await cluster.client.apply({**config, "data": {"k": "1"}})
    other = cluster.client.with_options(user_agent="other")
    with pytest.raises(APIError, match='conflict with "fakekube"') as raised:
        await other.apply({**config, "data": {"k": "2"}}, force=False)
    assert raised.value.code == 409
    assert (await other.apply({**config, "data": {"k": "2"}}))["data"] == {"k": "2"}


async def test_the_same_controller_over_http():
    """Given a server on a port, when a manager outside runs the controller over HTTP, then it works
    the same.
    """
    async with Cluster(clock="manual", controllers="") as cluster:
        server = await cluster.serve()
        headers = {"authorization": f"Bearer {cluster.token}"}
        client = Client(HTTP(server.url, headers=headers, activity=cluster.activity))
        manager = Manager(
            client, clock=cluster.clock, activity=cluster.activity, rng=Rng(0), tasks=cluster.tasks,
        )
        manager.add(KEEPER)
        await manager.start()
        await cluster.settle()
        await cluster.client.create(CONFIG_MAPS, CONFIG)
        await cluster.settle()
        assert meta.is_controlled_by(
            await cluster.client.get(SECRETS, "a"), await cluster.client.get(CONFIG_MAPS, "a"),
        )
        await manager.stop()
        await client.close()


async def test_one_seed_gives_one_history():
    """Given two clusters with one seed, when the same is done to both, then they hold the same
    bytes.
    """
    states = []
    for _ in range(2):
        async with Cluster(clock="manual", controllers="*", seed=5, extra=[KEEPER]) as cluster:
            await cluster.client.create(CONFIG_MAPS, CONFIG)
            await cluster.advance(3600)
            state = [await cluster.client.list(resource) for resource in (CONFIG_MAPS, SECRETS, EVENTS, PODS)]
            states.append(state)
    assert states[0] == states[1]
