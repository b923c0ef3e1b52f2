"""Expressions of admission that compute for long: others are answered meanwhile."""

import asyncio

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.util import tasks
from fakekube.webhooks import AdmissionRequest, Denied
from tests.admission.test_policies import MAPS, PLAIN, apply, config_map, mutate, validate

LONG = "lists.range(300).all(x, lists.range(300).all(y, x + y >= 0))"
VARIABLE = [{"name": "long", "expression": LONG}]


async def order(client: Client) -> list[str]:
    """Which is answered first: a write, or a read that comes right after it."""
    answered: list[str] = []

    async def write() -> None:
        try:
            await client.create(MAPS, config_map("w", a="1"))
        except APIError as error:
            answered.append(error.message.rpartition(": ")[2])
        else:
            answered.append("written")

    async def read() -> None:
        await tasks.turn()
        await client.list(MAPS, namespace="default")
        answered.append("read")

    await asyncio.gather(write(), read())
    return answered


async def test_validations() -> None:
    """Given validations, a message and a variable that take many turns / when an object is written
    / then a read is answered before, and the object is refused in the policy's words.
    """
    async with Cluster(**PLAIN) as cluster:
        await validate(
            cluster.client, {"expression": LONG}, {"expression": "variables.long"},
            {"expression": "!variables.long", "messageExpression": f"{LONG} ? 'no' : 'yes'"}, variables=VARIABLE)
        assert await order(cluster.client) == ["read", "no"]


@pytest.mark.parametrize("mutation", ["Object{data: {'b': string(variables.long)}}", f"Object{{data: {{'b': string({LONG})}}}}"])
async def test_mutations(mutation: str) -> None:
    """Given a mutation that takes many turns / when an object is written / then a read is answered
    before, and the object is changed.
    """
    async with Cluster(**PLAIN) as cluster:
        await mutate(cluster.client, apply(mutation), variables=VARIABLE)
        assert await order(cluster.client) == ["read", "written"]
        found = await cluster.client.get(MAPS, "w", namespace="default")
        assert found["data"] == {"a": "1", "b": "true"}


@pytest.mark.parametrize(("holds", "outcome"), [(True, "asked"), (False, "written")])
async def test_match_conditions_of_a_webhook(holds: bool, outcome: str) -> None:
    """Given match conditions of a webhook that take many turns / when an object is written / then a
    read is answered before, and the webhook is asked if its conditions hold.
    """
    conditions = [{"name": "long", "expression": LONG if holds else f"!{LONG}"}]
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook("configmaps", match_conditions=conditions)
        def refuse(request: AdmissionRequest) -> None:
            raise Denied("asked")

        assert await order(cluster.client) == ["read", outcome]


@pytest.mark.parametrize("holds", [True, False])
async def test_match_conditions_of_a_mutating_policy(holds: bool) -> None:
    """Given match conditions of a mutating policy that take many turns / when an object is written
    / then a read is answered before, and the object is changed if they hold.
    """
    conditions = [{"name": "long", "expression": LONG if holds else f"!{LONG}"}]
    async with Cluster(**PLAIN) as cluster:
        await mutate(cluster.client, apply("Object{data: {'b': 'x'}}"), matchConditions=conditions)
        assert await order(cluster.client) == ["read", "written"]
        assert ("b" in (await cluster.client.get(MAPS, "w", namespace="default"))["data"]) is holds
