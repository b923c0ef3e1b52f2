"""Fixtures for tests of autoscalers."""

import pytest

from tests.controllers.podautoscaler.scaling import Scaling, cluster_of


@pytest.fixture
async def world():
    async with cluster_of() as cluster:
        yield Scaling(cluster)
