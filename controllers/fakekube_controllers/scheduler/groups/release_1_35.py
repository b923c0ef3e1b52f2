"""What 1.35 does with groups: it counts their pods, and tries each pod for itself.

A gang is held together by Permit: ``plugins/gang_workload.py``.

Upstream: pkg/scheduler/backend/workloadmanager of 1.35.
"""

from collections.abc import Callable

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import EntityKey
from fakekube_controllers.scheduler.groups.cycle import PodScheduler
from fakekube_controllers.scheduler.groups.entities import group_key_of
from fakekube_controllers.scheduler.groups.members import MemberQueue
from fakekube_controllers.scheduler.groups.states import GroupStates


def count_members(scheduler: PodScheduler, key_of: Callable[[ReadOnlyTree], EntityKey | None] = group_key_of) -> None:
    """Count the pods that wait and the pods that have a node, by group."""
    states = scheduler.shared.groups = scheduler.cache.groups = GroupStates(key_of)
    scheduler.queue.groups = MemberQueue(scheduler.queue, states)
