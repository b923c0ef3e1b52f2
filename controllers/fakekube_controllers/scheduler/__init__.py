"""A scheduler with the framework's extension points.

Read ``framework/interface.py`` first, then ``cycle.py``.

Upstream: pkg/scheduler and k8s.io/kube-scheduler/framework. Left out: devices, extenders in the
cycles of groups; all nodes are candidates, where upstream samples large clusters.
"""

from fakekube.client.resources import PODS
from fakekube.client.users import component_user
from fakekube.runtime.builder import controller
from fakekube.runtime.context import Context


def _is_configured(ctx: Context) -> bool:
    """A configuration that is wrong is to be told at the start, and not with the first pod."""
    return ctx.options.get("scheduler_config") is not None


component = (
    controller("scheduler")
    .starts_with(PODS, is_needed=_is_configured)
    .with_options(user_agent="kube-scheduler", user=component_user("kube-scheduler"))
    .complete("fakekube_controllers.scheduler.scheduler:Scheduler")
)
