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
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.resources import Resource
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from typing import TypeGuard

    from fakekube.apimachinery.stock import Cancel

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
        self._path, self._resources, self._busy = path, resources, busy
        self._cancels: list[Cancel] = []
        self._ctx: Context | None = None
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
        if self._ctx is not None:
            self._rouse(self._ctx)
        return self._component

    async def start(self, ctx: Context) -> None:
        """Wait for the first object; for none where there is something to do already."""
        self._ctx = ctx
        if self._component is not None or (self._busy is not None and self._busy(ctx.options)):
            self._roused = True
            await self._begin(ctx, told=True)
            return
        for each in self._resources:
            if isinstance(each, str):
                self._await_owned(ctx)
            elif isinstance(each, Resource):
                self._await(ctx, each, None)
            else:
                self._await(ctx, *each)

    async def stop(self) -> None:
        """Stop the component, if it has begun. One that remembers is there again with the next start, others are made anew."""
        self._sleep_no_more()
        begun, self._begun, self._roused, self._ctx = self._begun, False, False, None
        if begun:
            await self._component.stop()
        if not remembers(self._component):
            self._component = None

    def _await_owned(self, ctx: Context) -> None:
        cancel = ctx.stock.await_owned(lambda: self._rouse(ctx)) if ctx.stock is not None else None
        if cancel is None:
            self._rouse(ctx)
        else:
            self._cancels.append(cancel)

    def _await(self, ctx: Context, resource: Resource, matters: Matters | None) -> None:
        """Sleep until the resource changes, and look at what it holds then; at once where there is nobody to be woken by."""
        stock = ctx.stock
        if stock is None:
            self._listen(ctx, resource, matters)
            return

        def look(since: int | None) -> None:
            if since is None and matters is None:
                self._rouse(ctx)
            else:
                self._listen(ctx, resource, matters, since)

        cancel = stock.await_change(resource.group_resource, look)
        if cancel is None:
            look(None)
        else:
            self._cancels.append(cancel)

    def _listen(self, ctx: Context, resource: Resource, matters: Matters | None, since: int | None = None) -> None:
        def seen(obj: Tree) -> None:
            if not self._roused and (matters is None or matters(obj)):
                self._rouse(ctx, told=True)

        registration = ctx.add_handler(resource, seen, lambda _, new: seen(new), since=since)
        self._cancels.append(registration.remove)

    def _rouse(self, ctx: Context, *, told: bool = False) -> None:
        """``told``: by an informer, so that this is about the object that it tells of."""
        if not self._roused:
            self._roused = True
            ctx.tasks.spawn(self._begin(ctx, told=told), f"start of {self.name}")

    async def _begin(self, ctx: Context, *, told: bool) -> None:
        if not told:
            ACTING.set(None)  # whoever wrote what woke this is somebody else
        with ctx.activity.busy():
            component = self.awake()
            self._begun = True
            await component.start(ctx)
        self._sleep_no_more()

    def _sleep_no_more(self) -> None:
        for cancel in self._cancels:
            cancel()
        self._cancels.clear()
