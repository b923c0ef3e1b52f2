"""StatefulSets: pods with names, an order, and storage of their own. Read ``update.py``.

Upstream: pkg/controller/statefulset.
"""

from fakekube.client.resources import STATEFUL_SETS
from fakekube_controllers import kube_controller

component = (
    kube_controller("statefulset", "statefulset-controller")
    .for_(STATEFUL_SETS)
    .complete("fakekube_controllers.statefulset.controller:StatefulSetReconciler")
)
