"""Pods that nobody else would remove. Read ``controller.py``. Upstream: pkg/controller/podgc. Left out: metrics."""

from functools import partial

from fakekube.client.resources import PODS
from fakekube.runtime.lazy import LazyController

component = partial(LazyController, "podgc", "fakekube_controllers.podgc.controller:PodGarbageCollector", PODS)
