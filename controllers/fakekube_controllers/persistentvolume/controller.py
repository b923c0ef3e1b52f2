"""Binds claims to volumes, and volumes to claims: one claim or one volume at a time.

``claims.py`` decides about a claim, ``bound.py`` about a volume, ``writes.py`` writes what is
decided. Whatever may help a claim that waits (a volume, a class) has all claims that wait looked
at. Upstream: pv_controller.go. Left out: the look at everything each 15 s, so that Events of claims
that go on waiting are not counted up; CSI migration; provisioners in the controller itself;
metrics.
"""

from datetime import timedelta

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.runtime.volumes import is_fully_bound
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.persistentvolume.bound import VolumeSync
from fakekube_controllers.persistentvolume.claims import ClaimSync
from fakekube_controllers.persistentvolume.writes import Writes

CATCH_UP = timedelta(milliseconds=5)  # until the caches show what was written


class PersistentVolumeBinder:
    """A request without a namespace is for a volume, any other for a claim."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.claims, self.volumes = ctx.lister(PERSISTENT_VOLUME_CLAIMS), ctx.lister(PERSISTENT_VOLUMES)
        self.writes = Writes(ctx)
        self.claim_sync = ClaimSync(
            self.writes, self.volumes, ctx.lister(STORAGE_CLASSES), ctx.lister(PODS))
        self.volume_sync = VolumeSync(self.writes, self.claims, self._look_at)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch claims, volumes and classes."""
        self.queue = queue
        self.ctx.add_handler(
            PERSISTENT_VOLUME_CLAIMS, self._claim_seen, lambda _, new: self._claim_seen(new), self._claim_gone)
        self.ctx.add_handler(
            PERSISTENT_VOLUMES, self._volume_seen, lambda _, new: self._volume_seen(new), self._volume_gone)
        self.ctx.add_handler(STORAGE_CLASSES, self._class_seen, lambda _, new: self._class_seen(new))

    def _claim_seen(self, claim: Tree) -> None:
        self.queue.add(meta.key_of(claim))

    def _claim_gone(self, claim: Tree) -> None:
        """Its volume is released."""
        if name := claim["spec"].get("volumeName"):
            self.queue.add(Request("", name))

    def _volume_seen(self, volume: Tree) -> None:
        self.queue.add(meta.key_of(volume))
        reference = volume["spec"].get("claimRef")
        if reference is not None:
            self.queue.add(Request(reference.get("namespace", ""), reference.get("name", "")))
        elif volume["status"].get("phase") == "Available":
            self._look_at_waiting_claims()

    def _volume_gone(self, volume: Tree) -> None:
        """Its claim has lost it."""
        reference = volume["spec"].get("claimRef")
        if reference is not None:
            self.queue.add(Request(reference.get("namespace", ""), reference.get("name", "")))

    def _class_seen(self, _: Tree) -> None:
        self._look_at_waiting_claims()

    def _look_at(self, key: Request) -> None:
        self.queue.add(key)

    def _look_at_waiting_claims(self) -> None:
        for claim in self.claims.list():
            if not is_fully_bound(claim):
                self.queue.add(meta.key_of(claim))

    async def reconcile(self, request: Request) -> Result | None:
        """Bring one claim or one volume a step further. Raises APIError."""
        if not self.writes.are_seen():
            return Result(requeue_after=CATCH_UP)
        if request.namespace:
            claim = self.claims.get(request.namespace, request.name)
            if claim is not None:
                await self.claim_sync.sync(claim)
        else:
            volume = self.volumes.get("", request.name)
            if volume is not None:
                await self.volume_sync.sync(volume)
        return None
