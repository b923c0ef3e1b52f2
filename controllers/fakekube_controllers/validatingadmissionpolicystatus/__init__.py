"""ValidatingAdmissionPolicies are told which of their expressions fit no type.

Read ``controller.py``. Upstream: pkg/controller/validatingadmissionpolicystatus.
"""

from fakekube.client.resources import VALIDATING_ADMISSION_POLICIES
from fakekube_controllers import kube_controller

component = (
    kube_controller("validatingadmissionpolicy-status", "validatingadmissionpolicy-status-controller")
    .for_(VALIDATING_ADMISSION_POLICIES)
    .complete("fakekube_controllers.validatingadmissionpolicystatus.controller:PolicyStatusReconciler")
)
