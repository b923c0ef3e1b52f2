"""Secrets for tokens of service accounts are filled, and go with their account."""

import base64

import pytest

from fakekube.client.resources import SECRETS, SERVICE_ACCOUNTS
from tests.controllers.world import NAMESPACE, World, manual_cluster

NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


@pytest.fixture
async def world():
    async with manual_cluster("namespace,serviceaccount,serviceaccount-token") as cluster:
        yield World(cluster)


async def make_secret(world, account, name="t"):
    metadata = {"name": name, "namespace": NAMESPACE, "annotations": {NAME: account}}
    await world.client.create(SECRETS, {"metadata": metadata, "type": "kubernetes.io/service-account-token"})
    await world.settle()
    return await world.client.get(SECRETS, name, NAMESPACE, missing_ok=True)


async def make_account(world, **fields):
    return await world.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "a", "namespace": NAMESPACE}, **fields})


async def test_a_secret_is_filled(world):
    """Given an account / when a Secret asks for its token / then it has a token of the account, its
    uid and the namespace.
    """
    account = await make_account(world)
    secret = await make_secret(world, "a")
    assert secret["metadata"]["annotations"] == {NAME: "a", UID: account["metadata"]["uid"]}
    assert sorted(secret["data"]) == ["ca.crt", "namespace", "token"]
    assert base64.b64decode(secret["data"]["namespace"]).decode() == NAMESPACE
    claims = base64.b64decode(secret["data"]["token"]).decode().split(".")[1]
    assert f'"sub":"system:serviceaccount:{NAMESPACE}:a"' in base64.urlsafe_b64decode(claims + "==").decode()


async def test_what_is_taken_away_is_filled_again(world):
    """Given a filled Secret / when its namespace is removed / then it comes back, and the token
    stays.
    """
    await make_account(world)
    before = await make_secret(world, "a")
    await world.client.patch(SECRETS, "t", NAMESPACE, {"data": {"namespace": None}})
    await world.settle()
    assert (await world.client.get(SECRETS, "t", NAMESPACE))["data"] == before["data"]


async def test_a_secret_without_its_account_goes(world):
    """Given no account / when a Secret asks for its token / then the Secret goes."""
    assert await make_secret(world, "nobody") is None


async def test_a_secret_goes_with_its_account(world):
    """Given a filled Secret / when its account is replaced by another of the same name / then the
    Secret goes.
    """
    await make_account(world)
    await make_secret(world, "a")
    await world.client.delete(SERVICE_ACCOUNTS, "a", NAMESPACE)
    await make_account(world)
    await world.settle()
    assert await world.client.get(SECRETS, "t", NAMESPACE, missing_ok=True) is None


async def test_an_account_forgets_a_secret_that_is_gone(world):
    """Given an account that lists two Secrets / when one is deleted / then the other is still
    listed.
    """
    await make_account(world, secrets=[{"name": "t"}, {"name": "u"}])
    await make_secret(world, "a")
    await world.client.delete(SECRETS, "t", NAMESPACE)
    await world.settle()
    assert (await world.client.get(SERVICE_ACCOUNTS, "a", NAMESPACE))["secrets"] == [{"name": "u"}]
