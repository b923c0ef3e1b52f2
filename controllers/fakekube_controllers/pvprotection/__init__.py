"""Volumes that are bound are not deleted under their claims.

Upstream: pkg/controller/volume/pvprotection.
"""

from fakekube.client.resources import PERSISTENT_VOLUMES
from fakekube_controllers import kube_controller

component = (
    kube_controller("persistentvolume-protection", "pv-protection-controller")
    .for_(PERSISTENT_VOLUMES)
    .complete("fakekube_controllers.pvprotection.controller:VolumeReconciler")
)
