"""Every namespace has its service account and its root certificate, whatever happens to them."""

import pytest

from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from tests.controllers.world import World, manual_cluster


@pytest.fixture
async def world():
    async with manual_cluster("namespace,serviceaccount") as cluster:
        yield World(cluster)


async def test_a_new_namespace_gets_both(world):
    """Given a new namespace / then it has the service account default and the ConfigMap
    kube-root-ca.crt.
    """
    await world.client.create(NAMESPACES, {"metadata": {"name": "team"}})
    await world.settle()
    assert await world.client.get(SERVICE_ACCOUNTS, "default", "team")
    assert "ca.crt" in (await world.client.get(CONFIG_MAPS, "kube-root-ca.crt", "team"))["data"]


@pytest.mark.spec("API-154")
@pytest.mark.parametrize(("resource", "name"), [(SERVICE_ACCOUNTS, "default"), (CONFIG_MAPS, "kube-root-ca.crt")])
async def test_what_is_deleted_comes_back(world, resource, name):
    """Given the service account, or the ConfigMap / when it is deleted / then there is another."""
    before = await world.client.get(resource, name, "default")
    await world.client.delete(resource, name, "default")
    await world.settle()
    after = await world.client.get(resource, name, "default")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_a_changed_certificate_is_put_right(world):
    """Given the ConfigMap / when somebody changes its data / then it is as before."""
    before = await world.client.get(CONFIG_MAPS, "kube-root-ca.crt", "default")
    await world.client.patch(CONFIG_MAPS, "kube-root-ca.crt", "default", {"data": {"ca.crt": "mine", "more": "x"}})
    await world.settle()
    assert (await world.client.get(CONFIG_MAPS, "kube-root-ca.crt", "default"))["data"] == before["data"]
