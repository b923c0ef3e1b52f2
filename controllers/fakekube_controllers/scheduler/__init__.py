"""A scheduler with the framework's extension points.

Read ``framework/interface.py`` first, then ``cycle.py``.

Upstream: pkg/scheduler and k8s.io/kube-scheduler/framework. Left out: groups of pods, extenders,
devices, zones and limits of volumes, spreading, affinity between pods, preemption (only its message
is computed).
"""

from fakekube.client.resources import PODS
from fakekube.client.users import component_user
from fakekube.runtime.builder import controller

component = (
    controller("scheduler")
    .starts_with(PODS)
    .with_options(user_agent="kube-scheduler", user=component_user("kube-scheduler"))
    .complete("fakekube_controllers.scheduler.scheduler:Scheduler")
)
