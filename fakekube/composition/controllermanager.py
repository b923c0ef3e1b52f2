"""The controllers of a cluster: which of those installed run, and the manager that runs them.

They are found through the entry-point group ``fakekube.controllers``; those of ``fakekube.addons``
run only where an option names them. Each can be stopped and started at any moment. Upstream:
cmd/kube-controller-manager/app (NewControllerDescriptors, ControllersDisabledByDefault).
"""

import asyncio
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.composition import options as cluster_options
from fakekube.composition.controlplane import ControlPlane, expression_warnings, serve_metrics
from fakekube.composition.installed import installed
from fakekube.composition.options import ClusterOptions
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks, turn

if TYPE_CHECKING:
    from fakekube.apimachinery.gvk import GroupResource
    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube.client.client import Client
    from fakekube.client.kubeconfig import Find
    from fakekube.composition.operatorservers import ServeOperator
    from fakekube.composition.serverobjects import ServerObjects
    from fakekube.runtime.addon import AddOn, AggregatedAPI, Conversion, Webhook
    from fakekube.runtime.builder import Declaration
    from fakekube.runtime.component import Component, Runnable
    from fakekube.runtime.manager import Manager
    from fakekube.runtime.metrics import Metrics
    from fakekube.runtime.why import Answer
    from fakekube.util.choices import Choices

KUBELET = "kubelet"
USER = UserInfo("system:kube-controller-manager", ("system:masters",))
# of the controllers' own: none of them should have to ask again while time leaps
WATCH_TIMEOUT_SECONDS = 30 * 86_400.0


@cache
def selected(option: str) -> tuple[str, ...]:
    """The controllers that an option names. Raises OptionError."""
    if not option:
        return ()
    return tuple(cluster_options.selected(option, installed().entry_points, installed().addons))


@cache
def _loaded(name: str) -> Any:
    return installed().entry_points[name].load()


def component(name: str, config: Any = True) -> "Runnable | Declaration | AddOn":
    """An installed controller or add-on. KeyError for a name that is none's.

    ``config`` is the file or the tree that an add-on is configured with; True: nothing is said.
    Raises OptionError for a configuration that is wrong, or of what takes none.
    """
    if config is True:
        return made_of(_loaded(name))
    from inspect import signature

    from fakekube.composition import admissionconfiguration
    from fakekube.runtime.component import WrongOption

    factory = _loaded(name)
    if not callable(factory) or "configuration" not in signature(factory).parameters:
        raise cluster_options.OptionError(f"{name} takes no configuration")
    tree = config if isinstance(config, Mapping) else admissionconfiguration.parsed(Path(config), name)
    try:
        return made_of(partial(factory, tree))
    except WrongOption as error:
        raise cluster_options.OptionError(f"{name}: {error}") from error


def made_of(found: Any) -> "Runnable | Declaration | AddOn":
    """What an entry point, or a text of ``extra``, stands for: a declaration, or what makes a
    component.
    """
    made: Runnable | Declaration | AddOn = found() if callable(found) else found
    return made


def parts_of(made: "Runnable | Declaration | AddOn") -> "tuple[Runnable | Declaration, ...]":
    """What a manager runs of it: all controllers of an add-on, else itself."""
    from fakekube.runtime.addon import AddOn

    return made.components if isinstance(made, AddOn) else (made,)


def webhooks_of(made: "Runnable | Declaration | AddOn") -> "tuple[Webhook, ...]":
    """The webhooks of an add-on; a controller has none."""
    from fakekube.runtime.addon import AddOn

    return made.webhooks if isinstance(made, AddOn) else ()


def conversions_of(made: "Runnable | Declaration | AddOn") -> "Mapping[str, Conversion]":
    """The conversions of an add-on, by the definition; a controller has none."""
    from fakekube.runtime.addon import AddOn

    return made.conversions if isinstance(made, AddOn) else {}


def apis_of(made: "Runnable | Declaration | AddOn") -> "tuple[AggregatedAPI, ...]":
    """The aggregated APIs of an add-on; a controller has none."""
    from fakekube.runtime.addon import AddOn

    return made.apis if isinstance(made, AddOn) else ()


async def install(
    client: "Client", made: "Runnable | Declaration | AddOn", conversion: "Callable[[str], Tree] | None" = None,
) -> None:
    """Put into a cluster what an add-on brings; a controller brings nothing.

    ``conversion`` as for ``addons.install``. Raises as ``addons.install``.
    """
    from fakekube.runtime.addon import AddOn

    if isinstance(made, AddOn):
        from fakekube.composition import addons

        await addons.install(client, made, conversion)


