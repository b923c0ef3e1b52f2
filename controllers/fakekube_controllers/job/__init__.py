"""The Job controller: pods that run to completion.

Read ``sync.py`` first: it is the order of decisions, over the ``SyncState`` that ``syncstate.py`` computes. ``policies.py``,
``backoff.py``, ``indexes.py`` and ``pods.py`` are rules without I/O; ``podsummaries.py`` tells what each pod is to its Job,
``manage.py`` creates and deletes pods, ``tracking.py`` counts finished ones, ``writer.py`` sends the writes, ``controller.py``
handles events.
Upstream: pkg/controller/job. Left out: the integration with workload-aware scheduling.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS
from fakekube_controllers import kube_controller

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def _is_tracked(pod: Tree) -> bool:
    """A pod that has to be let go, even when its Job is gone."""
    return TRACKING_FINALIZER in pod["metadata"].get("finalizers", ())


component = (
    kube_controller("job").starts_with(JOBS, (PODS, _is_tracked)).runs("fakekube_controllers.job.controller:JobController")
)
