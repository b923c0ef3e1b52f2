"""Takes the finalizer ``kubernetes.io/vac-protection`` off classes that are to go once no volume or
claim names them.

Admission puts it on; classes that lack it get it here. A claim names the class that it wants, the
one that its volume has, and the one that its volume is being changed to. Upstream:
pkg/controller/volume/vacprotection.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

FINALIZER = "kubernetes.io/vac-protection"


class ClassReconciler:
    """Brings the finalizer of one class in line with its use."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.classes = ctx.lister(VOLUME_ATTRIBUTES_CLASSES)
        self.volumes, self.claims = ctx.lister(PERSISTENT_VOLUMES), ctx.lister(PERSISTENT_VOLUME_CLAIMS)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch classes, and what may let go of one."""
        self.queue = queue
        self.ctx.add_handler(VOLUME_ATTRIBUTES_CLASSES, self._class_seen, lambda _, new: self._class_seen(new))
        for resource in (PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS):
            self.ctx.add_handler(resource, on_update=self._changed, on_delete=self._let_go)

    def _class_seen(self, found: Tree) -> None:
        if meta.is_deleting(found) == (FINALIZER in meta.finalizers_of(found)):
            self.queue.add(meta.key_of(found))

    def _changed(self, old: Tree, new: Tree) -> None:
        for name in classes_of(old):
            if name not in classes_of(new):
                self.queue.add(Request("", name))

    def _let_go(self, obj: Tree) -> None:
        for name in classes_of(obj):
            self.queue.add(Request("", name))

    async def reconcile(self, request: Request) -> None:
        """Put the finalizer on a class that stays, or take it off one that is to go and is not
        used. Raises APIError.
        """
        found = self.classes.get("", request.name)
        if found is None:
            return
        protected = FINALIZER in meta.finalizers_of(found)
        if not meta.is_deleting(found):
            if not protected:
                await self.client.update(VOLUME_ATTRIBUTES_CLASSES, meta.with_finalizer(found, FINALIZER))
        elif protected and not await self._is_used(request.name):
            await self.client.update(VOLUME_ATTRIBUTES_CLASSES, meta.without_finalizer(found, FINALIZER))

    async def _is_used(self, name: str) -> bool:
        """Whether a volume or claim names a class: by the caches, and, as these may lag, by the
        server.
        """
        if any(name in classes_of(obj) for lister in (self.volumes, self.claims) for obj in lister.list()):
            return True
        for resource in (PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS):
            if any(name in classes_of(obj) for obj in (await self.client.list(resource)).items):
                return True
        return False


def classes_of(obj: ReadOnlyTree) -> list[str]:
    """The names of the classes that a volume or a claim is tied to, each once."""
    status = obj.get("status") or {}
    names = (
        (obj.get("spec") or {}).get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"))
    return list(dict.fromkeys(name for name in names if name))
