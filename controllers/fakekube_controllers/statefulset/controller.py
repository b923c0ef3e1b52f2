"""Which StatefulSets are reconciled and when, their revisions, and one reconcile up to the written
status.

Upstream: pkg/controller/statefulset/{stateful_set,stateful_set_control}.go. Left out: metrics, and
the comparison of revisions that differ only in fields that later releases default.
"""

from collections.abc import Sequence
from datetime import timedelta

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS
from fakekube.client.retry import update_with_retry
from fakekube.runtime import pods, revisions
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.statefulset import identity
from fakekube_controllers.statefulset import status as statuses
from fakekube_controllers.statefulset.podcontrol import StatefulPodControl
from fakekube_controllers.statefulset.update import Features, Revisions, Update

CATCH_UP = timedelta(milliseconds=5)
COMPLETES_ANY_STRATEGY = (1, 37)
STATUS_TRIES = 2


class StatefulSetReconciler:
    """Reconciles one StatefulSet."""

    children: OwnedObjects

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.owners, self.history = ctx.lister(STATEFUL_SETS), revisions.History(ctx, STATEFUL_SETS)
        self.claims = ctx.lister(PERSISTENT_VOLUME_CLAIMS)
        self.recorder = ctx.recorder("statefulset-controller")
        self.consistency = Consistency()
        self.features = Features(ctx.enabled("MaxUnavailableStatefulSet"), ctx.enabled("StatefulSetRecreateStrategy"))
        self.completes_any = tuple(int(part) for part in ctx.version.split(".")[:2] if part) >= COMPLETES_ANY_STRATEGY

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods."""
        self.children = OwnedObjects(self.ctx, STATEFUL_SETS, queue)

    async def reconcile(self, key: Request) -> Result | None:
        """Bring a StatefulSet a step forward and write its status. Raises APIError and ClaimFailed.
        """
        owner = self.owners.get(key.namespace, key.name)
        if owner is None:
            self.consistency.forget(key)
            return None
        if not self.consistency.satisfied(key):
            return Result(requeue_after=CATCH_UP)
        history = revisions.in_order(await self.history.claim(owner, releases=False))
        found = await self.children.claim(
            owner, self.children.candidates(owner), lambda pod: identity.is_member(owner, pod))
        now = self.ctx.clock.time()
        control = StatefulPodControl(
            self.client, self.recorder, self.claims,
            lambda resource, written: self.consistency.wrote(key, self.ctx.informer(resource), written))
        known = await self._revisions(owner, history, control)
        update = Update(owner, found, known, control, self.features, now)
        failure: APIError | None = None
        try:
            await update.run()
        except APIError as error:
            failure = error
        await self._write_status(owner, update.status, control, now)
        await self._truncate(owner, history, [known.current, known.update], found)
        if failure is not None:
            raise failure
        min_ready = owner["spec"].get("minReadySeconds", 0)
        if not min_ready or update.status["readyReplicas"] == update.status["availableReplicas"]:
            return None
        wait = pods.seconds_until_available(found, min_ready, now)
        return Result.after(min_ready if wait is None else wait)

    async def _write_status(self, owner: Tree, status: Tree, control: StatefulPodControl, now: float) -> None:
        statuses.complete(owner, status, any_strategy=self.completes_any, now=times.format_time(now))
        if not statuses.is_changed(owner, status):
            return
        control.wrote(STATEFUL_SETS, await update_with_retry(
            self.client, STATEFUL_SETS, owner, lambda current: {**current, "status": statuses.as_written(status)},
            subresource="status", tries=STATUS_TRIES))

    # revisions

    async def _revisions(self, owner: Tree, history: Sequence[Tree], control: StatefulPodControl) -> Revisions:
        """The current revision and that of the template, which is made or renumbered where needed.

        Raises APIError.
        """
        status = owner.get("status") or meta.EMPTY
        collisions: int = status.get("collisionCount", 0)
        template = owner["spec"]["template"]
        data = revisions.template_patch(template)
        equal = [one for one in history if one.get("data") == data]
        if equal and history[-1].get("data") == data:
            update = history[-1]
        elif equal:
            update = await revisions.renumber(self.client, equal[-1], revisions.next_number(history))
            control.wrote(CONTROLLER_REVISIONS, update)
        else:
            fresh = revisions.new_revision(
                owner, data, revisions.next_number(history), meta.labels_of(template), collisions)
            update, collisions = await revisions.create(self.client, owner, fresh, collisions)
            control.wrote(CONTROLLER_REVISIONS, update)
        current = next((one for one in history if meta.name_of(one) == status.get("currentRevision")), update)
        return Revisions(current, update, collisions)

    async def _truncate(self, owner: Tree, history: Sequence[Tree], kept: Sequence[Tree], found: Sequence[Tree]) -> None:
        """Delete the oldest revisions that nobody needs, beyond the limit. Raises APIError."""
        limit = owner["spec"].get("revisionHistoryLimit", 10)
        live = dict.fromkeys([*(meta.name_of(one) for one in kept), *(identity.revision_of(pod) for pod in found)])
        past = [one for one in history if meta.name_of(one) not in live]
        if limit >= 0:
            await self.history.delete_oldest(past, len(past) - limit)
