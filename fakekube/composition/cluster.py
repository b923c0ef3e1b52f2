"""A whole cluster in one object: clock, storage, API server, controllers, and a client to use it with.

    async with Cluster(nodes=2) as cluster:
        await cluster.client.create(JOBS, manifest)
        await cluster.run_until(job_is_complete)

This is where the server stack and the client stack meet; nothing else sees both. Controllers are found through the
entry-point group ``fakekube.controllers``. A new cluster a test is cheaper than cleaning one: there is no state outside it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client import users
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.nodehandle import NodeHandle
from fakekube.composition import fakekube_api
from fakekube.composition import options as cluster_options
from fakekube.composition.controlplane import build_apiserver, serve_metrics
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.util.activity import Activity
from fakekube.util.clock import START, AutoClock, ManualClock
from fakekube.util.control import ClusterClock
from fakekube.util.driver import driver_for
from fakekube.util.durations import Duration
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks, turn
from fakekube.util.wallclock import RealClock, ScaledClock

if TYPE_CHECKING:
    from pathlib import Path

    from fakekube.composition.serving import Served
    from fakekube.composition.snapshot import Snapshot
    from fakekube.runtime.builder import Declaration
    from fakekube.runtime.component import Component, Runnable
    from fakekube.runtime.manager import Manager
    from fakekube.runtime.metrics import Metrics
    from fakekube.storage.memory import Storage
    from fakekube.util.entrypoints import EntryPoint

CONTROLLERS = "fakekube.controllers"
OPTIONAL_CONTROLLERS = ("jobset", "lws", "kueue")  # they run when they are named, as add-ons do
MANAGER_GROUP = "system:masters"
WATCH_TIMEOUT_SECONDS = 30 * 86_400.0  # of the controllers' own: none of them should have to ask again while time leaps

Predicate = Callable[[], "bool | Awaitable[bool]"]


@cache
def known_controllers() -> "Mapping[str, EntryPoint]":
    """The entry points of every controller that is installed, by name; read once, a process sees no installation."""
    from fakekube.util.entrypoints import entry_points

    return MappingProxyType({point.name: point for point in sorted(entry_points(CONTROLLERS))})


@cache
def _selected(wanted: str) -> tuple[str, ...]:
    """The controllers that an option names. Raises OptionError."""
    return tuple(cluster_options.selected(wanted, known_controllers(), OPTIONAL_CONTROLLERS)) if wanted else ()


@cache
def _loaded(name: str) -> Any:
    return known_controllers()[name].load()


def _installed(name: str) -> "Runnable | Declaration":
    """A controller: its entry point is a declaration, or makes a component."""
    found = _loaded(name)
    made: Runnable | Declaration = found() if callable(found) else found
    return made


class Cluster:
    """One cluster; an async context manager.

    Keyword arguments are those of ``ClusterOptions`` (``nodes``, ``controllers``, ``kubernetes_version``, ``feature_gates``,
    ``clock``, ``seed`` ...), or one ``options`` has them all. ``outcome`` is asked how containers fare,
    ``on_exec`` what commands in them come to, ``on_connect`` what their ports answer, see the kubelet; ``on_metric`` what
    autoscalers measure;
    ``extra`` are components that run besides those found, a controller of your own among them; ``load`` are manifests that are
    loaded at the start, files (their paths) or YAML texts, KWOK's Stages among them. With ``state``, a snapshot, it
    goes on from there, under the snapshot's options; keyword arguments may then say ``clock`` and ``controllers``. Raises
    OptionError.
    """

    def __init__(
        self, *, options: ClusterOptions | None = None, outcome: Callable[..., Any] | None = None,
        on_exec: Callable[..., Any] | None = None, on_connect: Callable[..., Any] | None = None,
        on_metric: Callable[..., Any] | None = None,
        extra: Iterable[Any] = (), state: "Snapshot | None" = None, load: "Path | str | Iterable[Path | str]" = (), **values: Any,
    ) -> None:
        if options is not None and values:
            raise OptionError("give either options or keyword arguments")
        self.options = options or (ClusterOptions.of(**values) if state is None else state.options_with(values))
        self._extra = list(extra)
        self.activity = Activity()
        self._clock = _clock(self.options, self.activity, state.time if state is not None else None)
        self.driver = driver_for(self._clock, self.activity)
        self.clock = ClusterClock(self._clock, self.driver)
        if self.options.controllers not in ("", "*"):
            _ = self._selected  # which may raise
        self.token = f"fakekube-{Rng(self.options.seed).fork('token').suffix(16)}"
        self._build(self.options, state)
        self._transport = InProcess(self.apiserver)
        self.client = Client(self._transport, user_agent="fakekube", user=users.admin())
        self._callbacks = {"outcome": outcome, "on_exec": on_exec, "on_connect": on_connect, "on_metric": on_metric}
        self.tasks = Tasks(on_failure=self.driver.fail)
        self._manager: Manager | None = None
        self._servers: list[Served] = []
        self._manifests = [load] if not isinstance(load, Iterable) or isinstance(load, str) else list(load)

    def _build(self, options: ClusterOptions, state: "Snapshot | None") -> None:
        """The server, on a storage of its own. Raises OptionError, and has changed nothing then."""
        rng = Rng(options.seed)
        if state is not None:
            rng.load(state.rng)
        plane = build_apiserver(
            options, self._clock, rng, tokens={self.token: users.admin()}, nodes=NodeAgents(self._kubelet),
            service_accounts=lambda: self.options.controllers == "*" or "serviceaccount" in self._selected,
            state=state.storage.fork() if state is not None else None)
        self.options, self.rng, self.apiserver, self.gates = options, rng, plane.apiserver, plane.gates
        self._expiry = plane.expiry
        self._remembered: Mapping[str, Json] = {}
        self._manager_name = "manager"
        if state is not None:
            self.apiserver.first_objects.started = state.started
            self._remembered = state.components
            self._manager_name = f"manager from {state.revision} on"  # draws what nobody drew before
        fakekube_api.install(
            self.apiserver, clock=self.clock, activity=self.activity, take_snapshot=self.snapshot)
        self.apiserver.metric_texts.append(self._counted)

    @cached_property
    def _selected(self) -> tuple[str, ...]:
        """The controllers that run here; looking for them takes longer than building a server."""
        return _selected(self.options.controllers)

    @cached_property
    def metrics(self) -> "Metrics":
        """What the controllers have counted since this cluster was made; ``/metrics`` shows it too."""
        from fakekube.runtime.metrics import Metrics

        return Metrics()

    def _counted(self) -> str:
        return self.metrics.text()

    # life

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self.stop()
            return
        await self._close()
        failure = self.driver.take_failure()
        if failure is not None:
            error.add_note(f"and {failure!r}")  # the block's own failure is the one to be seen first

    async def start(self) -> None:
        """Start the controllers; return once their caches have synced and nothing is left to do at this time."""
        self.driver.explainers.append(lambda: self._manager.explain() if self._manager is not None else ())
        self.driver.start(self.tasks)
        await self._start_controllers()
        for manifests in self._manifests:
            await self.load(manifests)

    async def _start_controllers(self) -> None:
        from fakekube.cache.mutation import MutationDetector
        from fakekube.runtime.manager import Manager

        self._expiry.start()
        detector = MutationDetector(self.driver.fail) if self.options.cache_mutation_detector else None
        controllers = Manager(
            self.client.with_options(user=UserInfo("system:kube-controller-manager", (MANAGER_GROUP,))),
            watch_timeout_seconds=WATCH_TIMEOUT_SECONDS,
            clock=self._clock, activity=self.activity, rng=self.rng.fork(self._manager_name), tasks=self.tasks,
            version=self.options.kubernetes_version, gates=self.gates, options=self._controller_options(),
            detector=detector, presence=self.apiserver.presence, metrics=self.metrics)
        self._manager = controllers
        for name in self._selected:
            controllers.add(_installed(name))
            if self._servers:
                await turn()  # clients that are served already do not wait for imports
        for component in self._extra:
            controllers.add(component)
        if self.options.metrics_server and "kubelet" in self._selected:
            serve_metrics(self.apiserver)
        controllers.load(self._remembered)
        if controllers.names:
            await controllers.start()
        if isinstance(self._clock, ManualClock):
            await self.driver.settle()

    def _controller_options(self) -> Mapping[str, Any]:
        return {"nodes": self.options.nodes, **self._callbacks, "root_ca": ""}

    # moments

    def snapshot(self) -> "Snapshot":
        """All of this cluster as it is now: objects, history, time, and what goes on in its nodes.

        It costs next to nothing, whatever there is: objects are shared. ``write`` makes a file of it.
        """
        return self._moment(self.apiserver.unasked.add_to(self.apiserver.storage.fork()))

    def _moment(self, storage: "Storage") -> "Snapshot":
        from fakekube.composition.snapshot import Snapshot

        components = self._manager.dump() if self._manager is not None else self._remembered
        return Snapshot(
            self.options, storage, self._clock.time(), self.apiserver.first_objects.started, self.rng.save(), components)

    def fork(self, **values: Any) -> "Cluster":
        """Another cluster, not started, that goes on from here on its own: ``async with cluster.fork() as other``.

        Objects are shared, and each side copies what it changes. Callbacks and declared controllers of ``extra`` come along; an
        other component of ``extra`` belongs to this cluster alone. ``values`` are keyword arguments of the new cluster:
        ``clock``, ``controllers``, ``extra``.
        """
        from fakekube.runtime.builder import Declaration

        extra = [component for component in self._extra if isinstance(component, Declaration)]
        other = Cluster(state=self._moment(self.apiserver.storage), **{"extra": extra, **self._callbacks, **values})
        self.apiserver.unasked.add_to(other.apiserver.storage)
        return other

    async def restore(self, snapshot: "Snapshot | Path | str") -> None:
        """Go back (or over) to a snapshot, or to the one in a file; the clock goes with it, and its mode stays.

        Controllers stop and start again, watches end with 410, clients and servers stay. Raises SnapshotError, OptionError or
        OSError for one that cannot be used, and has changed nothing then.
        """
        from fakekube.composition.snapshot import Snapshot, read

        state = snapshot if isinstance(snapshot, Snapshot) else read(snapshot)
        running, before = self._manager, self.apiserver.storage
        options = state.options_with({"clock": self.options.clock})
        self._build(replace(options, cache_mutation_detector=self.options.cache_mutation_detector), state)
        self.__dict__.pop("_selected", None)
        if running is not None:
            await running.stop()
        self._transport.handler = self.apiserver
        for server in self._servers:
            server.handle_with(self.apiserver)
        self._clock.jump_to(state.time)
        before.retire()
        if running is not None:
            await self._start_controllers()

    async def stop(self) -> None:
        """Stop servers, then controllers. Raises what a component broke with, or CacheMutated, and nobody was told of yet."""
        await self._close()
        self.driver.raise_failure()

    async def _close(self) -> None:
        for server in self._servers:
            await server.stop()
        self._servers.clear()
        if self._manager is not None:
            await self._manager.stop()
            self._manager = None
        self._expiry.stop()
        await self.tasks.close()

    @property
    def manager(self) -> "Manager":
        """The running controllers: stop and start single ones by name."""
        assert self._manager is not None, "not started"
        return self._manager

    def component(self, name: str) -> "Component":
        """A running component, ``job`` or ``kubelet`` say. KeyError when it does not run here."""
        return self.manager.component(name)

    # time

    async def settle(self) -> None:
        """Return once nothing is left to do at the present time."""
        await self.driver.settle()

    async def advance(self, duration: Duration) -> None:
        """Let so much time pass (``"1h30m"``, seconds or a timedelta), with all that happens in it, one timer at a time."""
        await self.driver.advance(duration)

    async def run_until(self, predicate: Predicate, *, within: Duration | None = None) -> None:
        """Let time pass until ``predicate()`` (plain or async) is true.

        Raises Stalled, which says what is pending, when it is false and nothing is left that could make it true; with
        ``within`` also when so much time has passed.
        """
        await self.driver.run_until(predicate, within=within)

    # use

    async def load(self, manifests: "Path | str | Iterable[Tree]") -> list[Tree]:
        """Create what a YAML file (its path), a YAML text or a list of trees holds; the objects as created.

        An object that exists already is applied over it. KWOK's Stages (and its KwokConfiguration) are for the kubelet, see
        ``docs/kubelet.md``. Raises APIError, OptionError for what is no manifest, and for a Stage that cannot be meant.
        """
        from fakekube.composition.manifests import create_all

        runs = self._manager is not None and self._manager.is_running("kubelet")
        return await create_all(self.client, manifests, add_stages=self._add_stages if runs else None)

    def _add_stages(self, stages: "list[Tree]") -> None:
        kubelet: Any = self.manager.activate("kubelet")
        kubelet.add_stages(stages)

    def node(self, name: str) -> NodeHandle:
        """A node, to be stopped, drained, tainted or taken away; there may be none of that name."""
        return NodeHandle(self.client, name)

    async def serve(self, *, host: str = "127.0.0.1", port: int = 0) -> "Served":
        """Listen on a port (0: one that is free) until the cluster stops. Raises OSError when it is taken."""
        from fakekube.composition.serving import Served

        server = Served(
            self.apiserver, token=self.token, clock=self.clock, activity=self.activity, host=host, port=port,
            compresses=lambda: self.gates["APIResponseCompression"])
        await server.start()
        self._servers.append(server)
        return server

    def _kubelet(self) -> Any:
        """The component that plays the kubelets, or None where it does not run, or was never needed."""
        if self._manager is None or not self._manager.is_running("kubelet"):
            return None
        return self._manager.working("kubelet")


def _clock(options: ClusterOptions, activity: Activity, at: float | None) -> ManualClock | RealClock:
    start = datetime.fromtimestamp(at, UTC) if at is not None else options.start
    if options.clock == "real":
        return RealClock(start)
    if options.clock == "manual":
        return ManualClock(start or START, activity)
    if options.clock == "auto":
        return AutoClock(start or START, activity)
    return ScaledClock(float(options.clock), start)
