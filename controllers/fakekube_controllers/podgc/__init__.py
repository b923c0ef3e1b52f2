"""Pods that nobody else would remove. Read ``controller.py``. Upstream: pkg/controller/podgc.

Left out: metrics.
"""

from fakekube.client.resources import PODS
from fakekube_controllers import kube_controller

component = (
    kube_controller("podgc", "pod-garbage-collector")
    .starts_with(PODS)
    .complete("fakekube_controllers.podgc.controller:PodGarbageCollector")
)
