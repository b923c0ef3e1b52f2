"""ResourceClaims that pods and PodGroups want made from a template. Read ``controller.py``.

Upstream: pkg/controller/resourceclaim.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube_controllers import kube_controller

GATE = "DRAWorkloadResourceClaims"


def has_resource_claims(pod: Tree) -> bool:
    """Whether a pod has any, or one was made for its extended resources."""
    return bool(pod["spec"].get("resourceClaims")) or bool((pod.get("status") or {}).get("extendedResourceClaimStatus"))


def has_groups(ctx: Context) -> bool:
    """Whether there may be PodGroups with claims."""
    return ctx.enabled(GATE)


component = (
    kube_controller("resourceclaim", "resource-claim-controller")
    .starts_with((PODS, has_resource_claims), is_needed=has_groups)
    .runs("fakekube_controllers.resourceclaim.controller:ResourceClaims")
)
