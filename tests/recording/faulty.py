"""A story whose requests meet faults of every sort."""

import asyncio

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS

FAULTS = [
    {"name": "busy", "verbs": "create", "names": "a", "error": "TooManyRequests"},
    {"name": "ambiguous", "verbs": "create", "names": "b", "error": "EtcdTimeout", "moment": "after"},
    {"name": "lost", "verbs": "create", "names": "c", "cut": "after"},
    {"name": "slow", "verbs": "create", "names": "d", "latency": "1s"},
    {"name": "behind", "verbs": "list", "resources": "configmaps", "stale": True, "nth": 1},
    {"name": "silent", "verbs": "watch", "watch": "end", "events": 1, "nth": 1}]


async def faulty_story(cluster: Cluster) -> None:
    """Everything that changes what is recorded of a request, once; ``e`` meets nothing."""
    client = cluster.client
    async with await client.watch(CONFIG_MAPS, "default"):
        for name in "abcde":
            writing = asyncio.ensure_future(client.create(CONFIG_MAPS, {"metadata": {"name": name}}))
            await asyncio.wait([writing], timeout=0.01)
            await cluster.advance("2s")
            await asyncio.gather(writing, return_exceptions=True)
    await client.list(CONFIG_MAPS, "default", resource_version="0")
    await client.list(CONFIG_MAPS, "default")
