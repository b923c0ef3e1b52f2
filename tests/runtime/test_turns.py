"""Who makes or deletes many pods gives everybody else a turn in between."""

import asyncio

import pytest

from fakekube.cache.expectations import Expectations
from fakekube.runtime.podcontrol import UNTURNED_PODS, delete_expected, slow_start
from fakekube.util.clock import ManualClock


@pytest.mark.parametrize("what", ["made", "deleted"])
async def test_many_pods_do_not_hold_the_loop(what: str) -> None:
    """Given 500 pods, when they are made or deleted without a wait in it, then others had a turn
    after each few.
    """
    turns, done, most = 0, 0, 0

    async def others() -> None:
        nonlocal turns, most, done
        while True:
            await asyncio.sleep(0)
            most, done, turns = max(most, done), 0, turns + 1

    async def act(_: object) -> bool:
        nonlocal done
        done += 1
        return True

    task = asyncio.ensure_future(others())
    await asyncio.sleep(0)
    if what == "made":
        await slow_start(range(500), act)
    else:
        pods = [{"metadata": {"name": f"p{number}", "uid": f"u{number}"}} for number in range(500)]
        await delete_expected(Expectations(ManualClock()), "key", pods, act)
    task.cancel()
    assert turns > 10
    assert most <= 2 * UNTURNED_PODS
