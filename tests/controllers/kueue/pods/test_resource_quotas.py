"""Pods that Kueue holds back are pods all the same."""

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS, RESOURCE_QUOTAS
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers


@pytest.mark.fakekube(controllers="*,kueue", nodes=1)
async def test_gated_pods_count_against_a_resource_quota(fake_cluster: Cluster) -> None:
    """Given a namespace that may have two pods, and a queue with room for one, when three pods are
    queued, then the second is gated and counts, and the third is refused; as KEP-77 warns.
    """
    client = fake_cluster.client
    await workers.put_queue_in(fake_cluster, "1")
    await client.create(RESOURCE_QUOTAS, {
        "metadata": {"name": "few", "namespace": workers.NS}, "spec": {"hard": {"pods": "2"}}})
    await fake_cluster.settle()

    async def queue(name: str) -> None:
        container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}
        await client.create(PODS, {
            "metadata": {"name": name, "namespace": workers.NS, "labels": {names.QUEUE_LABEL: "q"}},
            "spec": {"containers": [container]}})
        await fake_cluster.advance("5s")

    await queue("a")
    await queue("b")
    gated = [each["metadata"]["name"] for each in (await client.list(PODS, workers.NS)).items
             if each["spec"].get("schedulingGates")]
    assert gated == ["b"]
    with pytest.raises(APIError, match=r"exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2"):
        await queue("c")