def _process_of(name: str) -> str:
    """In which process a component runs on a real cluster: those of kube-controller-manager share
    one, and so its caches.
    """
    found = installed()
    together = name in found.entry_points and name not in found.addons and name not in (KUBELET, "scheduler")
    return "kube-controller-manager" if together else name


STREAMED_LISTS = "WatchListClient"

GATE_ADDONS = {"DraftWorkload": "fakekube_controllers.scheduler.draft:addon"}
"""The add-ons that gates of ours are of no use without."""


def extra_components(extra: Iterable[Any] | str) -> list[Any]:
    """The components of the option ``extra``, as they are or by texts ``module:attribute``.

    Raises OptionError for a text that names nothing.
    """
    if isinstance(extra, str):
        extra = [text for text in extra.replace(",", " ").split() if text]
    return [made_of(cluster_options.named("extra", one)) if isinstance(one, str) else one for one in extra]


def _addons_of_gates(gates: Mapping[str, bool]) -> list[Any]:
    return [made_of(cluster_options.named("feature_gates", addon)) for gate, addon in GATE_ADDONS.items() if gates.get(gate)]


class ControllerManager:
    """Runs the controllers of one cluster, and runs them again after a restore.

    ``extra`` are components that run besides the installed ones. ``callbacks`` are options that
    every component gets; so is ``find_cluster``, which leads to other clusters of a fleet. ``fail``
    is called with errors outside of a reconcile; ``let_call`` lets webhooks, conversions and APIs
    of add-ons be called, where they cannot yet, and gives the objects that stand for them.
    ``choices`` say who hears first, if anybody does.
    """

    def __init__(
        self, *, clock: Clock, activity: Activity, tasks: Tasks, fail: Callable[[BaseException], None],
        extra: Iterable[Any], callbacks: Mapping[str, Any], let_call: "Callable[[Iterable[AddOn]], list[Tree]]",
        find_cluster: "Find | None" = None, choices: "Choices | None" = None,
    ) -> None:
        self._let_call, self._choices = let_call, choices
        self._late: dict[str, list[Tree]] = {}  # by add-on that is started by name: what stands for its webhooks and APIs
        self._clock, self._activity, self._tasks, self._fail = clock, activity, tasks, fail
        self._extra, self.callbacks, self._find_cluster = list(extra), callbacks, find_cluster
        # add-ons as they are configured, which all runs share; and those configurations
        self._made: dict[str, tuple[Any, Runnable | Declaration | AddOn]] = {}
        self._configs: Mapping[str, Any] = {}
        self._manager: Manager | None = None
        self._changing = asyncio.Lock()  # nobody stops a controller while all of them start
        # of those that were started or stopped by name, the last wish
        self._wanted: dict[str, bool] = {}

    @cached_property
    def metrics(self) -> "Metrics":
        """What the controllers have counted since this object was made or reset, across restores.
        """
        from fakekube.runtime.metrics import Metrics

        return Metrics()

    def metrics_text(self) -> str:
        """Those, as ``/metrics`` shows them."""
        return self.metrics.text()

    @property
    def declared(self) -> "list[Declaration | AddOn]":
        """The declarations among ``extra``, which another cluster can run, too."""
        from fakekube.runtime.addon import AddOn
        from fakekube.runtime.builder import Declaration

        return [component for component in self._extra if isinstance(component, Declaration | AddOn)]

    @property
    def extra_names(self) -> list[str]:
        """The components of ``extra``, by name."""
        return [part.name for one in self._extra for part in parts_of(one)]

    def addons(self, options: ClusterOptions) -> "list[AddOn]":
        """Those that run besides, those of gates, and those that ``controllers`` names or that are
        configured. Raises OptionError.
        """
        from fakekube.runtime.addon import AddOn

        self._configs = options.addon_config
        named = [self._component(name) for name in self._selected(options) if name in installed().addons]
        made = (*named, *self._extra, *_addons_of_gates(options.feature_gates))
        return [each for each in made if isinstance(each, AddOn)]

    def _component(self, name: str) -> "Runnable | Declaration | AddOn":
        """An installed controller, or the one add-on of a name and its configuration."""
        if name not in installed().addons:
            return component(name)
        config = self._configs.get(name, True)
        if name not in self._made or self._made[name][0] != config:
            self._made[name] = config, component(name, config)
        return self._made[name][1]

    @property
    def is_running(self) -> bool:
        """Whether the controllers were started."""
        return self._manager is not None

    @property
    def manager(self) -> "Manager":
        """The running controllers."""
        assert self._manager is not None, "not started"
        return self._manager

    async def start(
        self, client: "Client", plane: ControlPlane, options: ClusterOptions, *, rng: Rng, remembered: Mapping[str, Json],
        is_served: Callable[[], bool], serve_operator: "ServeOperator",
    ) -> None:
        """Start the controllers that the options name; ``client`` leads to the server.

        ``remembered`` are the states of components in a snapshot. ``is_served`` says whether the
        cluster is on a port: clients then get answers between two imports; ``serve_operator`` lets
        operators outside reach it. A controller that was stopped by name stays stopped.
        """
        from fakekube.cache.mutation import MutationDetector
        from fakekube.runtime.component import WrongOption
        from fakekube.runtime.manager import Manager

        async with self._changing:
            self._configs, names = options.addon_config, self._selected(options)
            self._apiserver, self._options, self._client = plane.apiserver, options, client
            self._manager = manager = Manager(
                client.with_options(user=USER), watch_timeout_seconds=WATCH_TIMEOUT_SECONDS,
                clock=self._clock, activity=self._activity, rng=rng, tasks=self._tasks,
                version=options.kubernetes_version, gates=plane.gates,
                options={
                    "nodes": options.nodes, "resource_quota_sync_period": options.resource_quota_sync_period, **self.callbacks,
                    "scheduler_config": _scheduler_configuration(options.scheduler_config),
                    "post": plane.calls.post,
                    "find_cluster": self._find_cluster, "serve_operator": serve_operator,
                    "root_ca": plane.identity.root_ca,
                    "certificate_authority": plane.identity.find_authority,
                    "expression_warnings": expression_warnings(plane.apiserver),
                    "privileged_kubelets": not {"Node", "AlwaysAllow"}.intersection(options.authorization_mode)},
                detector=MutationDetector(self._fail) if options.cache_mutation_detector else None,
                presence=plane.apiserver.presence, metrics=self.metrics, choices=self._choices, process_of=_process_of,
                lists_consistently=self._lists_consistently(plane.gates))
            await self._add(*names, is_served=is_served)
            for extra in (*self._extra, *_addons_of_gates(options.feature_gates), *_of_server(options)):
                await self._add_made(extra)
            manager.load(remembered)
            if manager.names:
                try:
                    await manager.start(without=[name for name, wanted in self._wanted.items() if not wanted])
                except WrongOption as error:
                    raise cluster_options.OptionError(f"{error.option}: {error}") from error

    def _selected(self, options: ClusterOptions) -> list[str]:
        """The installed controllers that the option names, those that are configured, and those
        that were started by name. Raises OptionError.
        """
        chosen, configured = selected(options.controllers), options.addon_config
        for name in configured:
            if name not in installed().addons:
                raise cluster_options.OptionError(f"addon_config: there is no add-on {name!r}: {', '.join(installed().addons)}")
        if not self._wanted and not configured:
            return list(chosen)
        return [name for name in installed().entry_points if name in chosen or name in configured or self._wanted.get(name)]

    async def _add(self, *names: str, is_served: Callable[[], bool] = lambda: False) -> None:
        from fakekube.runtime.addon import AddOn

        for name in names:
            made = self._component(name)
            if isinstance(made, AddOn):
                await self._add_made(made)
            else:
                self.manager.add(made)
            if name == KUBELET and self._options.metrics_server:
                serve_metrics(self._apiserver)
            if is_served():
                await turn()

    async def _add_made(self, made: "Runnable | Declaration | AddOn") -> None:
        from fakekube.runtime.addon import AddOn

        await install(self._client, made)
        for part in parts_of(made):
            self.manager.add(part)
        if isinstance(made, AddOn) and (late := self._late.setdefault(made.name, self._let_call([made]))):
            from fakekube.composition.manifests import create_all

            await create_all(self._client, copy.deepcopy(late))

    def _lists_consistently(self, gates: Mapping[str, bool]) -> Callable[[str], bool]:
        """Which processes begin with what the server holds: all that come with us, where client-go
        streams lists. What a user's is built with, nobody here knows.
        """
        theirs = {part.name for extra in self._extra for part in parts_of(extra)}
        return lambda process: gates[STREAMED_LISTS] and process not in theirs

    async def stop(self) -> None:
        """Stop the controllers; harmless when they do not run."""
        async with self._changing:
            if self._manager is not None:
                await self._manager.stop()
                self._manager = None

    def reset(self) -> None:
        """Forget what was counted, and who was stopped or started by name."""
        self._wanted.clear()
        self.__dict__.pop("metrics", None)

    # one by one

    @property
    def states(self) -> dict[str, bool]:
        """Whether each of the controllers runs, those that can be started by name included."""
        return {name: self.runs(name) for name in self.known}

    def runs(self, name: str) -> bool:
        """Whether one of ``known`` runs."""
        manager = self._manager
        return manager is not None and any(manager.is_running(part) for part in self._parts(name))

    @property
    def are_changing(self) -> bool:
        """Whether one of them is being started or stopped by name."""
        return self._changing.locked()

    def wish_like(self, other: "ControllerManager") -> None:
        """Start and stop what was started and stopped by name in another cluster."""
        self._wanted = dict(other._wanted)

    async def start_controller(self, name: str) -> None:
        """Start one controller, also one that the options left out; harmless when it runs.

        While the controllers do not run it will be started with them. Raises OptionError for an
        unknown name.
        """
        async with self._changing:
            name = cluster_options.controller_name(name, self.known)
            self._wanted[name] = True
            if self._manager is not None:
                await self._start_one(self._manager, name)

    async def _start_one(self, manager: "Manager", name: str) -> None:
        first, parts = not manager.names, self._parts(name)
        if parts[0] not in manager.names:
            await self._add(name)
        if first:
            await manager.start()
        for part in parts:
            await manager.start_component(part)

    def _parts(self, name: str) -> tuple[str, ...]:
        """What the manager calls the components of a name: several for an add-on."""
        if name in installed().addons:
            return tuple(part.name for part in parts_of(self._component(name))) or (name,)
        return (name,)

    async def stop_controller(self, name: str) -> None:
        """Stop one controller until it is started by name; harmless when it does not run.

        Its queue and its caches are gone then. Raises OptionError for an unknown name.
        """
        async with self._changing:
            name = cluster_options.controller_name(name, self.known)
            self._wanted[name] = False
            for part in self._parts(name):
                if self._manager is not None and part in self._manager.names:
                    await self._manager.stop_component(part)

    async def restart_controller(self, name: str) -> None:
        """Let one controller die and start again: its queue and caches are as new.

        Where processes have caches of their own, all that runs in one with it dies, too. Raises
        OptionError for an unknown name.
        """
        async with self._changing:
            name = cluster_options.controller_name(name, self.known)
            self._wanted[name] = True
            if self._manager is not None:
                together = await self._manager.stop_together(*self._parts(name))
                await self._start_one(self._manager, name)
                for other in together:
                    await self._manager.start_component(other)

    def kill(self, name: str) -> None:
        """Let an operator outside be dead at once, which is to be restarted; nothing else."""
        from fakekube.runtime.component import is_killable

        for part in self._parts(name):
            if is_killable(component := self.find_component(part)):
                component.kill()

    @property
    def known(self) -> list[str]:
        """The names of the controllers that run or can be started by name."""
        if self._manager is not None:
            return [*dict.fromkeys([*installed().entry_points, *self._manager.names])]
        of_addons = [part.name for _, made in self._made.values() for part in parts_of(made)]
        return [*dict.fromkeys([*installed().entry_points, *self.extra_names, *of_addons])]

    def explain(self) -> Iterator[str]:
        """What the controllers wait for, as people read it."""
        if self._manager is not None:
            yield from self._manager.explain()

    def why(self, resource: "GroupResource", obj: "ReadOnlyTree") -> "list[Answer]":
        """What the controllers that run answer for an object; see ``fakekube.runtime.why``."""
        return self._manager.why(resource, obj) if self._manager is not None else []

    def find_component(self, name: str) -> "Component | None":
        """A component that runs; None for one that does not, or has had no work."""
        manager = self._manager
        return manager.working(name) if manager is not None and manager.is_running(name) else None

    @property
    def runs_kubelet(self) -> bool:
        """Whether the kubelet component was started."""
        return self._manager is not None and self._manager.is_running(KUBELET)

    def kubelet(self) -> Any:
        """The component that is every node's kubelet;

        None while it does not run or has had no work.
        """
        return self.manager.working(KUBELET) if self.runs_kubelet else None

    def add_stages(self, stages: list[Tree]) -> None:
        """Give the kubelet KWOK's Stages. Raises ValueError for one that is not valid."""
        kubelet: Any = self.manager.activate(KUBELET)
        kubelet.add_stages(stages)


def _scheduler_configuration(given: str | Mapping[str, Any]) -> Any:
    """The tree of the scheduler's configuration; None: there is none. Raises OptionError."""
    if not isinstance(given, str):
        return given
    if not given:
        return None
    from fakekube.composition import admissionconfiguration

    tree = admissionconfiguration.parsed(Path(given), "scheduler_config")
    return {} if tree is None else tree


def _of_server(options: ClusterOptions) -> "list[ServerObjects]":
    """What keeps objects of the server, imported only where there are any."""
    if not options.client_ca_file and not options.advertise_address:
        return []
    from fakekube.composition.serverobjects import ServerObjects

    return [ServerObjects(options)]
