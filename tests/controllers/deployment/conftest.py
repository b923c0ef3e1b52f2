"""Fixtures for tests of Deployments."""

import pytest

from tests.controllers.workloads import Workloads
from tests.controllers.world import manual_cluster

CONTROLLERS = "deployment,replicaset,garbagecollector,namespace,serviceaccount,resourcequota"


@pytest.fixture
async def world():
    """A cluster with the controllers of Deployments and ReplicaSets, no nodes, on manual time."""
    async with manual_cluster(CONTROLLERS) as cluster:
        yield Workloads(cluster)
