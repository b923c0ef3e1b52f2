"""Quotas: how much of what they limit a namespace holds.

Read ``controller.py``. Admission refuses what exceeds a quota and charges what does not; this gives
back what is gone, and a quota binds once its limits have been copied to its status here. Upstream:
pkg/controller/resourcequota.
"""

from fakekube.client.resources import RESOURCE_QUOTAS
from fakekube_controllers import kube_controller

component = (
    kube_controller("resourcequota", "resourcequota-controller")
    .starts_with(RESOURCE_QUOTAS)
    .complete("fakekube_controllers.resourcequota.controller:QuotaReconciler")
)
