"""Groups of pods in one scheduler: what is known of them, their place in the queue, their cycles.

Upstream: the parts of pkg/scheduler/{scheduler,eventhandlers}.go that the gate GenericWorkload
switches on.
"""

from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.diagnoses import Diagnosis
from fakekube_controllers.scheduler.event_handlers import watched_resources
from fakekube_controllers.scheduler.failure import SCHEDULER_ERROR, UNSCHEDULABLE
from fakekube_controllers.scheduler.framework.events import EventResource
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    EntityType,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
)
from fakekube_controllers.scheduler.groups.conditions import GroupConditions
from fakekube_controllers.scheduler.groups.cycle import GroupCycles, PodScheduler
from fakekube_controllers.scheduler.groups.queueing import GroupQueue
from fakekube_controllers.scheduler.groups.states import GroupStates


class Groups:
    """Follows the groups, and tries them. A release that does parts of it otherwise overrides them.

    Its handlers come before those that tell the queue of the same objects.
    """

    def __init__(self, ctx: Context, scheduler: PodScheduler) -> None:
        self._ctx, self._scheduler = ctx, scheduler
        self.states = scheduler.shared.groups = scheduler.cache.groups = GroupStates()
        resources = watched_resources(ctx)
        pod_groups = resources[EventResource.POD_GROUP]
        self._install(ctx, scheduler, GroupConditions(ctx, pod_groups))
        self._follow(ctx, pod_groups, EntityType.POD_GROUP)
        if EventResource.COMPOSITE_POD_GROUP in resources:
            self._follow(ctx, resources[EventResource.COMPOSITE_POD_GROUP], EntityType.COMPOSITE_POD_GROUP)

    def _install(self, ctx: Context, scheduler: PodScheduler, conditions: GroupConditions) -> None:
        self._queue = scheduler.queue.groups = GroupQueue(scheduler.queue, self.states, ctx.clock)
        self._cycles = GroupCycles(ctx, scheduler, self.states, conditions)

    def _follow(self, ctx: Context, resource: Resource, kind: EntityType) -> None:
        def added(group: Tree) -> None:
            self._set(kind, group)

        def updated(_: Tree, group: Tree) -> None:
            self._set(kind, group)

        def deleted(group: Tree) -> None:
            self._remove(kind, group)

        ctx.add_handler(resource, added, updated, deleted)
        ctx.why[resource.group_resource] = partial(self._scheduler.why_group, kind)

    def _set(self, kind: EntityType, group: Tree) -> None:
        key = _key(kind, group)
        known, before = self.states.group(key), self.states.root_of(key)
        self.states.set_group(key, group)
        if known is None or known["spec"] != group["spec"]:
            self._group_changed(before, self.states.root_of(key))

    def _remove(self, kind: EntityType, group: Tree) -> None:
        key = _key(kind, group)
        before = self.states.root_of(key)
        self.states.remove_group(key)
        self._group_changed(before, None)

    def _group_changed(self, before: EntityKey | None, now: EntityKey | None) -> None:
        """A group came, went, moved or changed: its root was ``before`` and is ``now``."""
        self._queue.groups_changed(before, now)

    def group_to_schedule(self, queued: QueuedEntityInfo) -> QueuedPodGroupInfo | None:
        """The root group to try with what was popped; None: it is a pod of no group."""
        return queued if isinstance(queued, QueuedPodGroupInfo) else None

    async def schedule(self, queued: QueuedPodGroupInfo) -> None:
        """One attempt on a root group."""
        status = await self._cycles.attempt(queued)
        if status is not None:
            reason = UNSCHEDULABLE if status.is_rejection else SCHEDULER_ERROR
            self._scheduler.failures.diagnoses.record(
                meta.uid_of(queued.root.group), Diagnosis(queued.attempts, self._ctx.clock.time(), reason, status.message))
        self._queue.end(queued, status)


def _key(kind: EntityType, group: Tree) -> EntityKey:
    return EntityKey(kind, meta.namespace_of(group), meta.name_of(group))
