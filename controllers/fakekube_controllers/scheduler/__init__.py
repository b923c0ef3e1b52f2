"""A scheduler with the framework's extension points. Read ``framework/interface.py`` first, then ``cycle.py``.

Upstream: pkg/scheduler and k8s.io/kube-scheduler/framework. Left out: groups of pods, extenders, volumes, claims, spreading,
affinity between pods, preemption (only its message is computed).
"""

from functools import partial

from fakekube.client.resources import PODS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "scheduler", "fakekube_controllers.scheduler.scheduler:Scheduler", PODS, user_agent="kube-scheduler")
