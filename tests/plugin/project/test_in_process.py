"""Async tests without a socket: the cluster lives in the test's own event loop."""

from datetime import timedelta

import pytest

from fakekube.client.resources import NODES, PODS

pytestmark = pytest.mark.asyncio

POD = {"metadata": {"name": "p", "annotations": {"fakekube.dev/run-duration": "1h"}},
       "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}


async def test_a_pod_runs_its_hour(fake_cluster) -> None:
    await fake_cluster.client.create(PODS, POD, "default")
    before = fake_cluster.clock.now()

    async def done() -> bool:
        return (await fake_cluster.client.get(PODS, "p", "default"))["status"]["phase"] == "Succeeded"

    await fake_cluster.run_until(done)
    assert fake_cluster.clock.now() - before >= timedelta(hours=1)


@pytest.mark.fakekube(nodes=0, clock="manual")
async def test_the_marker_counts_here_too(fake_cluster) -> None:
    assert (await fake_cluster.client.list(NODES)).items == []
    await fake_cluster.client.create(PODS, POD, "default")
    await fake_cluster.advance(timedelta(days=1))
    assert (await fake_cluster.client.get(PODS, "p", "default"))["status"]["phase"] == "Pending"
