"""The official client's asyncio sibling."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kubernetes_asyncio import client, config, watch


@pytest.fixture
async def async_api(kubeconfig: Path) -> AsyncIterator[client.ApiClient]:
    settings = client.Configuration()
    await config.load_kube_config(str(kubeconfig), client_configuration=settings)
    async with client.ApiClient(settings) as connected:
        yield connected


@pytest.mark.spec("API-076", "API-085")
async def test_two_watchers_see_the_same_order(async_api: client.ApiClient, namespace: str) -> None:
    """Given two watchers of one collection, when objects are written, then both see the same events
    in the same order.
    """
    core = client.CoreV1Api(async_api)
    start = (await core.list_namespaced_config_map(namespace)).metadata.resource_version

    async def collect() -> list[tuple[str, str]]:
        seen = []
        async with watch.Watch().stream(
            core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=10) as stream:
            async for event in stream:
                seen.append((event["type"], event["object"].metadata.resource_version))
                if len(seen) == 4:
                    return seen
        return seen

    watchers = [asyncio.ensure_future(collect()) for _ in range(2)]
    for number in range(3):
        await core.create_namespaced_config_map(namespace, {"metadata": {"name": f"m{number}"}})
    await core.delete_namespaced_config_map("m1", namespace)
    one, other = await asyncio.gather(*watchers)
    assert [kind for kind, _ in one] == ["ADDED", "ADDED", "ADDED", "DELETED"]
    assert one == other


async def test_many_requests_at_once(async_api: client.ApiClient, namespace: str) -> None:
    """Given fifty creates at once, when all are answered, then there are fifty objects, each with
    its own version.
    """
    core = client.CoreV1Api(async_api)
    made = await asyncio.gather(*(
        core.create_namespaced_config_map(namespace, {"metadata": {"generateName": "m-"}}) for _ in range(50)))
    versions = [item.metadata.resource_version for item in made]
    assert len(dict.fromkeys(versions)) == 50
