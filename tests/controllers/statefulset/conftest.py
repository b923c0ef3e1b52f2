"""Fixtures for tests of StatefulSets."""

import pytest

from tests.controllers.workloads import Workloads
from tests.controllers.world import manual_cluster

CONTROLLERS = "statefulset,persistentvolumeclaim-protection,garbagecollector,namespace,serviceaccount"


@pytest.fixture
async def world():
    """A cluster with the StatefulSet controller and what belongs to it, no nodes, on manual time.
    """
    async with manual_cluster(CONTROLLERS) as cluster:
        yield Workloads(cluster)
