"""A pod may come right after its namespace."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import NAMESPACES, PODS
from fakekube.composition.cluster import Cluster

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


async def test_a_pod_right_after_its_namespace_gets_the_account_that_is_about_to_be_made() -> None:
    """Given a controller that makes an account in each namespace
    When a pod is created at once after its namespace
    Then it is accepted, with that account, and no time has passed."""
    async with Cluster(nodes=0, clock="manual", controllers="serviceaccount") as cluster:
        before = cluster.clock.now()
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "new"}})
        pod = await cluster.client.create(PODS, POD, "new")
        assert pod["spec"]["serviceAccountName"] == "default"
        assert cluster.clock.now() == before


async def test_an_account_that_nobody_makes_is_told_of() -> None:
    """Given a pod that names an account of its own
    When it is created and nobody makes that account
    Then it is refused in upstream's words."""
    async with Cluster(nodes=0, clock="manual", controllers="serviceaccount") as cluster:
        with pytest.raises(APIError, match='error looking up service account default/mine: serviceaccount "mine" not found'):
            await cluster.client.create(PODS, {**POD, "spec": {**POD["spec"], "serviceAccountName": "mine"}}, "default")
