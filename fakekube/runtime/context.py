"""What a controller is given: a client, caches, time, randomness, tasks and queues.

It sees nothing else.

Upstream: kube-controller-manager's ControllerContext. A context belongs to one component and to one
run of it: when the component stops, its handlers, queues and tasks go with the context, and the
shared caches stay.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.presence import ResourcePresence
from fakekube.cache.informer import OnAdd, OnDelete, OnUpdate, Registration, SharedInformer
from fakekube.cache.lister import Lister
from fakekube.cache.mutation import MutationDetector
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.client.typed import M
from fakekube.runtime.informers import Informers
from fakekube.runtime.metrics import Metrics
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks
from fakekube.workqueue.queue import WorkQueue
from fakekube.workqueue.ratelimit import RateLimiter

if TYPE_CHECKING:
    from fakekube.apimachinery.gvk import GroupResource
    from fakekube.cache.typed import TypedLister
    from fakekube.client.recorder import EventBroadcaster, Recorder
    from fakekube.runtime.why import Why
    from fakekube.util.choices import Choices


class Context:
    """What one component works with.

    What its caches show, by listers, indices and handlers, is shared with every other component and
    with the server: read-only. What its client returns is the component's own.

    ``rng`` is the component's own fork. ``gates`` are feature gates by name, ``version`` the
    cluster's Kubernetes version (``1.37``), ``options`` what the composition gives to controllers,
    ``metrics`` the store that all components of the manager count in.
    """

    def __init__(
        self, name: str, *, client: Client, clock: Clock, activity: Activity, rng: Rng, tasks: Tasks,
        informers: Informers, events: "Callable[[], EventBroadcaster]", version: str = "",
        gates: Mapping[str, bool] | None = None, options: Mapping[str, Any] | None = None, metrics: Metrics | None = None,
        user_agent: str = "", user: UserInfo | None = None, choices: "Choices | None" = None,
    ) -> None:
        self.name, self.clock, self.activity, self.rng = name, clock, activity, rng
        self.version, self.gates, self.options = version, gates or {}, options or {}
        self.metrics = metrics or Metrics()
        self.explainers: list[Callable[[], Iterator[str]]] = []
        self.why: dict[GroupResource, Why] = {}  # answers why objects of a resource wait
        self._parent_client, self._user_agent, self._user = client, user_agent, user
        self._choices = choices
        self._parent_tasks, self._informers, self._events = tasks, informers, events
        self._registrations: list[Registration] = []
        self._queues: list[WorkQueue[Any]] = []
        self._used: dict[int, SharedInformer] = {}
        self._on_close: list[Callable[[], object]] = []
        self._parent: Context | None = None
        self._children: list[Context] = []

    def scoped(
        self, name: str, *, user_agent: str = "", user: UserInfo | None = None, informers: Informers | None = None,
    ) -> "Context":
        """The context of another component, which may have caches of its own."""
        return Context(
            name, client=self._parent_client, clock=self.clock, activity=self.activity, rng=self.rng.fork(name),
            tasks=self._parent_tasks, informers=informers or self._informers, events=self._events, version=self.version,
            gates=self.gates, options=self.options, metrics=self.metrics, user_agent=user_agent or name, user=user,
            choices=self._choices,
        )

    def child(self, name: str) -> "Context":
        """The context of a part of this component: who it is to the server is the component.

        It explains and answers why through this one, and is closed with it.
        """
        made = Context(
            name, client=self._parent_client, clock=self.clock, activity=self.activity, rng=self.rng.fork(name),
            tasks=self.tasks, informers=self._informers, events=self._events, version=self.version, gates=self.gates,
            options=self.options, metrics=self.metrics, user_agent=self._user_agent, user=self._user,
            choices=self._choices,
        )
        made.why = self.why
        made._parent = self
        self._children.append(made)
        return made

    # Made when first used: most controllers of a cluster never start.

    @cached_property
    def client(self) -> Client:
        """Acts as the component."""
        return self._parent_client.with_options(user_agent=self._user_agent or None, user=self._user)

    @cached_property
    def tasks(self) -> Tasks:
        """End with the component."""
        return self._parent_tasks.child()

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; one that nobody set is off."""
        return self.gates.get(gate, False)

    @property
    def detector(self) -> MutationDetector | None:
        """Who proves that nothing in the caches is changed, where somebody does."""
        return self._informers.detector

    @property
    def presence(self) -> ResourcePresence | None:
        """Whoever knows what the server holds, where that is in this process."""
        return self._informers.presence

    def informer(
        self, resource: Resource, *, namespace: str = "", label_selector: str = "", field_selector: str = "",
        whole: bool = True, since: int | None = None,
    ) -> SharedInformer:
        """The shared cache of a resource, or of a part of it. Handlers go through ``add_handler``.

        ``whole`` False is for who does not miss what came with the cluster (roles, flow schemas)
        while nobody asks for the resource: a cluster that does not have to look at it starts
        sooner. ``since`` is a version at which there is known to have been nothing: a cache that
        begins need not list then.
        """
        informer = self._informers.get(resource, namespace, label_selector, field_selector, whole=whole, since=since)
        self._used[id(informer)] = informer
        return informer

    @overload
    def lister(self, resource: Resource) -> Lister: ...

    @overload
    def lister(self, resource: type[M]) -> "TypedLister[M]": ...

    def lister(self, resource: Resource | type[M]) -> "Lister | TypedLister[M]":
        """Reads the shared cache of a resource: trees, or models where a class is given."""
        if isinstance(resource, Resource):
            return self.informer(resource).lister
        from fakekube.cache.typed import TypedLister

        return TypedLister(self.informer(resource.resource).lister, resource)

    def add_handler(
        self, resource: Resource, on_add: OnAdd | None = None, on_update: OnUpdate | None = None,
        on_delete: OnDelete | None = None, *, whole: bool = True, since: int | None = None,
    ) -> Registration:
        """Tell these of every change to a resource, until the component stops.

        See ``SharedInformer.add_handler``; ``whole`` and ``since`` as for ``informer``.
        """
        registration = self.informer(resource, whole=whole, since=since).add_handler(
            on_add, on_update, on_delete, component=self.name)
        self._registrations.append(registration)
        return registration

    async def wait_for_sync(self) -> None:
        """Return once every cache that this context was asked for holds its first list, and for a
        part those of its component: what they share is made of them.
        """
        if self._parent is not None:
            await self._parent.wait_for_sync()
        for informer in list(self._used.values()):
            await informer.wait_for_sync()

    def queue(self, name: str = "", *, limiter: RateLimiter[Any] | None = None) -> WorkQueue[Any]:
        """A work queue, shut down when the component stops."""
        queue: WorkQueue[Hashable] = WorkQueue(
            self.clock, self.activity, limiter=limiter, name=name or self.name, choices=self._choices)
        self._queues.append(queue)
        self.metrics.watch_queue(queue)
        return queue

    @property
    def taken(self) -> int:
        """How many keys its workers have taken so far."""
        return sum(queue.taken for queue in self._queues) + sum(child.taken for child in self._children)

    def recorder(
        self, component: str = "", *, host: str = "", client_of: Callable[[str], Client] | None = None,
    ) -> "Recorder":
        """Records Events as ``component``, which is this component's name unless given.

        ``client_of`` gives the client that writes the Events of a host.
        """
        return self._events().recorder(component or self.name, host=host, client=self.client, client_of=client_of)

    def explain(self) -> Iterator[str]:
        """Lines on what waits for what, for people."""
        for queue in self._queues:
            yield from queue.explain()
        for explainer in self.explainers:
            yield from explainer()
        for child in self._children:
            yield from child.explain()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call a function, plain or async, when the component stops: to cancel a timer, say."""
        self._on_close.append(function)

    async def close(self) -> None:
        """End what belongs to this context, the last that was begun first."""
        while self._children:
            await self._children.pop().close()
        for function in self._on_close:
            pending = function()
            if isinstance(pending, Awaitable):
                await pending
        self._on_close.clear()
        for registration in self._registrations:
            registration.remove()
        for queue in self._queues:
            queue.shut_down()
            self.metrics.drop_queue(queue)
        self._registrations, self._queues = [], []
        await self.tasks.close()
