"""HorizontalPodAutoscalers: as many pods as their metrics ask for.

Read ``controller.py`` for when one is reconciled, ``sync.py`` for what is done then.
``replicas.py`` makes numbers of pods out of metrics and ``behavior.py`` holds these within rules,
both free of any I/O; ``specs.py`` goes through the kinds of metrics, ``sources.py`` asks for what
is measured. Upstream: pkg/controller/podautoscaler. Left out: metrics of the controller itself.
"""

from fakekube.client.resources import HORIZONTAL_POD_AUTOSCALERS
from fakekube_controllers import kube_controller
from fakekube_controllers.podautoscaler.queries import MetricQuery

__all__ = ["MetricQuery", "component"]

component = (
    kube_controller("horizontalpodautoscaling", "horizontal-pod-autoscaler")
    .starts_with(HORIZONTAL_POD_AUTOSCALERS)
    .with_options(queue="horizontalpodautoscaler")
    .complete("fakekube_controllers.podautoscaler.controller:HorizontalReconciler")
)
