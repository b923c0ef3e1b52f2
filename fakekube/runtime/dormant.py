"""Components that are loaded when there is something for them to do.

A cluster in a test runs two dozen controllers and uses two or three of them. The others cost their imports and their caches,
unless they sleep until the first object that they are for: in the server's own process it is the server that wakes them, and
until then nobody lists or watches anything; elsewhere caches do. Upstream has nothing of the kind.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from fakekube.apimachinery.stock import Cancel

OWNED: Final = "owned"
"""In the place of a resource: whatever names an owner, or has a finalizer for its dependents."""

Matters = Callable[[Tree], bool]


class Dormant:
    """Stands in for the component that ``path`` (``package.module:callable``) makes, until one of ``resources`` is there.

    What came with the cluster does not count until it changes. Of a resource that comes with a function only those objects count
    for which it is true. The component is told of what is there by then as it would be at its own start. ``user_agent`` and
    ``user`` are its own.
    """

    def __init__(
        self, name: str, path: str, *resources: str | Resource | tuple[Resource, Matters],
        user_agent: str = "kube-controller-manager", user: UserInfo | None = None,
    ) -> None:
        self.name, self.user_agent, self.user = name, user_agent, user
        self._path, self._resources = path, resources
        self._cancels: list[Cancel] = []
        self._roused = False
        self.component: Any = None

    async def start(self, ctx: Context) -> None:
        """Wait for the first object."""
        self._ctx, self._roused = ctx, False
        for each in self._resources:
            if isinstance(each, str):
                self._await_owned()
            elif isinstance(each, Resource):
                self._await(each, None)
            else:
                self._await(*each)

    async def stop(self) -> None:
        """Stop the component, if it was started."""
        self._sleep_no_more()
        component, self.component = self.component, None
        if component is not None:
            await component.stop()

    def _await_owned(self) -> None:
        stock = self._ctx.stock
        cancel = stock.await_owned(self._rouse) if stock is not None else None
        if cancel is None:
            self._rouse()
        else:
            self._cancels.append(cancel)

    def _await(self, resource: Resource, matters: Matters | None) -> None:
        """Sleep until the resource changes, and look at what it holds then; at once where there is nobody to be woken by."""
        stock = self._ctx.stock
        if stock is None:
            self._listen(resource, matters)
            return

        def look(since: int | None) -> None:
            if since is None and matters is None:
                self._rouse()
            else:
                self._listen(resource, matters, since)

        cancel = stock.await_change(resource.group_resource, look)
        if cancel is None:
            look(None)
        else:
            self._cancels.append(cancel)

    def _listen(self, resource: Resource, matters: Matters | None, since: int | None = None) -> None:
        def seen(obj: Tree) -> None:
            if not self._roused and (matters is None or matters(obj)):
                self._rouse(told=True)

        registration = self._ctx.add_handler(resource, seen, lambda _, new: seen(new), since=since)
        self._cancels.append(registration.remove)

    def _rouse(self, *, told: bool = False) -> None:
        """``told``: by an informer, so that this is about the object that it tells of."""
        if not self._roused:
            self._roused = True
            self._ctx.tasks.spawn(self._begin(told=told), f"start of {self.name}")

    async def _begin(self, *, told: bool) -> None:
        if not told:
            ACTING.set(None)  # whoever wrote what woke this is somebody else
        with self._ctx.activity.busy():
            self.component = self._made()
            await self.component.start(self._ctx)
        self._sleep_no_more()

    def _made(self) -> Any:
        module, _, attribute = self._path.partition(":")
        made = getattr(import_module(module), attribute)()
        return made.runnable() if isinstance(made, Declaration) else made

    def _sleep_no_more(self) -> None:
        for cancel in self._cancels:
            cancel()
        self._cancels.clear()
