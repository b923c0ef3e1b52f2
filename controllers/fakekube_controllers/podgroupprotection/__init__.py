"""Groups that pods belong to are not deleted under them. Read ``controller.py``.

Upstream: pkg/controller/scheduling/podgroupprotection.
"""

from fakekube.runtime.context import Context
from fakekube_controllers import kube_controller

GATE = "GenericWorkload"


def has_groups(ctx: Context) -> bool:
    """Whether there may be PodGroups."""
    return ctx.enabled(GATE)


component = (
    kube_controller("podgroup-protection", "podgroup-protection-controller")
    .starts_with(is_needed=has_groups)
    .runs("fakekube_controllers.podgroupprotection.controller:PodGroupProtection")
)
