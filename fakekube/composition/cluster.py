"""A whole cluster in one object: clock, storage, API server, controllers, and a client.

    async with Cluster(nodes=2) as cluster:
        await cluster.client.create(JOBS, manifest)
        await cluster.run_until(job_is_complete)

``controlplane.py`` builds the server, ``controllermanager.py`` runs the controllers. A new cluster
for each test is cheaper than cleaning one up: there is no state outside it.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Json, Tree
from fakekube.client import users
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.nodehandle import NodeHandle
from fakekube.client.resources import API_SERVICES
from fakekube.composition import controllermanager, fakekube_api, opened
from fakekube.composition.clocks import clock_of
from fakekube.composition.controllermanager import ControllerManager
from fakekube.composition.controlplane import OutgoingCalls, build_apiserver
from fakekube.composition.front import RECORDING, Front, audit_file
from fakekube.composition.identity import Identity
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import ClusterOptions, OptionError, function_named
from fakekube.composition.timed import Timed
from fakekube.composition.world import World
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks
from fakekube.util.undisturbed import beside

if TYPE_CHECKING:
    from pathlib import Path

    from fakekube.apimachinery.http import Handler
    from fakekube.client.resources import Resource
    from fakekube.composition.clusterfaults import ClusterFaults
    from fakekube.composition.serving import Served
    from fakekube.composition.snapshot import Snapshot
    from fakekube.composition.world import Membership
    from fakekube.faults.plan import Faults
    from fakekube.recording.recorder import Recorder
    from fakekube.runtime.component import Component
    from fakekube.runtime.manager import Manager
    from fakekube.runtime.metrics import Metrics
    from fakekube.runtime.why import Answer
    from fakekube.storage.memory import Storage
    from fakekube.tracing.trace import Trace
    from fakekube.util.choices import Choices
    from fakekube.webhooks.callables import Function

Callback = Callable[..., Any] | str | None


class Cluster(Timed):
    """One cluster; an async context manager.

    Keyword arguments are those of ``ClusterOptions`` (``nodes``, ``controllers``,
    ``kubernetes_version``, ``feature_gates``, ``clock``, ``seed`` ...); or ``options`` has them
    all. The callbacks decide what is not Kubernetes': ``outcome`` how containers end, ``on_exec``
    what commands in them answer, ``on_connect`` what their ports answer (see the kubelet),
    ``on_metric`` what autoscalers measure, ``scheduler_plugins`` which more plugins the scheduler
    runs (a function from its context to their classes). A text ``module:function`` does as well
    as a function.

    ``extra`` are components that run besides the installed controllers, a controller of your own
    among them; or texts that name such. ``load`` are manifests to create at the start: files (their
    paths) or YAML texts, KWOK's Stages among them. ``state`` is a snapshot to continue from, or the
    file of one, with the snapshot's options; keyword arguments that it decides are then refused.
    ``schedule`` says what happens where a real cluster is free: ``1:17`` is the seed 17. ``member``
    is for ``Fleet``, which says how time goes on.
    Raises OptionError; SnapshotError or OSError for a file that is no snapshot.
    """

    def __init__(
        self, *, options: ClusterOptions | None = None, outcome: Callback = None, on_exec: Callback = None,
        on_connect: Callback = None, on_metric: Callback = None, scheduler_plugins: Callback = None,
        extra: Iterable[Any] | str = (), state: "Snapshot | Path | str | None" = None,
        load: "Path | str | Iterable[Path | str]" = (), schedule: "Choices | str | None" = None,
        member: "Membership | None" = None, **values: Any,
    ) -> None:
        if options is not None and values:
            raise OptionError("give either options or keyword arguments")
        state = opened.snapshot(state) if state is not None else None
        self.options = options or (ClusterOptions.of(**values) if state is None else state.options_with(values))
        self._begins_with, self._member = (self.options, state), member
        self._world = world = member.world if member is not None else World(self.options, state and state.time, schedule)
        self.activity, self.outside, self.driver = world.activity, world.outside, world.driver
        self._clock, self.clock = world.plain_clock, world.clock
        self.driver.explainers.insert(0, self._reasons)
        if self.options.controllers not in ("", "*"):
            controllermanager.selected(self.options.controllers)  # which may raise
        self.tasks = Tasks(on_failure=self.driver.fail)
        callbacks = {
            "outcome": outcome, "on_exec": on_exec, "on_connect": on_connect, "on_metric": on_metric,
            "scheduler_plugins": scheduler_plugins}
        self._controllers = ControllerManager(
            clock=self._clock, activity=self.activity, tasks=self.tasks, fail=self.driver.fail,
            extra=controllermanager.extra_components(extra),
            callbacks={name: function_named(name, value) for name, value in callbacks.items()},
            let_call=self._let_call, find_cluster=member.find if member is not None else None, choices=world.choices)
        self._identity = Identity(self.options)
        self.token = self._identity.token
        self._audit = audit_file(self.options.audit_log)
        self._front = Front(
            self.options, world, self._identity, lambda: self.gates, name=member.name if member is not None else "",
            extra=bool(self._controllers.declared), prepared=state is not None)
        self._calls = OutgoingCalls(self.activity, self.tasks)
        self._faults, self._planned_faults = cast("ClusterFaults | None", None), opened.faults(self.options.faults, world.choices)
        self._build(self.options, state)
        self._transport = InProcess(self.apiserver)
        self._own_client = Client(self._transport, user_agent="fakekube", user=users.admin())
        self.client = Client(self._front.open(self.apiserver, self.options), user_agent="fakekube", user=users.admin())
        self._registered: list[Tree] = []
        self._is_started = False
        self._registered += self._calls.let_call(
            self._controllers.addons(self.options), self._own_client, self._controllers.find_component)
        self._manifests = [load] if not isinstance(load, Iterable) or isinstance(load, str) else list(load)

    def _let_call(self, addons: Iterable[Any]) -> list[Tree]:
        return self._calls.let_call(addons, self.client, self._controllers.find_component)

    def _build(self, options: ClusterOptions, state: "Snapshot | None") -> None:
        """Make a server with a storage of its own.

        Raises OptionError, and has changed nothing then.
        """
        rng = Rng(options.seed) if self._member is None else Rng(options.seed).fork(self._member.name)
        if state is not None:
            rng.load(state.rng)
        plane = build_apiserver(
            options, self._clock, rng, identity=self._identity, nodes=NodeAgents(self._controllers.kubelet),
            service_accounts=self._has_service_accounts,
            state=state.storage.fork() if state is not None else None, calls=self._calls,
            audit=self._audit.write if self._audit is not None else None)
        self.options, self.rng, self._plane = options, rng, plane
        self.apiserver, self.gates = plane.apiserver, plane.gates
        self._remembered: Mapping[str, Json] = {}
        self._manager_name = "manager"
        if state is not None:
            self.apiserver.first_objects.started = state.started
            self._remembered = state.components
            self._manager_name = f"manager from {state.revision} on"  # draws what nobody drew before
        fakekube_api.install(
            self.apiserver, clock=self.clock, activity=self.activity, take_snapshot=self.snapshot,
            controllers=self._controllers, why=self.why, trace=self.trace, faults=lambda: self.faults)
        self.apiserver.extra_paths[RECORDING] = self._front.answer
        self.apiserver.metric_texts.append(self._controllers.metrics_text)
        if self._faults is not None:
            self._faults.stand_in(self.apiserver)
        self._world.delay(self.apiserver)

    def _reasons(self) -> Iterable[str]:
        from fakekube.composition import reasons

        told = reasons.lines(self.apiserver.storage)
        return [*told, *reasons.warnings(self.apiserver.storage, told)]

    def _has_service_accounts(self) -> bool:
        return "serviceaccount" in controllermanager.selected(self.options.controllers)

    @property
    def root_ca(self) -> str:
        """The certificate of the authority that clients trust, in PEM."""
        return self._identity.root_ca

    @property
    def faults(self) -> "Faults":
        """What goes wrong on purpose: ``cluster.faults.add(...)``, see docs/faults.md."""
        if self._faults is None:
            from fakekube.composition.clusterfaults import ClusterFaults

            self._faults = ClusterFaults(
                lambda: self.apiserver, self._controllers, clock=self._clock, rng=self.rng, driver=self.driver,
                tasks=self.tasks, calls=self._calls, member=self._member)
        return self._faults.faults

    @property
    def has_faults(self) -> bool:
        """Whether anybody has asked for ``faults``."""
        return self._faults is not None

    @property
    def metrics(self) -> "Metrics":
        """What the controllers have counted in this cluster, as ``/metrics`` shows it."""
        return self._controllers.metrics

    # life

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.close)
            await self.start()
            stack.pop_all()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self.stop()
            if self.has_faults:
                self.faults.check()  # which raises FaultNeverMet
            return
        await self.close()
        self.driver.note_failure(error)

    async def start(self) -> None:
        """Start the controllers, and create the manifests of ``load``.

        Returns once the caches have synced and nothing is left to do at the present time.
        """
        self.driver.explainers.append(self._controllers.explain)
        if self._member is None:
            self.driver.start(self.tasks)
        if self._planned_faults:
            self.faults.add_all(self._planned_faults)
        await self._start_controllers()
        await self._load_manifests()

    async def _load_manifests(self) -> None:
        if self.options.default_storage_class:
            from fakekube.composition import defaultstorageclass

            await defaultstorageclass.create(self._own_client)
        if self._registered:
            await self._create(self._own_client, self._registered)
        self._is_started = True
        for manifests in self._manifests:
            await beside(self.load(manifests))

    async def _start_controllers(self) -> None:
        self._plane.start()
        await self._controllers.start(
            self._own_client, self._plane, self.options, rng=self.rng.fork(self._manager_name), remembered=self._remembered,
            is_served=lambda: bool(self._front.servers), serve_operator=self._front.serve_operator)
        if isinstance(self._clock, ManualClock):
            await self.driver.settle()
        self._world.begin(self.apiserver.storage)

    # moments

    def snapshot(self) -> "Snapshot":
        """All of this cluster as it is now: objects, history, time, and what runs on its nodes.

        It costs almost nothing, whatever there is: objects are shared. ``write`` makes a file of
        it.
        """
        return self._moment(self.apiserver.unasked.add_to(self.apiserver.storage.fork()))

    def _moment(self, storage: "Storage") -> "Snapshot":
        from fakekube.composition.snapshot import Snapshot

        components = self.manager.dump() if self._controllers.is_running else self._remembered
        return Snapshot(
            self.options, storage, self._clock.time(), self.apiserver.first_objects.started, self.rng.save(), components)

    def fork(self, **values: Any) -> "Cluster":
        """Another cluster, not started, that continues from here on its own.

        Use it as ``async with cluster.fork() as other``. Objects are shared; each side copies what
        it changes. The other cluster gets the callbacks and those of ``extra`` that are
        declarations; other components of ``extra`` stay with this cluster. ``values`` are keyword
        arguments of the new cluster: ``clock``, ``controllers``, ``extra``.
        """
        ours = {"extra": self._controllers.declared, **self._controllers.callbacks}
        other = Cluster(state=self._moment(self.apiserver.storage), **{**ours, **values})
        if "controllers" not in values:
            other._controllers.wish_like(self._controllers)
        self.apiserver.unasked.add_to(other.apiserver.storage)
        return other

    async def restore(self, snapshot: "Snapshot | Path | str") -> None:
        """Go to the state of a snapshot, or of the one in a file.

        The time is set to that of the snapshot, but not in a fleet; the clock's mode stays.
        Controllers stop and start again, watches end with 410, clients and servers stay. Raises
        SnapshotError, OptionError or OSError for one that cannot be used, and has changed nothing
        then.
        """
        from fakekube.composition.snapshot import OF_THE_READER

        state = opened.snapshot(snapshot)
        options = state.options_with({"clock": self.options.clock})
        ours = {name: getattr(self.options, name) for name in OF_THE_READER}
        await self._become(replace(options, **ours), state, state.time)

    async def reset(self) -> None:
        """Be as a new cluster, with the same options, callbacks, manifests of ``load`` and time.

        Clients' connections and servers stay; watches end with 410. Controllers that were stopped
        by name run again. Raises the error of a component that was not raised before; the cluster
        is as new then, too.
        """
        options, state = self._begins_with
        was_running = self._controllers.is_running
        self._controllers.reset()
        if self.clock.paused and self.clock.mode != "manual":
            self.clock.resume()
        if self._planned_faults or self._faults is not None:
            self.faults.begin(self._planned_faults)
        began = clock_of(options, self.activity, state.time if state is not None else None).time()
        await self._become(options, state, began)
        if was_running:
            await self._load_manifests()
        self.driver.raise_failure()

    async def _become(self, options: ClusterOptions, state: "Snapshot | None", time: float) -> None:
        """Go on with another storage. Raises OptionError, and has changed nothing then."""
        was_running, before, plane = self._controllers.is_running, self.apiserver.storage, self._plane
        addons = self._controllers.addons(options)
        self._build(options, state)
        self._calls.let_call(addons, self._own_client, self._controllers.find_component)
        if state is None:
            self.apiserver.first_objects.started = format_time(time)
        plane.stop()
        await self._controllers.stop()
        self._transport.handler = self.apiserver
        self._own_client.forget_resources()
        self.client.forget_resources()
        self._front.lead_to(self.apiserver, options)
        if self._member is None:
            self._clock.jump_to(time)
        before.retire()
        if was_running:
            await self._start_controllers()

    def record(self, recorder: "Recorder | None") -> None:
        """Let a recorder take what clients ask from now on, in place of another; None ends it."""
        self._front.record(recorder)

    async def stop(self) -> None:
        """Stop servers, then controllers.

        Raises the error of a component, or CacheMutated, that was not raised before.
        """
        await self.close()
        self.driver.raise_failure()

    async def close(self) -> None:
        """Stop, and raise nothing."""
        for server in self._front.servers:
            await server.stop()
        self._front.servers.clear()
        await self._controllers.stop()
        self._plane.stop()
        await self.tasks.close()
        await self._calls.close()
        self._front.flush()
        if self._audit is not None:
            self._audit.close()

    @property
    def manager(self) -> "Manager":
        """The running controllers: stop and start single ones by name."""
        return self._controllers.manager

    @property
    def extra_components(self) -> list[str]:
        """The names of the components of ``extra``."""
        return self._controllers.extra_names

    async def stop_controller(self, name: str) -> None:
        """Stop a controller, ``scheduler`` or ``kubelet`` say, until it is started by name.

        Its queue and caches are gone then. Harmless when it does not run. OptionError for an
        unknown name.
        """
        await self._controllers.stop_controller(name)

    async def start_controller(self, name: str) -> None:
        """Start a controller: one that was stopped, or one that the options left out.

        Harmless when it runs. It has caught up when the cluster has settled. OptionError for an
        unknown name.
        """
        await self._controllers.start_controller(name)

    async def restart_controller(self, name: str) -> None:
        """Stop a controller and start it, as after a crash. OptionError for an unknown name."""
        await self._controllers.restart_controller(name)

    def component(self, name: str) -> "Component":
        """A running component, ``job`` or ``kubelet`` say. KeyError when it does not run here."""
        return self.manager.component(name)

    # use

    async def load(self, manifests: "Path | str | Iterable[Tree]") -> list[Tree]:
        """Create what a YAML file (its path), a YAML text or a list of trees holds.

        Returns the objects as the server has them then. An object that exists already is applied
        over it. KWOK's Stages and KwokConfiguration are for the kubelet, see ``docs/kubelet.md``.
        Raises APIError; OptionError for what is no manifest, and for a Stage that is not valid.
        """
        return await self._create(self.client, manifests)

    async def _create(self, client: Client, manifests: "Path | str | Iterable[Tree]") -> list[Tree]:
        from fakekube.composition.manifests import create_all

        add_stages = self._controllers.add_stages if self._controllers.runs_kubelet else None
        return await create_all(client, manifests, add_stages=add_stages)

    async def why(self, what: str, *, namespace: str = "default") -> "Answer":
        """Why an object waits, and the smallest change that would let it go on.

        ``what`` is as kubectl names it: ``pod/web-0``, ``podgroup/g``, ``job/report``. What is in
        flight counts as it is: settle first. Raises APIError, 400 for what names no resource, 404.
        """
        from fakekube.composition import why

        return await why.answer(self.client, self.apiserver.storage, self._controllers.why, what, namespace)

    async def trace(self, what: str, *, namespace: str = "default", field: str = "", last: int = 20) -> "Trace":
        """The causes of an object's state, back to the first requests: ``print`` shows them.

        ``what`` (``pod/web-0``) may be gone. Told are its ``last`` changes (0: all), or what led to
        the present value of a ``field``. Raises APIError, see docs/tracing.md.
        """
        from fakekube.composition import traces

        return await traces.of_object(self.client, self.snapshot(), what, namespace=namespace, field=field, last=last)

    def webhook(
        self, *resources: str, operations: Iterable[str] = ("CREATE", "UPDATE"), mutating: bool = False, name: str = "",
        **fields: Any,
    ) -> "Callable[[Function], Function]":
        """A decorator: let a function be asked about writes of resources, as an admission webhook.

        ``resources`` are as kubectl has them: ``pods``, ``deployments.apps``, ``pods/status``,
        ``*``. The function gets an AdmissionRequest; it raises Denied to refuse, and changes
        ``request.object`` if it is ``mutating``. A configuration object of its ``name`` (by default
        the function's) stands for it; ``fields`` are those of the webhook in it, as
        ``failure_policy``. OptionError for an unknown field, ValueError for a name that is taken.
        """
        def register(function: "Function") -> "Function":
            from fakekube.composition import functionwebhooks

            configuration = functionwebhooks.register(
                self._calls.callables, function, resources, operations, mutating=mutating, name=name, fields=fields)
            self._keep(functionwebhooks.resource_of(configuration), configuration)
            return function

        return register

    def aggregate(
        self, name: str, server: "Handler | str", *, ca_bundle: bytes = b"", group_priority: int = 1000,
        version_priority: int = 15,
    ) -> None:
        """Let another server answer for a version of an API group: ``v1.shop.example.com``.

        It is a Handler of this process (``async handle(Request) -> Response``), or the URL of one
        that speaks HTTP(S); ``ca_bundle`` (PEM) says whose certificate it must show, any will do
        without. An APIService of the name stands for it, and ends it when it is deleted.
        ValueError for a name that is taken, APIError for one that is no version of a group.
        """
        service = self._calls.registered.add(
            name, server, ca_bundle=ca_bundle, group_priority=group_priority, version_priority=version_priority)
        self._keep(API_SERVICES, service)

    def _keep(self, resource: "Resource", registered: Tree) -> None:
        """Have an object that stands for something in this process, after a reset, too."""
        if self._is_started:
            self._world.finish(self._own_client.create(resource, copy.deepcopy(registered)))
        self._registered.append(registered)
        self._front.registered.append(registered)

    def token_for(self, user: str, groups: Iterable[str] = ()) -> str:
        """A bearer token of somebody, for tests of what limited users may do.

        They are in ``groups``, a service account in those of its kind, and all of them in
        ``system:authenticated``. It stays valid after ``reset`` and ``restore``.
        """
        info = users.named(user, tuple(groups))
        token = self._identity.token_for(info)
        self.apiserver.authenticator.know(token, info)
        return token

    def node(self, name: str) -> NodeHandle:
        """A node, to be stopped, drained, tainted or deleted; it need not exist."""
        return NodeHandle(self.client, name)

    async def serve(self, *, host: str = "127.0.0.1", port: int = 0, insecure: bool = False) -> "Served":
        """Listen on a port (0: one that is free) until the cluster stops.

        Whoever reaches it is the cluster's administrator: a ``host`` that other machines reach is
        an OptionError unless ``insecure``, or with the option ``tls``, where its token is needed.
        Raises OSError when the port is taken.
        """
        return await self._front.serve(host=host, port=port, insecure=insecure)
