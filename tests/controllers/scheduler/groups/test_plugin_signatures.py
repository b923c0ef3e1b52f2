"""Plugins whose methods take other arguments than they should, are awaited where they cannot be, or
never return.
"""

import asyncio
import logging
from typing import Any

import pytest

from fakekube.util import driver
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.scheduler.groups.test_faults import (
    ASYNC,
    ENDS_SECONDS,
    METHODS,
    Fault,
    configuration_with,
    faulty_plugin,
)


def _no_arguments() -> None:
    pass


def _too_many(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> None:
    pass


def _synchronous(*_: Any) -> None:
    pass


async def _nothing() -> None:
    pass


@pytest.mark.parametrize("lie", [_no_arguments, _too_many, None], ids=["no arguments", "too many", "awaited or not"])
@pytest.mark.parametrize("method", METHODS)
async def test_a_method_with_another_signature_ends_nothing(method: str, lie: Any) -> None:
    """Given a plugin with a method of another signature than its extension point's, when a gang, a
    pod and one that does not fit are tried, then that ends; when the method is as it should be, all
    are bound that fit.
    """
    unawaited = []

    def asynchronous(*_: Any) -> Any:
        unawaited.append(_nothing())
        return unawaited[-1]

    fault = Fault(None)
    fault.is_mended = True
    plugin = faulty_plugin(method, fault)
    right = getattr(plugin, method)
    setattr(plugin, method, lie or (_synchronous if method in ASYNC else asynchronous))
    config = configuration_with(*["TopologyPlacementGenerator"] if method == "generate_placements" else [])
    async with cluster_of_gangs(scheduler_plugins=lambda _: [plugin], scheduler_config=config) as cluster:
        world = Gangs(cluster)
        async with asyncio.timeout(ENDS_SECONDS):
            await world.node("n", 4, zone="a")
            await world.group("g", 2, topology="zone")
            await world.pods("a", "b", group="g")
            await world.pods("single")
            await world.pods("too-large", cpu=5)
            await world.advance(100)
            setattr(plugin, method, right)
            await world.node("more", 4, zone="b")
            await world.advance(700)
        assert await world.bound() == ["a", "b", "single"]
    for each in unawaited:
        each.close()


@pytest.mark.parametrize("method", ["pod_group_post_filter", "pre_bind", "bind"])
async def test_a_method_that_never_returns_is_named_and_keeps_nobody_from_closing(
    method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:
    """Given a plugin with a method that awaits what never comes, when time is to go on, then that
    waits, and the log says for which task; the cluster stops as it should.
    """
    monkeypatch.setattr(driver, "STUCK_SECONDS", 0.02)
    plugin = faulty_plugin(method, Fault(None))

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    setattr(plugin, method, never)
    with caplog.at_level(logging.WARNING):
        async with cluster_of_gangs(scheduler_plugins=lambda _: [plugin], scheduler_config=configuration_with()) as cluster:
            world = Gangs(cluster)
            await world.node("n", 4)
            await world.group("g", 2)
            trying = asyncio.get_running_loop().create_task(
                world.pods("a", "b", group="g", cpu=1 if "bind" in method else 3))
            while "in work" not in caplog.text:
                await asyncio.wait([trying], timeout=0.01)
            trying.cancel()
    assert ("binding a, binding b" if "bind" in method else "worker scheduler") in caplog.text
