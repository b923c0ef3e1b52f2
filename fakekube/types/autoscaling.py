"""Typed models of autoscaling/v2: HorizontalPodAutoscaler and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import LabelSelector
from fakekube.types.object import Object
from fakekube.types.values import Int, Quantity, Time


class CrossVersionObjectReference(Model):
    """In HorizontalPodAutoscalerSpec.scaleTargetRef and others."""

    kind: str = ""
    name: str = ""
    api_version: str = ""


class MetricTarget(Model):
    """In ObjectMetricSource.target, PodsMetricSource.target and others."""

    type: str = ""
    value: Quantity | None = None
    average_value: Quantity | None = None
    average_utilization: Int | None = None


class MetricIdentifier(Model):
    """In ObjectMetricSource.metric, PodsMetricSource.metric and others."""

    name: str = ""
    selector: LabelSelector | None = None


class ObjectMetricSource(Model):
    """In MetricSpec.object."""

    described_object: CrossVersionObjectReference = empty(CrossVersionObjectReference)
    target: MetricTarget = empty(MetricTarget)
    metric: MetricIdentifier = empty(MetricIdentifier)


class PodsMetricSource(Model):
    """In MetricSpec.pods."""

    metric: MetricIdentifier = empty(MetricIdentifier)
    target: MetricTarget = empty(MetricTarget)


class ResourceMetricSource(Model):
    """In MetricSpec.resource."""

    name: str = ""
    target: MetricTarget = empty(MetricTarget)


class ContainerResourceMetricSource(Model):
    """In MetricSpec.containerResource."""

    name: str = ""
    target: MetricTarget = empty(MetricTarget)
    container: str = ""


class ExternalMetricSource(Model):
    """In MetricSpec.external."""

    metric: MetricIdentifier = empty(MetricIdentifier)
    target: MetricTarget = empty(MetricTarget)


class MetricSpec(Model):
    """In HorizontalPodAutoscalerSpec.metrics."""

    type: str = ""
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None


class HPAScalingPolicy(Model):
    """In HPAScalingRules.policies."""

    type: str = ""
    value: Int = 0
    period_seconds: Int = 0


class HPAScalingRules(Model):
    """In HorizontalPodAutoscalerBehavior.scaleUp and others."""

    stabilization_window_seconds: Int | None = None
    select_policy: str | None = None
    policies: list[HPAScalingPolicy] = empty(list)
    tolerance: Quantity | None = None


class HorizontalPodAutoscalerBehavior(Model):
    """In HorizontalPodAutoscalerSpec.behavior."""

    scale_up: HPAScalingRules | None = None
    scale_down: HPAScalingRules | None = None


class HorizontalPodAutoscalerSpec(Model):
    """In HorizontalPodAutoscaler.spec."""

    scale_target_ref: CrossVersionObjectReference = empty(CrossVersionObjectReference)
    min_replicas: Int | None = None
    max_replicas: Int = 0
    metrics: list[MetricSpec] = empty(list)
    behavior: HorizontalPodAutoscalerBehavior | None = None


class MetricValueStatus(Model):
    """In ObjectMetricStatus.current, PodsMetricStatus.current and others."""

    value: Quantity | None = None
    average_value: Quantity | None = None
    average_utilization: Int | None = None


class ObjectMetricStatus(Model):
    """In MetricStatus.object."""

    metric: MetricIdentifier = empty(MetricIdentifier)
    current: MetricValueStatus = empty(MetricValueStatus)
    described_object: CrossVersionObjectReference = empty(CrossVersionObjectReference)


class PodsMetricStatus(Model):
    """In MetricStatus.pods."""

    metric: MetricIdentifier = empty(MetricIdentifier)
    current: MetricValueStatus = empty(MetricValueStatus)


class ResourceMetricStatus(Model):
    """In MetricStatus.resource."""

    name: str = ""
    current: MetricValueStatus = empty(MetricValueStatus)


class ContainerResourceMetricStatus(Model):
    """In MetricStatus.containerResource."""

    name: str = ""
    current: MetricValueStatus = empty(MetricValueStatus)
    container: str = ""


class ExternalMetricStatus(Model):
    """In MetricStatus.external."""

    metric: MetricIdentifier = empty(MetricIdentifier)
    current: MetricValueStatus = empty(MetricValueStatus)


class MetricStatus(Model):
    """In HorizontalPodAutoscalerStatus.currentMetrics."""

    type: str = ""
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None


class HorizontalPodAutoscalerCondition(Model):
    """In HorizontalPodAutoscalerStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""
    observed_generation: Int | None = None


class HorizontalPodAutoscalerStatus(Model):
    """In HorizontalPodAutoscaler.status."""

    observed_generation: Int | None = None
    last_scale_time: Time | None = None
    current_replicas: Int = 0
    desired_replicas: Int = 0
    current_metrics: list[MetricStatus] = empty(list)
    conditions: list[HorizontalPodAutoscalerCondition] = empty(list)


class HorizontalPodAutoscaler(Object):
    """``horizontalpodautoscalers`` of autoscaling/v2, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
    )

    spec: HorizontalPodAutoscalerSpec = empty(HorizontalPodAutoscalerSpec)
    status: HorizontalPodAutoscalerStatus = empty(HorizontalPodAutoscalerStatus)
