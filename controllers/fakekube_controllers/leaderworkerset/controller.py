"""Which LeaderWorkerSets are reconciled and when, and the order of steps of one.

Upstream: pkg/controllers/leaderworkerset_controller.go.
"""

from collections.abc import Sequence
from datetime import timedelta

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.recorder import EventType
from fakekube.client.resources import CONTROLLER_REVISIONS, PODS, SERVICES, STATEFUL_SETS, Resource
from fakekube.runtime import handlers
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.leaderworkerset import names, revisions, rollout, sets
from fakekube_controllers.leaderworkerset import status as statuses
from fakekube_controllers.leaderworkerset.features import Features
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from fakekube_controllers.leaderworkerset.rollout import Plan, Rollout

FIELD_MANAGER = "lws"
CATCH_UP, WHILE_DELETED = timedelta(milliseconds=5), timedelta(seconds=5)
CREATE, UPDATE, DELETE = "Create", "Update", "Delete"


class LeaderWorkerSetReconciler:
    """Reconciles one LeaderWorkerSet."""

    def __init__(self, ctx: Context, features: Features) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.owners, self.sets = ctx.lister(LEADER_WORKER_SETS), ctx.lister(STATEFUL_SETS)
        self.pods, self.services, self.history = ctx.lister(PODS), ctx.lister(SERVICES), ctx.lister(CONTROLLER_REVISIONS)
        self.recorder = ctx.recorder("leaderworkerset")
        self.consistency = Consistency()
        self.schedules = features.WorkloadAwareScheduling and ctx.enabled("GenericWorkload")

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch the StatefulSets of workers, and what the scheduler is told, where that is."""
        handlers.enqueue(self.ctx, STATEFUL_SETS, queue, _named)
        if self.schedules:
            from fakekube_controllers.leaderworkerset import scheduling

            for resource in (scheduling.WORKLOADS, scheduling.POD_GROUPS):
                handlers.enqueue(self.ctx, resource, queue, handlers.to_owner(LEADER_WORKER_SETS))

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a LeaderWorkerSet a step forward and write its status. Raises APIError, ValueError.
        """
        lws = self.owners.get(*request)
        if lws is None:
            self.consistency.forget(request)
            return None
        if meta.is_deleting(lws):
            return None
        if not self.consistency.satisfied(request):
            return Result(requeue_after=CATCH_UP)
        leaders = self.sets.get(*request)
        if leaders is not None and meta.is_deleting(leaders):
            return Result(requeue_after=WHILE_DELETED)
        await _Sync(self, request, lws, leaders).run()
        return None


