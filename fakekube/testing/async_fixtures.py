"""The fixture for async tests, made for whichever plugin runs them: pytest-asyncio (pytest-aiohttp
brings it) or anyio.

It is registered only where one of them is active, so that a project without them never meets an
async fixture.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fakekube.composition.cluster import Cluster

OF_SERVERS = ("port", "bind_address", "insecure", "kubeconfig")
"""Options that a cluster in the test's own loop does not have: whoever serves it says where."""


async def fake_cluster(fakekube_options: dict[str, Any]) -> "AsyncIterator[Cluster]":
    """A cluster in the test's own event loop: ``client``, ``clock``, ``settle``, ``advance``,
    ``run_until``.
    """
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.options import OptionError

    try:
        made = Cluster(**{name: value for name, value in fakekube_options.items() if name not in OF_SERVERS})
    except OptionError as error:
        raise pytest.UsageError(f"fakekube: {error}") from error
    async with made as cluster:
        yield cluster


def plugin(asyncio: bool) -> Any:
    """An object with the fixture on it, to be registered with pytest."""
    if asyncio:
        import pytest_asyncio

        fixture: Any = pytest_asyncio.fixture(fake_cluster)
    else:
        fixture = pytest.fixture(fake_cluster)
    holder = ModuleType("fakekube_async_fixtures")
    vars(holder)["fake_cluster"] = fixture
    return holder
