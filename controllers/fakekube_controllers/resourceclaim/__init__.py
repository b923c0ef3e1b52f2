"""ResourceClaims that pods want made from a template. Read ``controller.py``.

Upstream: pkg/controller/resourceclaim.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube_controllers import kube_controller


def has_resource_claims(pod: Tree) -> bool:
    """Whether a pod has any."""
    return bool(pod["spec"].get("resourceClaims"))


component = (
    kube_controller("resourceclaim", "resource-claim-controller")
    .starts_with((PODS, has_resource_claims))
    .runs("fakekube_controllers.resourceclaim.controller:ResourceClaims")
)
