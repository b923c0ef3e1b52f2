"""How many pods a PodDisruptionBudget lets go. Read ``controller.py``; ``expected.py`` knows how many there should be.

Upstream: pkg/controller/disruption.
"""

from functools import partial
from typing import Any

from fakekube.apimachinery import meta
from fakekube.client.resources import POD_DISRUPTION_BUDGETS, PODS
from fakekube.runtime.lazy import LazyController


def _is_disrupted(pod: dict[str, Any]) -> bool:
    """A pod that says that it is about to go, which is taken back when it stays."""
    return meta.is_condition_true(pod, "DisruptionTarget")


component = partial(
    LazyController, "disruption", "fakekube_controllers.disruption.controller:DisruptionController", POD_DISRUPTION_BUDGETS,
    (PODS, _is_disrupted))
