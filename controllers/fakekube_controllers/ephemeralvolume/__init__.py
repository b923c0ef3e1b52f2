"""Claims for the generic ephemeral volumes of pods. Read ``controller.py``.

Upstream: pkg/controller/volume/ephemeral.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube_controllers import kube_controller


def has_ephemeral_volumes(pod: Tree) -> bool:
    """Whether a pod has a volume with a claim template."""
    for volume in pod["spec"].get("volumes") or ():  # noqa: SIM110 - asked of every pod
        if "ephemeral" in volume:
            return True
    return False


component = (
    kube_controller("ephemeral-volume", "ephemeral-volume-controller")
    .starts_with((PODS, has_ephemeral_volumes))
    .complete("fakekube_controllers.ephemeralvolume.controller:EphemeralVolumes")
)
