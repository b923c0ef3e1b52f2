"""Classes of volume attributes that are in use are not deleted.

Upstream: pkg/controller/volume/vacprotection.
"""

from fakekube.client.resources import VOLUME_ATTRIBUTES_CLASSES
from fakekube_controllers import kube_controller

component = (
    kube_controller("volumeattributesclass-protection", "volumeattributesclass-protection-controller")
    .starts_with(VOLUME_ATTRIBUTES_CLASSES)
    .complete("fakekube_controllers.vacprotection.controller:ClassReconciler")
)
