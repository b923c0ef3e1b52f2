"""Fixtures for tests of pods on a node."""

import pytest

from tests.controllers.kubelet.machine import Machine


@pytest.fixture
async def machine():
    """A cluster with one node on manual time."""
    async with Machine() as machine:
        yield machine
