"""The official client's asyncio sibling; the cluster still runs in its own thread."""

from pathlib import Path

import pytest
from kubernetes_asyncio import client, config, watch

pytestmark = pytest.mark.asyncio


async def test_watch_sees_what_is_created(fakekube_kubeconfig: Path) -> None:
    settings = client.Configuration()
    await config.load_kube_config(str(fakekube_kubeconfig), client_configuration=settings)
    async with client.ApiClient(settings) as api:
        core = client.CoreV1Api(api)
        version = (await core.list_namespaced_secret("default")).metadata.resource_version
        await core.create_namespaced_secret("default", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
        async with watch.Watch().stream(
            core.list_namespaced_secret, "default", resource_version=version, timeout_seconds=10) as stream:
            async for event in stream:
                assert (event["type"], event["object"].metadata.name) == ("ADDED", "s")
                assert event["object"].data == {"a": "Yg=="}
                break
