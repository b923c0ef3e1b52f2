"""Volumes that are made when a claim asks for one. Read ``controller.py``.

Upstream: the external-provisioner and the external-resizer that a CSI driver is deployed with
(sig-storage-lib-external-provisioner/controller), which no part of Kubernetes itself is.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from fakekube.runtime.volumes import PROVISIONED_BY, STORAGE_PROVISIONER
from fakekube_controllers import kube_controller

NAME = "fakekube.dev/provisioner"
"""What StorageClasses name in ``provisioner``."""


def is_asked_for(claim: Tree) -> bool:
    """Whether a claim wants its volume from here."""
    return meta.annotations_of(claim).get(STORAGE_PROVISIONER) == NAME


def is_made_here(volume: Tree) -> bool:
    """Whether a volume was made here."""
    return meta.annotations_of(volume).get(PROVISIONED_BY) == NAME


component = (
    kube_controller("volume-provisioner")
    .starts_with((PERSISTENT_VOLUME_CLAIMS, is_asked_for), (PERSISTENT_VOLUMES, is_made_here))
    .with_options(user_agent="fakekube-provisioner")
    .complete("fakekube_controllers.volumeprovisioner.controller:VolumeProvisioner")
)
