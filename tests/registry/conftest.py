"""A cluster with nobody in it but the API server, on a clock that stands still."""

from collections.abc import AsyncIterator

import pytest

from fakekube.client.client import Client
from fakekube.composition.cluster import Cluster


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=0, controllers="", clock="manual") as made:
        yield made


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return cluster.client
