"""How long jobs wait, for the metrics. Upstream: pkg/metrics, as pkg/controller/jobframework calls
it.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import GenericJob
from fakekube_controllers.kueue.workload import reasons, requeue, states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


def count_created(framework: Framework, kueue: "Kueue | None", job: GenericJob) -> None:
    """Say how long a new job has waited for its Workload."""
    if kueue is None or not framework.features.MetricForWorkloadCreationLatency or meta.generation_of(job.obj) > 1:
        return
    seconds = framework.clock.time() - times.parse_time(job.obj["metadata"]["creationTimestamp"])
    kueue.metrics.observe("workload_creation_latency_seconds", seconds, job.resource.kind)


def count_ready(framework: Framework, kueue: "Kueue | None", workload: ReadOnlyTree) -> None:
    """Say how long it took, since it was queued and since its admission, until it was ready."""
    admitted = states.condition(workload, reasons.ADMITTED)
    if kueue is None or admitted is None:
        return
    now = framework.clock.time()
    kueue.metrics.ready(
        workload, requeue.queued_wait_time(workload, now=now), now - times.parse_time(admitted["lastTransitionTime"]),
        expose_local_queue_metrics=kueue.should_expose_local_queue_metrics_for_workload(workload))
