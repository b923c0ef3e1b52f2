"""Which JobSets are reconciled and when, and one reconcile up to the written status.

Upstream: Reconcile and SetupWithManager in pkg/controllers/jobset_controller.go, pkg/metrics.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import JOBS, PODS, SERVICES, Resource
from fakekube.runtime import handlers
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.jobset import children, names
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.names import JOBSETS
from fakekube_controllers.jobset.status import COMPLETED, StatusUpdate
from fakekube_controllers.jobset.sync import Sync

if TYPE_CHECKING:
    from fakekube_controllers.jobset.scheduling import SchedulingObjects

GATES = ("GenericWorkload", "CompositePodGroup")
"""What the scheduler needs to be told of groups of groups."""
CATCH_UP = timedelta(milliseconds=5)
METRIC_LABELS = ("jobset_name", "namespace")


class JobSetReconciler:
    """Reconciles one JobSet."""

    def __init__(self, ctx: Context, features: Features) -> None:
        self.ctx, self.client, self.features = ctx, ctx.client, features
        self.jobsets, self.jobs, self.services = ctx.lister(JOBSETS), ctx.lister(JOBS), ctx.lister(SERVICES)
        self.recorder = ctx.recorder("jobset")
        self.consistency = Consistency()
        self.completed = ctx.metrics.counter("jobset_completed_total", "The total number of completed JobSets", METRIC_LABELS)
        self.schedules = features.WorkloadAwareScheduling and all(map(ctx.enabled, GATES))
        self.failed = ctx.metrics.counter("jobset_failed_total", "The total number of failed JobSets", METRIC_LABELS)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch what the scheduler is told, where that is."""
        if self.schedules:
            from fakekube_controllers.jobset import scheduling

            for resource in (scheduling.WORKLOADS, scheduling.COMPOSITES, scheduling.POD_GROUPS):
                handlers.enqueue(self.ctx, resource, queue, handlers.to_owner(JOBSETS))

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a JobSet a step forward and write its status. Raises APIError, CreationFailed and
        ValueError.
        """
        cached = self.jobsets.get(*request)
        if cached is None:
            self.consistency.forget(request)
            return None
        if meta.is_deleting(cached) or _is_managed_by_other(cached):
            return None
        if not self.consistency.satisfied(request):
            return Result(requeue_after=CATCH_UP)
        now = self.ctx.clock.time()
        update = StatusUpdate(cached, times.format_time(now))
        owned = sorted(self.jobs.controlled_by(meta.uid_of(cached)), key=meta.name_of)
        jobs = children.sorted_out(update.jobset, owned, self.features)
        statuses = children.statuses(update.jobset, jobs, self.features)
        update.set_job_statuses(statuses)
        was_finished = update.is_finished

        def wrote(resource: Resource, obj: Tree) -> None:
            self.consistency.wrote(request, self.ctx.informer(resource), obj)

        sync = Sync(
            self.client, self.recorder, update, jobs, statuses, features=self.features, services=self.services,
            pods=lambda: self._pods(cached), wrote=wrote, now=now, scheduling=self._scheduling(wrote))
        again = await sync.run()
        written = await update.write(self.client, self.recorder)
        if written is not None:
            wrote(JOBSETS, written)
        if update.is_finished and not was_finished:
            counter = self.completed if update.status["terminalState"] == COMPLETED else self.failed
            counter.inc(request.name, request.namespace)
        return again

    def _scheduling(self, wrote: Callable[[Resource, Tree], None]) -> "SchedulingObjects | None":
        if not self.schedules:
            return None
        from fakekube_controllers.jobset.scheduling import SchedulingObjects

        return SchedulingObjects(self.client, self.ctx.lister, wrote, delegates=self.features.DelegatedPodGroups)

    def _pods(self, jobset: ReadOnlyTree) -> Sequence[Tree]:
        found = self.ctx.lister(PODS).labelled(names.JOBSET_NAME, meta.name_of(jobset))
        return [pod for pod in found if meta.namespace_of(pod) == meta.namespace_of(jobset)]


def _is_managed_by_other(jobset: ReadOnlyTree) -> bool:
    return ((jobset.get("spec") or meta.EMPTY).get("managedBy") or names.CONTROLLER) != names.CONTROLLER
