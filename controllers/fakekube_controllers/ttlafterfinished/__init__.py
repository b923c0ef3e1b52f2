"""Finished Jobs go when ``ttlSecondsAfterFinished`` have passed. Read ``controller.py``.

Upstream: pkg/controller/ttlafterfinished. Left out: metrics.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS
from fakekube.runtime import predicates
from fakekube_controllers import kube_controller


def _may_expire(job: Tree) -> bool:
    return not meta.is_deleting(job) and job["spec"].get("ttlSecondsAfterFinished") is not None


component = (
    kube_controller("ttlafterfinished", "ttl-after-finished-controller")
    .for_(JOBS, predicate=predicates.for_objects(_may_expire))
    .complete("fakekube_controllers.ttlafterfinished.controller:TTLReconciler")
)
