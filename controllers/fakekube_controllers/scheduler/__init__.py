"""A scheduler with the framework's extension points. Read ``framework/interface.py`` first, then ``cycle.py``.

Upstream: pkg/scheduler and k8s.io/kube-scheduler/framework. Left out: groups of pods, extenders, volumes, claims, spreading,
affinity between pods, preemption itself (whether it would help is told).
"""

from fakekube_controllers.scheduler.scheduler import Scheduler as Scheduler
