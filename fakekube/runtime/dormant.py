"""Components that are loaded when there is something for them to do.

A cluster in a test runs a dozen controllers and uses two or three of them. The others cost their imports and their caches,
unless they sleep until the first object that they are for. Upstream has nothing of the kind.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.cache.informer import Registration
from fakekube.client.resources import Resource
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context


class Dormant:
    """Stands in for the component that ``path`` (``package.module:callable``) makes, until one of ``resources`` is there.

    Of a resource that comes with a function only those objects count for which it is true. The component is told of what
    is there by then as it would be at its own start. ``user_agent`` and ``user`` are its own; ``whole`` as for informers.
    """

    def __init__(
        self, name: str, path: str, *resources: Resource | tuple[Resource, Callable[[Tree], bool]],
        user_agent: str = "kube-controller-manager", user: UserInfo | None = None, whole: bool = True,
    ) -> None:
        self.name, self.user_agent, self.user = name, user_agent, user
        self._path, self._resources, self._whole = path, resources, whole
        self._registrations: list[Registration] = []
        self.component: Any = None

    async def start(self, ctx: Context) -> None:
        """Wait for the first object."""
        self._ctx = ctx
        self._registrations = [
            ctx.add_handler(resource, self._rouse, whole=self._whole) if isinstance(resource, Resource)
            else self._listen(*resource) for resource in self._resources]

    def _listen(self, resource: Resource, matters: Callable[[Tree], bool]) -> Registration:
        def seen(obj: Tree) -> None:
            if self.component is None and matters(obj):
                self._rouse(obj)

        return self._ctx.add_handler(resource, seen, lambda _, new: seen(new))

    async def stop(self) -> None:
        """Stop the component, if it was started."""
        component, self.component = self.component, None
        if component is not None:
            await component.stop()

    def _rouse(self, _: Tree) -> None:
        if self.component is not None:
            return
        self.component = self._made()
        self._ctx.tasks.spawn(self._begin(), f"start of {self.name}")

    def _made(self) -> Any:
        module, _, attribute = self._path.partition(":")
        made = getattr(import_module(module), attribute)()
        return made.runnable() if isinstance(made, Declaration) else made

    async def _begin(self) -> None:
        with self._ctx.activity.busy():
            await self.component.start(self._ctx)
        for registration in self._registrations:
            registration.remove()
