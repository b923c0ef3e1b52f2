"""How many pods a PodDisruptionBudget lets go.

Read ``controller.py``; ``expected.py`` knows how many there should be.

Upstream: pkg/controller/disruption.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import POD_DISRUPTION_BUDGETS, PODS
from fakekube_controllers import kube_controller


def _is_disrupted(pod: Tree) -> bool:
    """A pod that says that it is about to go, which is taken back when it stays."""
    return meta.is_condition_true(pod, "DisruptionTarget")


component = (
    kube_controller("disruption", "disruption-controller")
    .for_(POD_DISRUPTION_BUDGETS)
    .starts_with(POD_DISRUPTION_BUDGETS, (PODS, _is_disrupted))
    .complete("fakekube_controllers.disruption.controller:DisruptionReconciler")
)
