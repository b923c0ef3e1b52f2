"""Which release schedules groups how. What differs is in one module for each release.

``groups.py`` and ``cycle.py`` are 1.37.
"""

from typing import Protocol

from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.event_handlers import DRAFT_GATE
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo, QueuedPodGroupInfo
from fakekube_controllers.scheduler.groups.cycle import PodScheduler


class ScheduledGroups(Protocol):
    """Groups that are tried as one."""

    def group_to_schedule(self, queued: QueuedEntityInfo) -> QueuedPodGroupInfo | None:
        """The group to try with what was popped; None: it is a pod of no group."""

    async def schedule(self, queued: QueuedPodGroupInfo) -> None:
        """One attempt on a group."""


def groups_of(ctx: Context, scheduler: PodScheduler) -> ScheduledGroups | None:
    """Follow the groups of a cluster. None where pods are tried one by one."""
    if ctx.enabled(DRAFT_GATE):
        from fakekube_controllers.scheduler.draft.plugin import follow

        follow(scheduler)
        return None
    if ctx.version == "1.35":
        from fakekube_controllers.scheduler.groups.release_1_35 import count_members

        count_members(scheduler)
        return None
    if ctx.version == "1.36":
        from fakekube_controllers.scheduler.groups.release_1_36 import Groups136

        return Groups136(ctx, scheduler)
    from fakekube_controllers.scheduler.groups.groups import Groups

    return Groups(ctx, scheduler)
