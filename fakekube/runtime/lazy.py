"""Controllers that are loaded and started when the first object that they are for appears.

A cluster in a test runs two dozen controllers and uses two or three of them. The others would cost
their imports and their caches. In the server's own process the server says when a resource is first
written to, and until then nobody lists or watches anything; elsewhere caches tell. Upstream has
nothing of the kind.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.presence import ResourcePresence
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.runtime.component import Component, is_snapshotted
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from fakekube.apimachinery.presence import Cancel

OWNED: Final = "owned"
"""In the place of a resource: whatever names an owner, or has a finalizer for its dependents."""

ObjectFilter = Callable[[Tree], bool]
"""Whether an object counts."""

Trigger = str | Resource | tuple[Resource, ObjectFilter]
"""What a lazy controller starts with: the first object of a resource, the first that counts, or
what is OWNED.
"""


class LazyController:
    """Stands in for the component that ``make()`` makes, until there is an object of one of
    ``resources``.

    Objects that came with the cluster do not count until they change. Of a resource that comes with
    a function only those objects count for which it is true. The component sees what is there by
    then as it would at a start of its own. ``user_agent`` and ``user`` are its own.
    ``is_needed(ctx)``, of the manager's context: whether it has something to do even without such
    an object.
    """

    def __init__(
        self, name: str, make: Callable[[], Component], *resources: Trigger,
        user_agent: str = "", user: UserInfo | None = None, is_needed: Callable[[Context], bool] | None = None,
    ) -> None:
        self.name, self.user_agent, self.user = name, user_agent, user
        self.resources = resources
        self._make, self._is_needed = make, is_needed
        self._cancels: list[Cancel] = []
        self._context: Callable[[], Context] | None = None
        self._start_due = self._started = False
        self._component: Component | None = None

    @property
    def component(self) -> Component | None:
        """The component once it has started; None before."""
        return self._component if self._started else None

    def activate(self) -> Component:
        """The component, made now if need be. It starts soon, or as soon as this is started."""
        if self._component is None:
            self._component = self._make()
        if self._context is not None:
            self._start_soon()
        return self._component

    async def start(self, ctx: Context) -> None:
        """Start the component where there is something to do already; else wait for the first
        object, by the context's caches.
        """
        self._context = lambda: ctx
        if self.is_needed(ctx):
            self._start_due = True
            await self._start(by_informer=True)
            return
        for each in self.resources:
            if isinstance(each, str):
                self._start_soon()
            elif isinstance(each, Resource):
                self._watch(each, None)
            else:
                self._watch(*each)

    def wait(self, context: Callable[[], Context]) -> None:
        """Wait for ``resource_changed``, or ``wait_for_owned``.

        ``context`` gives what the component needs once it starts.
        """
        self._context = context

    async def stop(self) -> None:
        """Stop the component, if it has started.

        One with a state of its own is started again, others are made anew.
        """
        self._stop_watching()
        started, self._started, self._start_due, self._context = self._started, False, False, None
        if started and self._component is not None:
            await self._component.stop()
        if not is_snapshotted(self._component):
            self._component = None

    def is_needed(self, ctx: Context) -> bool:
        """Whether there is something to do even without an object."""
        return self._component is not None or (self._is_needed is not None and self._is_needed(ctx))

    def wait_for_owned(self, presence: ResourcePresence) -> None:
        """Wait until something is owned."""
        cancel = presence.await_owned(self._start_soon)
        if cancel is None:
            self._start_soon()
        else:
            self._cancels.append(cancel)

    def resource_changed(self, resource: Resource, counts: ObjectFilter | None, since: int | None) -> None:
        """A resource was written to: see what it holds.

        ``since`` is a version at which it held nothing, or None.
        """
        if since is None and counts is None:
            self._start_soon()
        elif not self._start_due:
            self._watch(resource, counts, since)

    def _watch(self, resource: Resource, counts: ObjectFilter | None, since: int | None = None) -> None:
        def seen(obj: Tree) -> None:
            if not self._start_due and (counts is None or counts(obj)):
                self._start_soon(by_informer=True)

        def changed(_: Tree, obj: Tree) -> None:
            if not self._start_due and (counts is None or counts(obj)):
                self._start_soon(by_informer=True)

        assert self._context is not None, "it was started"
        registration = self._context().add_handler(resource, seen, changed, since=since)
        # who waits for a first object waits for its definition, too
        self._context().informer(resource, since=since).reflector.is_optional = True
        self._cancels.append(registration.remove)

    def _start_soon(self, *, by_informer: bool = False) -> None:
        """``by_informer``: an informer told of an object, so that the start is caused by that
        object.
        """
        if not self._start_due and self._context is not None:
            self._start_due = True
            self._context().tasks.spawn(self._start(by_informer=by_informer), f"start of {self.name}")

    async def _start(self, *, by_informer: bool) -> None:
        if not by_informer:
            ACTING.set(None)  # whoever made the write that led here is somebody else
        if self._context is None:
            return  # it was stopped before this task had its turn
        ctx = self._context()
        with ctx.activity.busy():
            component = self.activate()
            self._started = True
            await component.start(ctx)
        self._stop_watching()

    def _stop_watching(self) -> None:
        for cancel in self._cancels:
            cancel()
        self._cancels.clear()


class LazyStarter:
    """Starts the lazy controllers of one manager, in the server's own process, when the first
    object for each appears.

    All of them share one registration with the server, and get a context when they start: one more
    lazy controller costs the start of a cluster next to nothing.
    """

    def __init__(self, presence: ResourcePresence) -> None:
        self._presence = presence
        self._waiting: dict[GroupResource, list[tuple[LazyController, Resource, ObjectFilter | None]]] = {}
        self._changed: dict[GroupResource, None] = {}
        self._cancel: Cancel | None = None

    def add(self, controller: LazyController) -> None:
        """Start a controller when it is needed: soon, where its resources have been written to
        already.
        """
        if self._cancel is None:
            self._cancel = self._presence.await_changes(self._resource_changed)
        for each in controller.resources:
            if isinstance(each, str):
                controller.wait_for_owned(self._presence)
                continue
            resource, counts = (each, None) if isinstance(each, Resource) else each
            key = resource.group_resource
            if key in self._changed:
                controller.resource_changed(resource, counts, None)
            else:
                self._waiting.setdefault(key, []).append((controller, resource, counts))

    def remove(self, controller: LazyController) -> None:
        """Do not start a controller any more."""
        for resource, waiting in self._waiting.items():
            self._waiting[resource] = [each for each in waiting if each[0] is not controller]

    def close(self) -> None:
        """Start none any more."""
        self._waiting.clear()
        if self._cancel is not None:
            self._cancel()

    def _resource_changed(self, resource: GroupResource, since: int | None) -> None:
        self._changed[resource] = None
        for controller, named, counts in self._waiting.pop(resource, ()):
            controller.resource_changed(named, counts, since)
