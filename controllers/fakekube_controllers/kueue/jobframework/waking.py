"""Jobs that wait for something to be created are looked at again when it is.

Upstream has no such events: it tries again, ever more seldom.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.framework import Framework

BY_PREBUILT_WORKLOAD = "prebuilt-workload"


def watch_what_jobs_wait_for(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    """Hear of Workloads and WorkloadPriorityClasses that jobs name. The keys are those of jobs."""
    def named_workload(job: Tree) -> Iterable[str]:
        name = objects.prebuilt_workload_name(job, framework.features)
        return (f"{meta.namespace_of(job)}/{name}",) if name else ()

    def workload_changed(workload: Tree) -> None:
        for job in framework.jobs.by_index(BY_PREBUILT_WORKLOAD, str(meta.key_of(workload))):
            queue.add(meta.key_of(job))

    def workload_updated(old: ReadOnlyTree, new: Tree) -> None:
        if meta.controller_of(old) != meta.controller_of(new):
            workload_changed(new)

    def class_added(priority_class: Tree) -> None:
        for job in framework.jobs.labelled(names.WORKLOAD_PRIORITY_CLASS_LABEL, meta.name_of(priority_class)):
            queue.add(meta.key_of(job))

    framework.jobs.add_index(BY_PREBUILT_WORKLOAD, named_workload)
    framework.ctx.add_handler(names.WORKLOADS, workload_changed, workload_updated)
    framework.ctx.add_handler(names.WORKLOAD_PRIORITY_CLASSES, class_added)
