"""The reconciler of pods, as for every job, but for pods that are watched for a parent's sake
alone.
"""

from fakekube.apimachinery import meta
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.reconciler import JobReconciler
from fakekube_controllers.kueue.jobs.pod.controller import Pod


class PodOfParent(Pod):
    """A pod where Kueue manages pods only as parts of other kinds."""

    def skip(self) -> bool:
        """Whether it is not Kueue's, or is of nobody."""
        return super().skip() or names.SUSPENDED_BY_PARENT_ANNOTATION not in meta.annotations_of(self.obj)


class PodReconciler(JobReconciler):
    """Reconciles a pod, or a group."""

    def __init__(self, integration: Integration, options: Options, ctx: Context) -> None:
        super().__init__(integration, options, ctx)
        self._kind = PodOfParent if options.integrations.is_implied(integration.name) else Pod

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a pod or a group a step forward."""
        return await self.reconcile_generic_job(request, self._kind(self.features))