class _Sync:
    """One reconcile of one LeaderWorkerSet."""

    def __init__(self, parts: LeaderWorkerSetReconciler, request: Request, lws: Tree, leaders: Tree | None) -> None:
        self.parts, self.request, self.lws, self.leaders = parts, request, lws, leaders
        self.client = parts.client
        self.history = revisions.owned(parts.history, lws)

    async def run(self) -> None:
        revision, is_new = await self._revision()
        key = names.revision_key(revision)
        plan = self._plan(key, is_new=is_new)
        if self.parts.schedules:
            await self._schedule(plan.replicas)
        applied = await self._apply(plan, key)
        self._tell_progress(plan, revision, is_new=is_new)
        await self._create_service()
        if await self._write_status(applied, key):
            for old in self.history:
                if names.revision_key(old) != key:
                    await self.client.delete(CONTROLLER_REVISIONS, meta.name_of(old), self.request.namespace, missing_ok=True)

    def _wrote(self, resource: Resource, obj: Tree) -> None:
        self.parts.consistency.wrote(self.request, self.parts.ctx.informer(resource), obj)

    def _tell(self, type_: EventType, reason: str, action: str, text: str, related: Tree | None = None) -> None:
        self.parts.recorder.report(self.lws, type_, reason, action, text, related=related)

    # the template of this moment

    async def _revision(self) -> tuple[Tree, bool]:
        """The newest revision, and whether the templates have changed with it."""
        key = names.revision_key(self.leaders) if self.leaders is not None else ""
        revision = revisions.find(self.history, key)
        if revision is None:
            revision = await self._create_revision(revisions.new(self.lws, self.history, key))
            own = names.revision_key(revision)
            text = f"Creating missing revision with key {own} for existing LeaderWorkerSet" if key else (
                f"Creating revision with key {own} for a newly created LeaderWorkerSet")
            self._tell("Normal", "CreatingRevision", CREATE, text, revision)
        if self.leaders is None or revision["data"] == revisions.data_of(self.lws):
            return revision, False
        revision = await self._create_revision(revisions.new(self.lws, self.history))
        text = f"Creating revision with key {names.revision_key(revision)} for updated LWS"
        self._tell("Normal", "CreatingRevision", CREATE, text, revision)
        return revision, True

    async def _create_revision(self, revision: Tree) -> Tree:
        made = await self.client.create(CONTROLLER_REVISIONS, revision)
        self._wrote(CONTROLLER_REVISIONS, made)
        self.history.append(made)
        return made

    # the StatefulSet of leaders

    def _plan(self, key: str, *, is_new: bool) -> Plan:
        if self.leaders is None:
            plan = Plan(0, names.replicas_of(self.lws))
        else:
            rolling = Rollout(self.lws, self.leaders)
            if is_new:
                plan = rolling.of_new_revision()
            elif rolling.is_complete:
                plan = rolling.at_rest()
            else:
                found = self.parts.sets.list(self.request.namespace, {names.NAME: self.request.name})
                plan = rolling.under_way(rollout.states(self.lws, rolling.present, key, self._leader_pods(), found))
        if plan.deletes_surge:
            self._tell("Normal", "GroupsProgressing", DELETE, plan.deletes_surge)
        return plan._replace(partition=max(plan.partition, sets.rolling_update(self.lws).get("partition", 0)))

    def _leader_pods(self) -> Sequence[Tree]:
        return self.parts.pods.list(self.request.namespace, {names.NAME: self.request.name, names.WORKER_INDEX: "0"})

    async def _apply(self, plan: Plan, key: str) -> Tree:
        wanted = sets.leaders(self.lws, plan.partition, plan.replicas, key)
        name, namespace = self.request.name, self.request.namespace
        try:
            applied = await self.client.patch(
                STATEFUL_SETS, name, namespace, wanted, type="apply", field_manager=FIELD_MANAGER, force=True)
        except APIError as error:
            reason, what = ("FailedCreate", "create") if self.leaders is None else ("FailedUpdate", "update")
            text = f"Failed to {what} leader statefulset {name}: {error}"
            self._tell("Warning", reason, CREATE if self.leaders is None else UPDATE, text)
            raise
        self._wrote(STATEFUL_SETS, applied)
        return applied

    def _tell_progress(self, plan: Plan, revision: Tree, *, is_new: bool) -> None:
        if self.leaders is None:
            self._tell("Normal", "GroupsProgressing", CREATE, f"Created leader statefulset {self.request.name}", revision)
            return
        before = Rollout(self.lws, self.leaders).partition
        if is_new or plan.partition == before:
            return
        text = f"Updating replica {plan.partition}" if before - 1 == plan.partition else (
            f"Updating replicas {plan.partition} to {before - 1} (inclusive)")
        self._tell("Normal", "GroupsUpdating", UPDATE, text, revision)

    async def _create_service(self) -> None:
        namespace, name = self.request
        if names.subdomain_policy(self.lws) != names.SHARED or self.parts.services.get(namespace, name) is not None:
            return
        try:
            made = await self.client.create(SERVICES, sets.service(self.lws, name, {names.NAME: name}, self.lws))
        except APIError as error:
            self._tell("Warning", "FailedCreate", CREATE, f"Failed to create headless service for error: {error}")
            raise
        self._wrote(SERVICES, made)

    async def _schedule(self, number: int) -> None:
        from fakekube_controllers.leaderworkerset.scheduling import SchedulingObjects

        try:
            await SchedulingObjects(self.client, self.parts.ctx.lister, self._wrote).ensure(self.lws, number)
        except (APIError, ValueError) as error:
            self._tell("Warning", "FailedCreate", CREATE, f"Failed to create scheduling objects: {error}")
            raise

    async def _write_status(self, leaders: Tree, key: str) -> bool:
        """Write the status if it changed; whether all groups are updated and ready."""
        workers = {
            meta.name_of(each): each
            for each in self.parts.sets.list(self.request.namespace, {names.NAME: self.request.name})}
        now = times.format_time(self.parts.ctx.clock.time())
        outcome = statuses.of(self.lws, leaders, self._leader_pods(), workers, key, now)
        if outcome.told is not None:
            self._tell("Normal", outcome.told[0], UPDATE, outcome.told[1])
        if outcome.is_changed:
            written = await self.client.update_status(LEADER_WORKER_SETS, {**self.lws, "status": outcome.status})
            self._wrote(LEADER_WORKER_SETS, written)
        return outcome.is_done


def _named(stateful_set: Tree) -> list[Request]:
    name = meta.labels_of(stateful_set).get(names.NAME)
    return [Request(meta.namespace_of(stateful_set), name)] if name is not None else []
