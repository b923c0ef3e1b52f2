"""Runs components on shared caches: starts them, stops them, and says what they wait for.

Upstream: controller-runtime/pkg/manager. A component is a declared controller, or anything with
``start`` and ``stop``: what needs informers, queues and tasks of its own (a garbage collector, a
kubelet, a scheduler) is one too.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.presence import ResourcePresence
from fakekube.apimachinery.types import Json, ReadOnlyTree
from fakekube.cache.mutation import MutationDetector
from fakekube.client.client import Client
from fakekube.runtime.builder import Declaration
from fakekube.runtime.component import Component, Runnable, is_snapshotted
from fakekube.runtime.context import Context
from fakekube.runtime.informers import Informers
from fakekube.runtime.lazy import LazyController, LazyStarter
from fakekube.runtime.metrics import Metrics
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.client.recorder import EventBroadcaster
    from fakekube.runtime.why import Answer
    from fakekube.util.choices import Choices


class Manager:
    """Components by name, and what they share.

    ``on_failure`` of ``tasks`` hears of components that break. ``presence`` lets the caches of
    unused resources wait. ``detector`` proves that components change nothing in their caches.
    ``options`` are for controllers to read, ``metrics`` (a store of its own unless given) for them
    to count in. Where ``choices`` say who hears first, components have caches of their own, but for
    those that ``process_of`` says to run in one process; ``lists_consistently`` says of which
    processes these begin with what the server holds, not with what a cache of it has.
    """

    def __init__(
        self, client: Client, *, clock: Clock, activity: Activity, rng: Rng, tasks: Tasks, version: str = "",
        gates: Mapping[str, bool] | None = None, options: Mapping[str, Any] | None = None,
        detector: MutationDetector | None = None, watch_timeout_seconds: float | None = None,
        presence: ResourcePresence | None = None, metrics: Metrics | None = None,
        choices: "Choices | None" = None, process_of: Callable[[str], str] = str,
        lists_consistently: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.tasks = tasks.child()
        self._make_informers = partial(
            Informers, clock=clock, activity=activity, rng=rng.fork("informers"), tasks=self.tasks, detector=detector,
            watch_timeout_seconds=watch_timeout_seconds, presence=presence,
        )
        self.informers = self._make_informers(client)
        self._client, self._choices, self._process_of = client, choices, process_of
        self._lists_consistently = lists_consistently
        self._informers_of: dict[str, Informers] = {}  # by process, where each has its own
        self._started = False
        self._root = Context(
            "manager", client=client, clock=clock, activity=activity, rng=rng, tasks=self.tasks,
            informers=self.informers, events=lambda: self.events, version=version, gates=gates, options=options, metrics=metrics,
            choices=choices,
        )
        self._components: dict[str, Runnable] = {}
        self._running: dict[str, Context | None] = {}  # None: it has needed none yet
        self._lazy_starter = LazyStarter(presence) if presence is not None else None

    @cached_property
    def events(self) -> "EventBroadcaster":
        """Writes the Events that components record."""
        from fakekube.client.recorder import EventBroadcaster

        root = self._root
        return EventBroadcaster(
            root.client, clock=root.clock, activity=root.activity, rng=root.rng.fork("events"), tasks=self.tasks)

    @property
    def names(self) -> list[str]:
        """The components, in the order in which they were added."""
        return list(self._components)

    def agents_of(self, name: str) -> tuple[str, ...]:
        """The user agents of a component: of its writes, and of the process whose caches it uses.

        KeyError when there is none.
        """
        return tuple(dict.fromkeys([self._components[name].user_agent or name, self._process_of(name)]))

    def user_of(self, name: str) -> UserInfo | None:
        """The user that a component is to the server; None: the manager's. KeyError when there is
        none.
        """
        return self._components[name].user

    def component(self, name: str) -> Component:
        """A component by its name; what stands in for one that has nothing to do yet.

        KeyError when there is none.
        """
        return self.working(name) or self._components[name]

    def working(self, name: str) -> Component | None:
        """A component by its name; None for one that has nothing to do yet.

        KeyError when there is none.
        """
        found = self._components[name]
        return found.component if isinstance(found, LazyController) else found

    def activate(self, name: str) -> Component:
        """A component by its name; a lazy one starts now. KeyError when there is none."""
        found = self._components[name]
        return found.activate() if isinstance(found, LazyController) else found

    def is_running(self, name: str) -> bool:
        """Whether a component is started."""
        return name in self._running

    def add(self, component: Runnable | Declaration) -> Runnable:
        """Add a component; ``start`` or ``start_component`` starts it.

        ValueError when the name is taken.
        """
        runnable = component.runnable() if isinstance(component, Declaration) else component
        if runnable.name in self._components:
            raise ValueError(f"there is a component {runnable.name!r} already")
        self._components[runnable.name] = runnable
        return runnable

    async def start(self, *, without: Collection[str] = ()) -> None:
        """Start every component but those ``without``, then the caches.

        The driver's ``settle`` waits until all of them have begun.
        """
        for name in self.names:
            if name not in without and not self._wait_for_need(name):
                await self.start_component(name)
        self._started = True
        for informers in self._all_informers():
            informers.start()

    def _all_informers(self) -> list[Informers]:
        return [self.informers, *self._informers_of.values()]

    def _informers_for(self, name: str) -> Informers:
        """The caches of the process that a component runs in."""
        if self._choices is None:
            return self.informers
        process = self._process_of(name)
        found = self._informers_of.get(process)
        if found is None:
            found = self._informers_of[process] = self._make_informers(
                self._client.with_options(user_agent=process), consistent=self._lists_consistently(process))
            if self._started:
                found.start()
        return found

    async def start_component(self, name: str) -> None:
        """Start one component with a fresh context; harmless when it runs.

        KeyError when there is none.
        """
        if name not in self._running and not self._wait_for_need(name):
            component = self._components[name]
            await component.start(self._context_of(component))

    def _wait_for_need(self, name: str) -> bool:
        """Let a lazy component wait until there is something to do; False for one to be started
        now.
        """
        component, starter = self._components[name], self._lazy_starter
        if name in self._running or starter is None or not isinstance(component, LazyController) or (
                component.is_needed(self._root)):
            return False
        self._running[name] = None
        component.wait(partial(self._context_of, component))
        starter.add(component)
        return True

    def _context_of(self, component: Runnable) -> Context:
        ctx = self._running.get(component.name)
        if ctx is None:
            ctx = self._root.scoped(
                component.name, user_agent=component.user_agent, user=component.user,
                informers=self._informers_for(component.name))
            self._running[component.name] = ctx
        return ctx

    async def stop_component(self, name: str) -> None:
        """Stop one component, its handlers, queues and tasks; harmless when it does not run."""
        if name not in self._running:
            return
        component, ctx = self._components[name], self._running.pop(name)
        if self._lazy_starter is not None and isinstance(component, LazyController):
            self._lazy_starter.remove(component)
        await component.stop()
        if ctx is not None:
            await ctx.close()

    async def stop_together(self, *names: str) -> list[str]:
        """Stop components as a crash does; the names of those that were running.

        Where processes have caches of their own, all that runs in one with them stops, too, and
        those caches are gone.
        """
        together = [name for name in names if name in self._running]
        if self._choices is not None:
            processes = dict.fromkeys(self._process_of(name) for name in names)
            together = [name for name in self._running if self._process_of(name) in processes]
        for name in reversed(together):
            await self.stop_component(name)
        if self._choices is not None:
            for process in processes:
                if (informers := self._informers_of.pop(process, None)) is not None:
                    informers.close()
        return together

    async def stop(self) -> None:
        """Stop every component, the last first, then the caches."""
        if self._lazy_starter is not None:
            self._lazy_starter.close()
        for name in reversed(list(self._running)):
            await self.stop_component(name)
        await self._root.close()
        for informers in self._all_informers():
            informers.close()
        await self.tasks.close()
        if self.informers.detector is not None:
            self.informers.detector.close()

    @property
    def taken(self) -> int:
        """How many keys the workers of all running components have taken so far: reconciles, more
        or less.
        """
        return sum(ctx.taken for ctx in self._running.values() if ctx is not None)

    def dump(self) -> dict[str, Json]:
        """The state of components that objects do not show, by name: of those that have a
        ``dump()``.
        """
        return {name: one.dump() for name in self.names if is_snapshotted(one := self.component(name))}

    def load(self, states: Mapping[str, Json]) -> None:
        """Give components the states that such ones dumped once; before they are started."""
        for name in self.names:
            if name in states and is_snapshotted(one := self.activate(name)):
                one.load(states[name])

    def why(self, resource: GroupResource, obj: ReadOnlyTree) -> "list[Answer]":
        """What the running components answer for an object of a resource; see ``runtime.why``."""
        asked = [ctx.why[resource] for ctx in self._running.values() if ctx is not None and resource in ctx.why]
        return [answer for each in asked if (answer := each(obj)) is not None]

    def explain(self) -> Iterator[str]:
        """Lines on what waits for what, for people."""
        for informers in self._all_informers():
            yield from informers.explain()
        for name, ctx in self._running.items():
            for line in ctx.explain() if ctx is not None else ():
                yield line if line.startswith(name) else f"{name}: {line}"
