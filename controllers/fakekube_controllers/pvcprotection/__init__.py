"""Claims that pods use are not deleted under them. Upstream: pkg/controller/volume/pvcprotection.
"""

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube_controllers import kube_controller

component = (
    kube_controller("persistentvolumeclaim-protection", "pvc-protection-controller")
    .starts_with(PERSISTENT_VOLUME_CLAIMS)
    .with_options(queue="pvcprotection")
    .complete("fakekube_controllers.pvcprotection.controller:ClaimReconciler")
)
