"""Fixtures for tests of controllers in a whole cluster."""

import pytest

from tests.controllers.world import World, manual_cluster


@pytest.fixture
async def world():
    """A cluster with the Job controller and what belongs to it, no nodes, on manual time."""
    async with manual_cluster() as cluster:
        yield World(cluster)
