"""A job that is admitted is started.

Upstream: startJob in pkg/controller/jobframework/reconciler.go, ShouldSkipLocalExecution in
pkg/util/admissioncheck.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import podsets_info
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import ComposableJob, GenericJob
from fakekube_controllers.kueue.workload import states

FAILED_TO_START = "FailedToStart"
"""Why a Workload is finished whose job can never get what it should."""


async def start_job(framework: Framework, job: GenericJob, workload: ReadOnlyTree) -> None:
    """Put into its templates what it gets, and let it run.

    Raises PermanentError, FlavorNotFound, APIError.
    """
    infos = podsets_info.from_status(workload, framework.flavor, framework.features)
    message = f"Admitted by clusterQueue {(states.admission(workload) or meta.EMPTY).get('clusterQueue', '')}"
    if isinstance(job, ComposableJob):
        if not (framework.features.MultiKueue and runs_elsewhere(framework, workload)):
            await job.run(framework, workload, infos, message)
        return
    await job.patch(framework, lambda: job.run_with_podsets_info(infos))
    framework.event(job.obj, "Normal", "Started", message)


def runs_elsewhere(framework: Framework, workload: ReadOnlyTree) -> bool:
    """Whether MultiKueue has it run in another cluster."""
    for state in states.status_of(workload).get("admissionChecks") or ():
        check = framework.admission_checks.get("", state["name"])
        if check is not None and check["spec"].get("controllerName") == names.MULTIKUEUE_CONTROLLER_NAME:
            return True
    return False
