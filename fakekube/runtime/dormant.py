"""Components that are loaded when there is something for them to do.

A cluster in a test runs two dozen controllers and uses two or three of them. The others cost their imports and their caches,
unless they sleep until the first object that they are for: in the server's own process it is the server that wakes them, and
until then nobody lists or watches anything; elsewhere caches do. Upstream has nothing of the kind.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.presence import ResourcePresence
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.resources import Resource
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from typing import TypeGuard

    from fakekube.apimachinery.presence import Cancel

OWNED: Final = "owned"
"""In the place of a resource: whatever names an owner, or has a finalizer for its dependents."""

Matters = Callable[[Tree], bool]


class Remembering(Protocol):
    """A component that knows what objects do not say, such as what runs on a node."""

    def dump(self) -> Json:
        """All of that, as JSON."""

    def load(self, state: Json) -> None:
        """Know it again: it was dumped by a component of this kind, perhaps in another process."""


def remembers(component: object) -> "TypeGuard[Remembering]":
    """Whether a component is one that knows more than objects say."""
    return hasattr(component, "dump")


class Dormant:
    """Stands in for the component that ``path`` (``package.module:callable``) makes, until one of ``resources`` is there.

    What came with the cluster does not count until it changes. Of a resource that comes with a function only those objects count
    for which it is true. The component is told of what is there by then as it would be at its own start. ``user_agent`` and
    ``user`` are its own. ``busy(options)``, of the context's options: whether there is something to do whatever there is.
    """

    def __init__(
        self, name: str, path: str, *resources: str | Resource | tuple[Resource, Matters],
        user_agent: str = "kube-controller-manager", user: UserInfo | None = None,
        busy: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.name, self.user_agent, self.user = name, user_agent, user
        self.awaited = resources
        self._path, self._busy = path, busy
        self._cancels: list[Cancel] = []
        self._context: Callable[[], Context] | None = None
        self._roused = self._begun = False
        self._component: Any = None

    @property
    def component(self) -> Any:
        """The component once it has begun; None while it sleeps."""
        return self._component if self._begun else None

    def awake(self) -> Any:
        """The component, made now if need be. If it has not begun, it is about to, or will as soon as this is started."""
        if self._component is None:
            module, _, attribute = self._path.partition(":")
            made = getattr(import_module(module), attribute)()
            self._component = made.runnable() if isinstance(made, Declaration) else made
        if self._context is not None:
            self._rouse()
        return self._component

    async def start(self, ctx: Context) -> None:
        """Begin where there is something to do already; else wait for the first object, by the context's caches."""
        self._context = lambda: ctx
        if self.has_work(ctx.options):
            self._roused = True
            await self._begin(told=True)
            return
        for each in self.awaited:
            if isinstance(each, str):
                self._rouse()
            elif isinstance(each, Resource):
                self._listen(each, None)
            else:
                self._listen(*each)

    def sleep(self, context: Callable[[], Context]) -> None:
        """Wait until somebody calls ``look``, or for ``await_owned``. ``context`` gives what this needs once it wakes."""
        self._context = context

    async def stop(self) -> None:
        """Stop the component, if it has begun. One that remembers is there again with the next start, others are made anew."""
        self._sleep_no_more()
        begun, self._begun, self._roused, self._context = self._begun, False, False, None
        if begun:
            await self._component.stop()
        if not remembers(self._component):
            self._component = None

    def has_work(self, options: Mapping[str, Any]) -> bool:
        """Whether there is something to do whatever there is."""
        return self._component is not None or (self._busy is not None and self._busy(options))

    def await_owned(self, presence: ResourcePresence) -> None:
        """Sleep until something is owned."""
        cancel = presence.await_owned(self._rouse)
        if cancel is None:
            self._rouse()
        else:
            self._cancels.append(cancel)

    def look(self, resource: Resource, matters: Matters | None, since: int | None) -> None:
        """A resource has changed: see what it holds. ``since`` is a version at which it held nothing, or None."""
        if since is None and matters is None:
            self._rouse()
        elif not self._roused:
            self._listen(resource, matters, since)

    def _listen(self, resource: Resource, matters: Matters | None, since: int | None = None) -> None:
        def seen(obj: Tree) -> None:
            if not self._roused and (matters is None or matters(obj)):
                self._rouse(told=True)

        assert self._context is not None, "it was started"
        registration = self._context().add_handler(resource, seen, lambda _, new: seen(new), since=since)
        self._cancels.append(registration.remove)

    def _rouse(self, *, told: bool = False) -> None:
        """``told``: by an informer, so that this is about the object that it tells of."""
        if not self._roused and self._context is not None:
            self._roused = True
            self._context().tasks.spawn(self._begin(told=told), f"start of {self.name}")

    async def _begin(self, *, told: bool) -> None:
        if not told:
            ACTING.set(None)  # whoever wrote what woke this is somebody else
        assert self._context is not None, "it was started"
        ctx = self._context()
        with ctx.activity.busy():
            component = self.awake()
            self._begun = True
            await component.start(ctx)
        self._sleep_no_more()

    def _sleep_no_more(self) -> None:
        for cancel in self._cancels:
            cancel()
        self._cancels.clear()
