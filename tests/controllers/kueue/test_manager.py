"""Kueue as a component: it starts, stops, and starts again with nothing but the objects."""

import json
from contextlib import suppress

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube.testing.records import assert_requested
from fakekube_controllers.kueue import addon, names
from tests.controllers.kueue.jobs.conftest import manifest

KINDS = (
    names.WORKLOADS, names.TOPOLOGIES, names.MULTIKUEUE_CLUSTERS, names.MULTIKUEUE_CONFIGS, names.ADMISSION_CHECKS,
    names.CLUSTER_QUEUES, names.COHORTS, names.LOCAL_QUEUES, names.RESOURCE_FLAVORS)


async def test_a_restart_makes_everything_anew():
    """Given a cluster with Kueue When it is stopped and started Then what its controllers share is
    gone while it is stopped, and another one afterwards."""
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        manager = cluster.component("kueue")
        first = manager.kueue
        assert first is not None
        await cluster.stop_controller("kueue")
        assert manager.kueue is None
        await cluster.start_controller("kueue")
        await cluster.settle()
        assert cluster.component("kueue").kueue not in (None, first)


async def test_who_is_above_a_pod_is_read_from_the_caches_of_a_kueue_that_runs():
    """Given a Job with a queue that runs, when a pod of it is created, then Kueue asks the server
    for no Job; when it is created while Kueue is stopped, then Kueue's webhook asks for it. Neither
    pod waits."""
    async with Cluster(nodes=0, clock="manual", extra=[addon()]) as cluster:
        await queues(cluster.client)
        await cluster.client.create(JOBS, manifest("j"))
        await cluster.advance(2)
        (pod,) = (await cluster.client.list(PODS, "default")).items
        assert "schedulingGates" not in pod["spec"]
        assert_requested(cluster, verb="get", resource="jobs", user_agent="fakekube", count=0)
        await cluster.stop_controller("kueue")
        await cluster.client.delete(PODS, pod["metadata"]["name"], "default")
        await cluster.advance(30)
        (other,) = (await cluster.client.list(PODS, "default")).items
        assert other["metadata"]["name"] != pod["metadata"]["name"]
        assert "schedulingGates" not in other["spec"]
        assert_requested(cluster, verb="get", resource="jobs", user_agent="fakekube", count=1)


async def queues(client):
    """A queue with room."""
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
    quota = {"name": "cpu", "nominalQuota": "10"}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [quota]}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": spec})
    await client.create(names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "cq"}})


async def is_served(cluster):
    """Whether webhooks, conversion and the visibility API of Kueue answer."""
    client = cluster.client
    made = await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": {"namespaceSelector": {}}})
    await cluster.advance(2)
    path = f"/apis/{names.GROUP}/v1beta1/clusterqueues/cq"
    old = json.loads((await client.request("GET", path)).body)
    pending = f"/apis/visibility.{names.GROUP}/v1beta2/clusterqueues/cq/pendingworkloads"
    answer = await client.request("GET", pending)
    job = await client.create(JOBS, manifest("j"))
    return (
        "finalizers" in made["metadata"], old["apiVersion"] == f"{names.GROUP}/v1beta1", answer.status == 200,
        job["spec"]["suspend"])


async def test_it_starts_by_name_as_if_it_had_been_named():
    """Given a cluster that did not name Kueue When it is started by name, and in a fork then, and
    after a restore of what was before Then its kinds, webhooks, conversion and visibility API are
    there."""
    async with Cluster(nodes=0, clock="manual", controllers="job") as cluster:
        before = cluster.snapshot()
        await cluster.start_controller("kueue")
        await cluster.settle()
        async with cluster.fork() as other:
            assert await is_served(other) == (True, True, True, True)
        assert await is_served(cluster) == (True, True, True, True)
        await cluster.restore(before)
        await cluster.settle()
        assert await is_served(cluster) == (True, True, True, True)


@pytest.mark.parametrize("resource", KINDS)
async def test_an_object_without_a_spec_stops_nothing(resource):
    """Given Kueue When an object of any of its kinds is created that says nothing Then it is
    refused, or Kueue goes on."""
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        with suppress(APIError):
            await cluster.client.create(resource, {"metadata": {"name": "x"}}, "default" if resource.namespaced else "")
        await cluster.advance(10)
        assert [line for line in cluster.manager.explain() if "KeyError" in line] == []
