"""The plugins of the default profile, in upstream's order.

An import and a name for each, those with a filter in ``filters``; there is no other wiring.
"""

from collections.abc import Sequence

from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.framework.interface import FilterPlugin, Plugin
from fakekube_controllers.scheduler.plugins.default_binder import DefaultBinder
from fakekube_controllers.scheduler.plugins.default_preemption import DefaultPreemption
from fakekube_controllers.scheduler.plugins.dynamic_resources import DynamicResources
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_name import NodeName
from fakekube_controllers.scheduler.plugins.node_ports import NodePorts
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.node_unschedulable import NodeUnschedulable
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.plugins.scheduling_gates import SchedulingGates
from fakekube_controllers.scheduler.plugins.taint_toleration import TaintToleration
from fakekube_controllers.scheduler.plugins.volume_binding import VolumeBinding

ALLOCATES_DEVICES = "DynamicResourceAllocation"


def default_plugins(ctx: Context) -> Sequence[Plugin]:
    """A fresh set for one scheduler."""
    filters: list[FilterPlugin] = [
        NodeUnschedulable(), NodeName(), TaintToleration(), NodeAffinity(), NodePorts(), NodeResourcesFit(), VolumeBinding(ctx),
    ]
    # its text comes before that of preemption
    devices = [DynamicResources()] if ctx.enabled(ALLOCATES_DEVICES) else []
    return [SchedulingGates(), PrioritySort(), *filters, *devices, DefaultPreemption(filters), DefaultBinder(ctx.client)]
