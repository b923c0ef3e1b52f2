"""The reconciler of pods, as for every job, but for pods that are watched for a parent's sake
alone, and for what is behind gates of our own.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.reconciler import JobReconciler
from fakekube_controllers.kueue.jobs.pod.controller import Pod

if TYPE_CHECKING:
    from fakekube_controllers.kueue.metrics import KueueMetrics


class PodOfParent(Pod):
    """A pod where Kueue manages pods only as parts of other kinds."""

    def skip(self) -> bool:
        """Whether it is not Kueue's, or is of nobody."""
        return super().skip() or names.SUSPENDED_BY_PARENT_ANNOTATION not in meta.annotations_of(self.obj)


def _kind(features: Features, *, is_implied: bool) -> type[Pod]:
    if is_implied:
        return PodOfParent
    if features.PodGroupSets:
        from fakekube_controllers.kueue.jobs.pod.driven import PodOrGroupWithSets

        return PodOrGroupWithSets
    return Pod


class PodReconciler(JobReconciler):
    """Reconciles a pod, or a group."""

    def __init__(self, integration: Integration, options: Options, ctx: Context) -> None:
        super().__init__(integration, options, ctx)
        self._kind = _kind(self.features, is_implied=options.integrations.is_implied(integration.name))
        self._metrics: KueueMetrics | None = None
        if self.features.PodGateMetrics and options.kueue is not None:
            self._metrics = options.kueue.metrics

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of pods for their gates' sake, where these are counted."""
        super().setup(queue)
        if self._metrics is not None:
            self.framework.ctx.add_handler(PODS, self._count_new, self._count_changed)

    def _count_new(self, pod: ReadOnlyTree) -> None:
        if self._metrics is not None and pods.is_gated(pod):
            self._metrics.count("pods_gated_total")

    def _count_changed(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if self._metrics is not None and pods.is_gated(old) and not pods.is_gated(new):
            self._metrics.count("pods_ungated_total")

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a pod or a group a step forward."""
        job = self._kind(self.features)
        try:
            return await self.reconcile_generic_job(request, job)
        finally:
            if self._metrics is not None:
                for _ in range(job.rejected):
                    self._metrics.count("pods_rejected_total")
