"""Typed models of policy/v1: PodDisruptionBudget and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import Condition, LabelSelector
from fakekube.types.object import Object
from fakekube.types.values import Int, IntOrString, Time


class PodDisruptionBudgetSpec(Model):
    """In PodDisruptionBudget.spec."""

    min_available: IntOrString | None = None
    selector: LabelSelector | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Model):
    """In PodDisruptionBudget.status."""

    observed_generation: Int = 0
    disrupted_pods: dict[str, Time] = empty(dict)
    disruptions_allowed: Int = 0
    current_healthy: Int = 0
    desired_healthy: Int = 0
    expected_pods: Int = 0
    conditions: list[Condition] = empty(list)


class PodDisruptionBudget(Object):
    """``poddisruptionbudgets`` of policy/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget",
    )

    spec: PodDisruptionBudgetSpec = empty(PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = empty(PodDisruptionBudgetStatus)
