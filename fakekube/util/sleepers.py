"""When nothing is left to do but to let time pass, although some hold units of activity: those wait
behind what is on its way, or what is made to take time.

A worker that waits for the answer to its request is not busy meanwhile, but the keys in its queue
hold units as ever. Where nothing takes time on purpose none of this runs.
"""

import asyncio
from collections.abc import Callable, Sized

from fakekube.util.activity import Activity
from fakekube.util.tasks import turn

SPINNING_TURNS = 64
"""After so many turns of the loop in which nothing was taken up, what is still ready is no business
of ours.
"""

FOREIGN_SECONDS = 0.005
"""How long something may take, in real time, that is neither ready nor asleep: an answer from
outside.
"""

Look = Callable[[asyncio.AbstractEventLoop], tuple[Sized, bool]]
"""What is ready on a loop, and whether it has no sockets to look at."""


async def quiet_beside_sleepers(look_at: Look, activity: Activity, are_any: Callable[[], bool]) -> None:
    """Return once the loop has nothing ready, sockets included, and no unit is held but by who
    waits for what sleeps; ``are_any`` says whether anything does.
    """
    loop = asyncio.get_running_loop()
    looked, waited, spins, generation = False, False, 0, activity.generation
    while not activity.broken_off:
        ready, alone = look_at(loop)
        if not ready:
            if activity.idle or (are_any() and (alone or waited)):
                if looked or alone:
                    return
            elif not alone or not are_any():
                waited = not await _is_idle_within(activity, FOREIGN_SECONDS)
            looked = True
        else:
            looked = False
        if activity.generation != generation:
            spins, generation, waited = 0, activity.generation, False
        spins += 1
        if spins > SPINNING_TURNS and (activity.idle or are_any()):
            return
        await turn()


async def _is_idle_within(activity: Activity, seconds: float) -> bool:
    """Wait for so long, in real time, until nothing is in flight; whether that came true."""
    try:
        async with asyncio.timeout(seconds):
            await activity.wait_idle(with_sleepers=True)
    except TimeoutError:
        return False
    return True
