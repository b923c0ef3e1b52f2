"""What 1.35 does with groups: it counts their pods, and tries each pod for itself.

A gang is held together by Permit: ``plugins/gang_workload.py``.

Upstream: pkg/scheduler/backend/workloadmanager of 1.35.
"""

from fakekube_controllers.scheduler.groups.cycle import PodScheduler
from fakekube_controllers.scheduler.groups.entities import group_key_of
from fakekube_controllers.scheduler.groups.members import MemberQueue
from fakekube_controllers.scheduler.groups.states import GroupStates


def count_members(scheduler: PodScheduler) -> None:
    """Count the pods that wait and the pods that have a node, by group."""
    states = scheduler.shared.groups = scheduler.cache.groups = GroupStates()
    scheduler.queue.groups = MemberQueue(scheduler.queue, states, group_key_of)
