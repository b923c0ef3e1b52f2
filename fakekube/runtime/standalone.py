"""Controllers as a program of their own, against any cluster: the way out for who outgrows one
process.

The same components that run inside a Cluster run here, over HTTP and on the wall's time. Upstream:
kube-controller-manager.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fakekube.cache.mutation import MutationDetector
from fakekube.client.client import Client
from fakekube.runtime.builder import Declaration
from fakekube.runtime.component import Runnable
from fakekube.runtime.leader import LeaderElector
from fakekube.runtime.manager import Manager
from fakekube.util.activity import Activity
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks
from fakekube.util.wallclock import RealClock

WATCH_TIMEOUT_SECONDS = 300.0


async def run_components(
    client: Client, components: Iterable[Runnable | Declaration], *, version: str = "",
    gates: Mapping[str, bool] | None = None, options: Mapping[str, Any] | None = None, lease: str = "",
    clock: RealClock | None = None, cache_mutation_detector: bool = False, on_start: Callable[[Manager], None] | None = None,
) -> None:
    """Run components until this is cancelled, then stop them; the client stays open.

    ``lease`` names a Lease in kube-system that this process must hold to run them; when it is lost,
    this returns. With ``cache_mutation_detector`` a component that changes an object of a cache is
    one that breaks. ``on_start`` is told of the manager before it starts.
    Raises what a component breaks with.
    """
    clock, rng = clock or RealClock(), Rng.unpredictable()
    broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def fail(error: BaseException) -> None:
        if not broken.done():
            broken.set_exception(error)

    tasks = Tasks(on_failure=fail)
    manager = Manager(
        client, clock=clock, activity=Activity(), rng=rng, tasks=tasks, version=version, gates=gates, options=options,
        watch_timeout_seconds=WATCH_TIMEOUT_SECONDS, detector=MutationDetector(fail) if cache_mutation_detector else None,
    )
    for component in components:
        manager.add(component)
    if on_start is not None:
        on_start(manager)
    try:
        if lease:
            elector = LeaderElector(client, clock=clock, rng=rng, identity=f"fakekube_{rng.uid()}", name=lease)
            leading = tasks.spawn(elector.run(manager.start, manager.stop), "leader election")
            await asyncio.wait([broken, leading], return_when=asyncio.FIRST_COMPLETED)
            if not broken.done():
                return
        else:
            await manager.start()
        await broken
    finally:
        await manager.stop()
        await tasks.close()
