"""Updates that are written again when somebody else was faster."""

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS
from fakekube.client.retry import update_with_retry

STALE = {"metadata": {"name": "c", "namespace": "default"}, "data": {"a": "1"}}


def with_b(obj):
    return {**obj, "data": {**obj["data"], "b": "2"}}


@pytest.fixture
async def client():
    async with Cluster() as cluster:
        yield cluster.client


async def changed_meanwhile(client):
    """A config map as it was before somebody changed it."""
    stale = await client.create(CONFIG_MAPS, STALE)
    await client.update(CONFIG_MAPS, {**stale, "data": {"a": "3"}})
    return stale


async def test_an_update_of_what_has_changed_is_written_on_what_is_there_now(client):
    """Given an object that has changed since it was read / when it is updated / then the change is
    on top of the other one.
    """
    written = await update_with_retry(client, CONFIG_MAPS, await changed_meanwhile(client), with_b, tries=2)
    assert written["data"] == {"a": "3", "b": "2"}
    assert await client.get(CONFIG_MAPS, "c", "default") == written


async def test_the_last_conflict_is_raised(client):
    """Given an object that has changed since it was read / when there is one try / then the
    conflict is raised.
    """
    with pytest.raises(APIError) as caught:
        await update_with_retry(client, CONFIG_MAPS, await changed_meanwhile(client), with_b, tries=1)
    assert caught.value.reason == "Conflict"


async def test_other_errors_are_retried_only_where_the_caller_wants_it(client):
    """Given a change that is invalid the first time / then it is raised, unless the caller retries
    any error.
    """
    current, tried = await client.create(CONFIG_MAPS, STALE), []

    def change(obj):
        tried.append(meta.resource_version_of(obj))
        return {**obj, "data": {"bad key!" if len(tried) % 2 else "good": ""}}

    with pytest.raises(APIError, match="bad key!"):
        await update_with_retry(client, CONFIG_MAPS, current, change, tries=2)
    assert len(tried) == 1
    tried.clear()
    written = await update_with_retry(client, CONFIG_MAPS, current, change, tries=2, is_retriable=lambda _: True)
    assert (len(tried), written["data"]) == (2, {"good": ""})
