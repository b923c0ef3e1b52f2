"""The slices that one controller writes: reading and writing them, and hearing when somebody else
does.

Upstream: k8s.io/endpointslice/util/endpointslice_tracker.go.
"""

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINT_SLICES
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.endpoints.slices import MANAGED_BY, SERVICE_NAME

DELAY_SECONDS = 1.0


class SliceTracker:
    """``manager`` is what the slices say of who manages them; ``queue`` gets the Service of those
    that others touch.
    """

    def __init__(self, ctx: Context, queue: WorkQueue[ObjectKey], manager: str) -> None:
        self.ctx, self.client, self.queue, self.manager = ctx, ctx.client, queue, manager
        # what was written last, by Service and uid
        self._versions: dict[ObjectKey, dict[str, int]] = {}

    # reading and writing

    async def of(self, key: ObjectKey) -> list[Tree]:
        """The slices of a Service, fresh from the server. Raises APIError."""
        selector = str(labels.from_set({SERVICE_NAME: key.name, MANAGED_BY: self.manager}))
        return (await self.client.list(ENDPOINT_SLICES, key.namespace, label_selector=selector)).items

    async def create(self, each: Tree) -> None:
        """Create a slice. Raises APIError."""
        self._wrote(await self.client.create(ENDPOINT_SLICES, _sent(each)))

    async def update(self, each: Tree) -> None:
        """Replace a slice. Raises APIError."""
        self._wrote(await self.client.update(ENDPOINT_SLICES, _sent(each)))

    async def delete(self, each: Tree) -> None:
        """Delete a slice, if it is still there. Raises APIError."""
        self._versions.get(_service_of(each), {}).pop(meta.uid_of(each), None)
        await self.client.delete(ENDPOINT_SLICES, meta.name_of(each), meta.namespace_of(each), missing_ok=True)

    def forget(self, key: ObjectKey) -> None:
        """The Service is gone."""
        self._versions.pop(key, None)

    def _wrote(self, each: Tree) -> None:
        self._versions.setdefault(_service_of(each), {})[meta.uid_of(each)] = int(meta.resource_version_of(each))

    # hearing

    def listen(self) -> None:
        """Watch slices from now on."""
        self.ctx.add_handler(ENDPOINT_SLICES, self._seen, self._updated, self._deleted)

    def _seen(self, each: Tree) -> None:
        if self._is_managed(each) and self._is_foreign(each):
            self._enqueue(each)

    def _updated(self, old: Tree, new: Tree) -> None:
        if _service_of(old) != _service_of(new):
            self._enqueue(new)
            self._enqueue(old)
        elif self._is_managed(old) != self._is_managed(new) or (self._is_managed(new) and self._is_foreign(new)):
            self._enqueue(new)

    def _deleted(self, each: Tree) -> None:
        known = self._versions.get(_service_of(each), {})
        if self._is_managed(each) and known.pop(meta.uid_of(each), None) is not None:
            self._enqueue(each)

    def _is_managed(self, each: Tree) -> bool:
        return meta.labels_of(each).get(MANAGED_BY) == self.manager

    def _is_foreign(self, each: Tree) -> bool:
        written = self._versions.get(_service_of(each), {}).get(meta.uid_of(each), 0)
        return int(meta.resource_version_of(each)) > written

    def _enqueue(self, each: Tree) -> None:
        key = _service_of(each)
        if key.name:
            self.queue.add_after(key, DELAY_SECONDS)


def _sent(each: Tree) -> Tree:
    """The slice as upstream's controllers send it: protobuf knows no empty lists, and nobody then
    manages them.
    """
    return {key: value for key, value in each.items() if value not in ([], None)}


def _service_of(each: Tree) -> ObjectKey:
    return ObjectKey(meta.namespace_of(each), meta.labels_of(each).get(SERVICE_NAME, ""))
