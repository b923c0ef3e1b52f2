"""A cluster in a thread of its own, for clients that block.

The cluster's event loop runs in the thread; what moves its time is called from the test's thread
and waits there.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from fakekube.composition.options import boolean_of, port_of
from fakekube.testing.companions import Companions

if TYPE_CHECKING:
    from fakekube.apimachinery.http import Handler
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.options import ClusterOptions
    from fakekube.composition.serving import Served
    from fakekube.composition.snapshot import Snapshot
    from fakekube.runtime.why import Answer
    from fakekube.testing.background_faults import BackgroundFaults
    from fakekube.tracing.trace import Trace
    from fakekube.util.clusterclock import ClusterClock
    from fakekube.util.durations import Duration
    from fakekube.webhooks.callables import Function

T = TypeVar("T")


class BackgroundCluster:
    """A served cluster whose methods may be called from any thread but its own.

    A context manager: it serves inside the block. ``url`` and ``kubeconfig`` (the path of a file)
    say where. ``options`` and ``values`` are the options of the cluster, as for ``Cluster``; what
    is wrong with them is raised when the block is entered.
    """

    def __init__(
        self, options: "ClusterOptions | None" = None, *, kubeconfig: Path | str | None = None,
        bind_address: str = "127.0.0.1", port: int | str = 0, insecure: bool | str = False, **values: Any,
    ) -> None:
        self._made_with = {"options": options, **values}
        self._path = None if kubeconfig is None else Path(kubeconfig)
        self._host, self._port, self._insecure = bind_address, port, insecure
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fakekube")
        self._predicates = ThreadPoolExecutor(thread_name_prefix="fakekube predicate")
        self._companions = Companions()
        self._served: Future[None] | None = None
        self._cluster: Cluster | None = None
        self._server: Served | None = None
        self._kubeconfigs_of_others = 0
        self.url = ""

    def __enter__(self) -> Self:
        self._served = self._thread.submit(lambda: asyncio.run(self._serve()))
        self._served.add_done_callback(lambda _: self._ready.set())
        self._ready.wait()
        if self._served.done():
            self._join()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None and self._served is not None and not self._served.done():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._join()

    def _join(self) -> None:
        """Wait for the thread; what went wrong in it is raised here."""
        self._thread.shutdown()
        self._predicates.shutdown()
        if self._served is not None:
            self._served.result()

    async def _serve(self) -> None:
        from fakekube.composition.cluster import Cluster

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with Cluster(**self._made_with) as cluster:
            server = await cluster.serve(
                host=self._host, port=port_of(self._port), insecure=boolean_of("insecure", self._insecure))
            self._cluster, self._server, self.url = cluster, server, server.url
            if self._path is not None:
                server.write_kubeconfig(self._path)
            self._ready.set()
            await self._stop.wait()

    @property
    def cluster(self) -> "Cluster":
        """The cluster itself; use it from its own thread only (see ``call``)."""
        assert self._cluster is not None, "not started"
        return self._cluster

    @property
    def clock(self) -> "ClusterClock":
        """The cluster's clock; reading it is safe from here."""
        return self.cluster.clock

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig's path."""
        assert self._path is not None, "no path was given for a kubeconfig"
        return self._path

    def kubeconfig_for(self, user: str, groups: Iterable[str] = (), *, namespace: str = "default") -> Path:
        """The path of a kubeconfig, beside the administrator's, with which somebody else asks.

        ``user`` may be a service account, ``system:serviceaccount:NAMESPACE:NAME``; see
        ``Cluster.token_for``. What they may do the option ``authorization_mode`` decides.
        """
        async def text(cluster: "Cluster") -> str:
            assert self._server is not None, "not started"
            return self._server.kubeconfig_for(cluster.token_for(user, groups), namespace=namespace)

        self._kubeconfigs_of_others += 1
        path = self.kubeconfig.with_name(f"{self.kubeconfig.name}-{self._kubeconfigs_of_others}")
        path.touch(mode=0o600)
        path.write_text(self.call(text))
        return path

    def call(self, function: Callable[["Cluster"], Coroutine[Any, Any, T]], timeout_seconds: float | None = None) -> T:
        """Run ``await function(cluster)`` in the cluster's thread and wait for what it returns or
        raises, for ever or so long.
        """
        assert self._loop is not None, "not started"
        return asyncio.run_coroutine_threadsafe(function(self.cluster), self._loop).result(timeout_seconds)

    def run(self, function: Callable[["Cluster"], T]) -> T:
        """What a plain function returns or raises that is called in the cluster's thread."""
        async def there(cluster: "Cluster") -> T:
            return function(cluster)

        return self.call(there)

    def why(self, what: str, *, namespace: str = "default") -> "Answer":
        """Why an object waits, and what would let it go on; see ``Cluster.why``."""
        return self.call(lambda cluster: cluster.why(what, namespace=namespace))

    def trace(self, what: str, *, namespace: str = "default", field: str = "", last: int = 20) -> "Trace":
        """The causes of an object's state, back to the first requests; see ``Cluster.trace``."""
        return self.call(lambda cluster: cluster.trace(what, namespace=namespace, field=field, last=last))

    def snapshot(self, timeout_seconds: float | None = None) -> "Snapshot":
        """All of the cluster as it is now; see ``Cluster.snapshot``.

        TimeoutError when its thread is busy for so long.
        """
        async def take(cluster: "Cluster") -> "Snapshot":
            return cluster.snapshot()

        return self.call(take, timeout_seconds)

    def restore(self, snapshot: "Snapshot | Path | str") -> None:
        """Go back (or over) to a snapshot; see ``Cluster.restore``."""
        self.call(lambda cluster: cluster.restore(snapshot))

    def reset(self) -> None:
        """Be as new; see ``Cluster.reset``. The address stays, and so do clients' connections."""
        self.call(lambda cluster: cluster.reset())

    @property
    def faults(self) -> "BackgroundFaults":
        """What goes wrong on purpose, from the test's thread; see ``Cluster.faults``."""
        from fakekube.testing.background_faults import BackgroundFaults

        return BackgroundFaults(self.run)

    def stop_controller(self, name: str) -> None:
        """Stop a controller until it is started by name. OptionError for an unknown name."""
        self.call(lambda cluster: cluster.stop_controller(name))

    def start_controller(self, name: str) -> None:
        """Start a controller. OptionError for an unknown name."""
        self.call(lambda cluster: cluster.start_controller(name))

    def restart_controller(self, name: str) -> None:
        """Stop a controller and start it. OptionError for an unknown name."""
        self.call(lambda cluster: cluster.restart_controller(name))

    def aggregate(self, name: str, server: "Handler | str", **values: Any) -> None:
        """Let a Handler, or a server behind a URL, answer for a version of an API group; see
        ``Cluster.aggregate``.

        A Handler runs on the cluster's loop.
        """
        async def run(cluster: "Cluster") -> None:
            cluster.aggregate(name, server, **values)

        self.call(run)

    def webhook(self, *resources: str, **values: Any) -> "Callable[[Function], Function]":
        """A decorator: let a function be an admission webhook; see ``Cluster.webhook``.

        It runs in a thread of its own, so it may use a client that blocks.
        """
        from fakekube.composition.functionwebhooks import in_thread

        def register(function: "Function") -> "Function":
            async def run(cluster: "Cluster") -> None:
                cluster.webhook(*resources, **values)(in_thread(function))

            self.call(run)
            return function

        return register

    def pause(self) -> None:
        """Let time stand still, but for ``advance``."""
        self.run(lambda cluster: cluster.clock.pause())

    def resume(self) -> None:
        """Let time run on. Raises ClockError for a manual clock."""
        self.run(lambda cluster: cluster.clock.resume())

    def settle(self, *, grace: "Duration | None" = None) -> None:
        """Return once the cluster has nothing left to do at its present time, and clients are
        quiet; see ``run_until``.
        """
        self._wait(lambda cluster: cluster.settle(grace=grace))

    def advance(self, duration: "Duration", *, grace: "Duration | None" = None) -> None:
        """Let so much time pass (``"1h30m"``, seconds or a timedelta), with all that happens in it;
        see ``run_until``.
        """
        self._wait(lambda cluster: cluster.advance(duration, grace=grace))

    def run_until(
        self, predicate: Callable[[], bool], *, within: "Duration | None" = None, grace: "Duration | None" = None,
    ) -> None:
        """Let time pass until ``predicate()``, which is called in a thread of its own and may use a
        blocking client.

        Virtual time waits for operators in other threads and processes, until they have been quiet
        for ``grace`` of real time (see docs/time.md). Raises Stalled when it is false and nothing
        is left to wait for.
        """
        @functools.wraps(predicate)
        async def holds() -> bool:
            return await asyncio.get_running_loop().run_in_executor(self._predicates, predicate)

        self._wait(lambda cluster: cluster.run_until(holds, within=within, grace=grace))

    def _wait(self, function: Callable[["Cluster"], Coroutine[Any, Any, None]]) -> None:
        """Run a function that moves time, when those who were started just now have connected."""
        connect_seconds = self._companions.connect_seconds(list(self.cluster.outside.processes))

        async def run(cluster: "Cluster") -> None:
            if connect_seconds:
                cluster.outside.expect(connect_seconds, self._companions.are_there)
            await function(cluster)

        self.call(run)
