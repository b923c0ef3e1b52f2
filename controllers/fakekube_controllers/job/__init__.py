"""The Job controller: pods that run to completion.

Read ``sync.py`` first: it is the order of decisions, over the ``SyncState`` that ``syncstate.py``
computes. ``policies.py``, ``backoff.py``, ``indexes.py`` and ``pods.py`` are rules without I/O;
``podsummaries.py`` tells what each pod is to its Job, ``manage.py`` creates and deletes pods,
``tracking.py`` counts finished ones, ``writer.py`` and ``finalizers.py`` send the writes,
``controller.py`` and ``orphans.py`` handle events. With workload-aware scheduling,
``schedulingmanager.py`` makes a Workload and a PodGroup for each Job, ``automaticgang.py`` in 1.36.
Upstream: pkg/controller/job.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS
from fakekube.workqueue.ratelimit import ExponentialBackoff
from fakekube_controllers import kube_controller

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0
TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def _is_tracked(pod: Tree) -> bool:
    """A pod that needs its finalizer removed even when its Job is gone."""
    return TRACKING_FINALIZER in pod["metadata"].get("finalizers", ())


component = (
    kube_controller("job", "job-controller")
    .starts_with(JOBS, (PODS, _is_tracked))
    .with_options(limiter=lambda _: ExponentialBackoff(MIN_RETRY_SECONDS, MAX_RETRY_SECONDS))
    .complete("fakekube_controllers.job.controller:JobReconciler")
)
