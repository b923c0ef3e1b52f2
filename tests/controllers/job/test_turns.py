"""A Job with many pods at once leaves the event loop to others."""

import asyncio
from types import SimpleNamespace
from typing import Any

from fakekube.runtime.podcontrol import UNTURNED_PODS
from fakekube.util import tasks
from fakekube_controllers.job import tracking


def test_others_have_turns_while_finalizers_are_removed() -> None:
    """Given many finished pods / when their finalizers are removed / then somebody else has a turn
    after each so many of them, and all are released.
    """
    count = 3 * UNTURNED_PODS + 1
    removed: list[str] = []
    seen: list[int] = []

    async def remove(pod: Any) -> None:
        removed.append(pod["metadata"]["uid"])

    async def others() -> None:
        while len(removed) < count:
            seen.append(len(removed))
            await tasks.turn()

    async def play() -> dict[str, None]:
        state: Any = SimpleNamespace(released={})
        writer: Any = SimpleNamespace(finalizers=SimpleNamespace(remove=remove))
        pods = [{"metadata": {"uid": str(number)}} for number in range(count)]
        failure, _ = await asyncio.gather(tracking._release(state, writer, pods), others())
        assert failure is None
        released: dict[str, None] = state.released
        return released

    released = asyncio.run(play())
    assert seen == [UNTURNED_PODS, 2 * UNTURNED_PODS, 3 * UNTURNED_PODS]
    assert list(released) == removed == [str(number) for number in range(count)]
