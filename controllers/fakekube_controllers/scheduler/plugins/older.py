"""The plugins that were other ones before 1.37, in place of those of today.

Upstream: pkg/scheduler/framework/plugins of 1.36 and 1.35.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.interface import PluginFactory, PostFilterResult
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.entities import group_key_of, priority_of
from fakekube_controllers.scheduler.plugins.default_preemption import WHOLE_CLUSTER, DefaultPreemption
from fakekube_controllers.scheduler.plugins.dynamic_resources import NOT_FOUND, DynamicResources
from fakekube_controllers.scheduler.plugins.gang_permit import GangPermit
from fakekube_controllers.scheduler.preemption import groups
from fakekube_controllers.scheduler.preemption.executor import Preemptor
from fakekube_controllers.scheduler.preemption.victims import Units

