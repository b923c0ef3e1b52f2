"""Pods with the tracking finalizer that no Job will count any more: a second queue removes their
finalizers.

The handlers here also see which removals of finalizers the cache shows, and count them for the
metrics.
Upstream: pkg/controller/job/job_controller.go (enqueueOrphanPod, syncOrphanPod).
"""

from collections.abc import Callable

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime import jobs
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.owned import OwnedObjects
from fakekube_controllers.job import pods
from fakekube_controllers.job.finalizers import TrackingFinalizers
from fakekube_controllers.job.metrics import JobMetrics


class OrphanPods:
    """Handles the events of pods, and works on the queue of those to release.

    ``is_external(job)``: whether another controller manages a Job, and so its pods.
    """

    def __init__(
        self, ctx: Context, children: OwnedObjects, finalizers: TrackingFinalizers, metrics: JobMetrics,
        is_external: Callable[[Tree], bool],
    ) -> None:
        self._children, self._finalizers, self._metrics, self._is_external = children, finalizers, metrics, is_external
        self._pods = ctx.lister(PODS)
        self._queue = ctx.queue("job_orphan_pod")
        ctx.add_handler(PODS, self._added, self._updated, self._deleted)
        Worker(ctx, self._queue, self._sync).start()

    def release_pods_of(self, job: Tree) -> None:
        """Release what is left of the pods of a Job that has finished or is gone."""
        for pod in self._pods.controlled_by(meta.uid_of(job)):
            self._enqueue(pod)

    def _enqueue(self, pod: Tree) -> None:
        if pods.is_tracked(pod) and not self._finalizers.is_removal_expected(pod):
            self._queue.add(meta.key_of(pod))

    def _added(self, pod: Tree) -> None:
        self._metrics.tracking(None, pod)
        if pods.is_terminating(pod):
            self._ended(pod, gone=False)
        elif meta.controller_of(pod) is None:
            self._enqueue(pod)

    def _updated(self, old: Tree, pod: Tree) -> None:
        if meta.resource_version_of(old) == meta.resource_version_of(pod):
            return
        self._metrics.tracking(old, pod)
        now = meta.controller_of(pod)
        owner = meta.controller_of(old) or now
        if owner is not None and pods.is_tracked(old) and not pods.is_tracked(pod):
            self._finalizers.removal_observed(pod, owner["name"])
        if pods.is_terminating(pod) and not pods.is_terminating(old):
            self._ended(pod, gone=False)
        elif now is None:
            self._enqueue(pod)

    def _deleted(self, pod: Tree) -> None:
        self._metrics.tracking(pod, None)
        self._ended(pod, gone=True)

    def _ended(self, pod: Tree, *, gone: bool) -> None:
        """A pod is being deleted, or is ``gone``."""
        job = self._children.owner_of(pod)
        if job is None or jobs.is_finished(job):
            self._enqueue(pod)
        if job is not None and (gone or not pods.is_tracked(pod)):
            self._finalizers.removal_observed(pod, meta.name_of(job))

    async def _sync(self, key: ObjectKey) -> None:
        pod = self._pods.get(key.namespace, key.name)
        if pod is None or not pods.is_tracked(pod):
            return
        owner = meta.controller_of(pod)
        if owner is not None:
            if owner["kind"] != "Job" or not owner["apiVersion"].startswith("batch/"):
                return
            job = self._children.owner_of(pod, owner)
            if job is not None and (self._is_external(job) or not jobs.is_finished(job)):
                return
        await self._finalizers.remove_from_orphan(pod)
