"""What all objects share that others name: they stay, terminating, until nobody does.

Upstream: the reconciles of resourceflavor_controller.go and admissioncheck_controller.go.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.names import RESOURCE_IN_USE_FINALIZER

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue


async def write_finalizer(client: Client, resource: Resource, obj: ReadOnlyTree, *, wanted: bool) -> Tree | None:
    """Give an object Kueue's finalizer or take it away; the object then, or None if it is so
    already.

    One that is gone is no error. Raises APIError.
    """
    if (RESOURCE_IN_USE_FINALIZER in meta.finalizers_of(obj)) == wanted:
        return None
    changed = (meta.with_finalizer if wanted else meta.without_finalizer)(obj, RESOURCE_IN_USE_FINALIZER)
    try:
        return await client.update(resource, changed)
    except APIError as error:
        if error.code != 404:
            raise
        return None


class FinalizerReconciler(ABC):
    """Reconciles one object of ``resource``, which is not namespaced."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", ctx: "Context", resource: Resource) -> None:
        self.kueue, self.ctx, self._resource = kueue, ctx, resource
        self._objects = ctx.lister(resource)

    @abstractmethod
    def users_of(self, name: str) -> list[str]:
        """Who names the object."""

    def enqueue(self, name: str) -> None:
        """Reconcile an object soon."""
        self.queue.add(Request("", name))

    async def reconcile(self, request: Request) -> Result | None:
        """Add the finalizer, or remove it once it is not needed. Raises APIError."""
        obj = self._objects.get(*request)
        if obj is None:
            return None
        if not meta.is_deleting(obj):
            await write_finalizer(self.kueue.client, self._resource, obj, wanted=True)
        elif not self.users_of(request.name):
            await write_finalizer(self.kueue.client, self._resource, obj, wanted=False)
        return None
