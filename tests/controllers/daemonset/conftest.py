"""Fixtures for tests of DaemonSets."""

import pytest

from tests.controllers.workloads import Workloads
from tests.controllers.world import manual_cluster

CONTROLLERS = "daemonset,garbagecollector,namespace,serviceaccount"


@pytest.fixture
async def world():
    """A cluster with the DaemonSet controller and three nodes that nobody runs, on manual time."""
    async with manual_cluster(CONTROLLERS) as cluster:
        world = Workloads(cluster)
        for number in range(3):
            await world.add_node(f"n{number}")
        yield world
