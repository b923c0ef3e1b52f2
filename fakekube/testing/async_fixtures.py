"""The fixtures for async tests, made for whichever plugin runs them: pytest-asyncio (pytest-aiohttp
brings it) or anyio.

It is registered only where one of them is active, so that a project without them never meets an
async fixture.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fakekube.composition.cluster import Cluster
    from fakekube.composition.fleet import Fleet

OF_OTHERS = ("port", "bind_address", "insecure", "kubeconfig", "fleet")
"""Options that a cluster in the test's own loop does not have: whoever serves it says where."""
FLEET = "manager,worker1,worker2"


async def fake_cluster(
    _fakekube_made_with: dict[str, Any], _fakekube_checking: "Callable[[Any], Any]",
) -> "AsyncIterator[Cluster]":
    """A cluster in the test's own event loop: ``client``, ``clock``, ``settle``, ``advance``,
    ``run_until``.
    """
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.options import OptionError

    try:
        made = Cluster(**{name: value for name, value in _fakekube_made_with.items() if name not in OF_OTHERS})
    except OptionError as error:
        raise pytest.UsageError(f"fakekube: {error}") from error
    async with made as cluster:
        with _fakekube_checking(cluster):
            yield cluster


async def fake_fleet(
    _fakekube_made_with: dict[str, Any], _fakekube_checking: "Callable[[Any], Any]",
) -> "AsyncIterator[Fleet]":
    """Several clusters with one clock in the test's own event loop, by name: ``manager``,
    ``worker1``, ``worker2``, unless the option ``fleet`` says otherwise.
    """
    from fakekube.composition.fleet import Fleet, names_of
    from fakekube.composition.options import OptionError

    names = names_of(_fakekube_made_with.get("fleet", FLEET))
    try:
        made = Fleet(*names, **{name: value for name, value in _fakekube_made_with.items() if name not in OF_OTHERS})
    except OptionError as error:
        raise pytest.UsageError(f"fakekube: {error}") from error
    async with made as fleet:
        with _fakekube_checking(fleet):
            yield fleet


def plugin(asyncio: bool) -> Any:
    """An object with the fixtures on it, to be registered with pytest."""
    holder = ModuleType("fakekube_async_fixtures")
    for function in (fake_cluster, fake_fleet):
        if asyncio:
            import pytest_asyncio

            fixture: Any = pytest_asyncio.fixture(function)
        else:
            fixture = pytest.fixture(function)
        vars(holder)[function.__name__] = fixture
    return holder
