"""Kueue as a component: it starts, stops, and starts again with nothing but the objects."""

from contextlib import suppress

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon, names

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


@pytest.mark.parametrize("resource", KINDS)
async def test_an_object_without_a_spec_stops_nothing(resource):
    """Given Kueue When an object of any of its kinds is created that says nothing Then it is
    refused, or Kueue goes on."""
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        with suppress(APIError):
            await cluster.client.create(resource, {"metadata": {"name": "x"}}, "default" if resource.namespaced else "")
        await cluster.advance(10)
        assert [line for line in cluster.manager.explain() if "KeyError" in line] == []
