"""Which DaemonSets are reconciled and when, and one reconcile up to the written status.

Upstream: pkg/controller/daemon/daemon_controller.go. Left out: metrics.
"""

from collections.abc import Sequence
from datetime import timedelta

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.cache.expectations import Expectations
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS, Resource
from fakekube.client.retry import update_with_retry
from fakekube.runtime import revisions
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects
from fakekube.runtime.ownwrites import OwnWrites
from fakekube.runtime.podcontrol import PodControl, create_expected, delete_expected
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.daemonset import history, placing
from fakekube_controllers.daemonset.backoff import Backoff
from fakekube_controllers.daemonset.step import Plan, Step

BURST_REPLICAS = 250
STATUS_TRIES = 2
CATCH_UP = timedelta(milliseconds=5)
BY_NODE = "node"
CONSISTENCY_GATE = "StaleControllerConsistencyDaemonSet"


class DaemonSetReconciler:
    """Reconciles one DaemonSet.

    The back-off of failed pods begins anew with each start, as upstream's does.
    """

    children: OwnedObjects
    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.owners, self.nodes, self.pods = ctx.lister(DAEMON_SETS), ctx.lister(NODES), ctx.lister(PODS)
        self.history = revisions.History(ctx, DAEMON_SETS)
        self.pods.add_index(BY_NODE, by_node_name)
        self.recorder = ctx.recorder("daemonset-controller")
        self.own_writes = OwnWrites(ctx, CONSISTENCY_GATE, PODS)
        self.control = PodControl(ctx.client, self.recorder, self.own_writes)
        self.expectations, self.consistency, self.backoff = Expectations(ctx.clock), Consistency(), Backoff()

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods and nodes."""
        self.queue = queue
        self.ctx.add_handler(DAEMON_SETS, on_delete=lambda owner: self.expectations.forget(meta.key_of(owner)))
        self.children = OwnedObjects(self.ctx, DAEMON_SETS, queue, self.expectations)
        self.ctx.add_handler(NODES, self._node_changed, self._node_updated)

    # events

    def _node_updated(self, old: Tree, node: Tree) -> None:
        taints = [(one.get("spec") or meta.EMPTY).get("taints") or [] for one in (old, node)]
        if meta.labels_of(old) != meta.labels_of(node) or taints[0] != taints[1]:
            self._node_changed(node)

    def _node_changed(self, node: Tree) -> None:
        """Reconcile the DaemonSets that want a pod on the node and have none, or have one that may
        have to go.
        """
        there = [meta.controller_of(pod) for pod in self.pods.by_index(BY_NODE, meta.name_of(node))]
        for owner in self.owners.list():
            decision = placing.node_should_run(owner, placing.tolerations_of(owner["spec"]["template"]["spec"]), node)
            has_pod = any(reference is not None and reference["uid"] == meta.uid_of(owner) for reference in there)
            misscheduled = (owner.get("status") or meta.EMPTY).get("numberMisscheduled", 0) > 0
            if (decision.should_run and not has_pod) or (has_pod and (misscheduled or not decision.may_stay)):
                self.queue.add(meta.key_of(owner))

    # work

    async def reconcile(self, key: Request) -> Result | None:
        """Create and delete pods, write the status. Raises APIError and ClaimFailed."""
        owner = self.owners.get(key.namespace, key.name)
        if owner is None:
            self.expectations.forget(key)
            self.consistency.forget(key)
            self.own_writes.forget(key)
            return None
        if not (self.consistency.satisfied(key) and self.own_writes.are_seen(key)):
            return Result(requeue_after=CATCH_UP)
        if owner["spec"].get("selector") == {}:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self.recorder.event(owner, "Warning", "SelectingAll", text)
            return None
        if meta.is_deleting(owner):
            return None  # its revisions may be gone already, and nothing could be told from them
        found = await self.children.claim(owner, self.children.candidates(owner))
        current, old = await history.current_and_old(
            self.client, owner, await self.history.claim(owner, releases=True), found,
            lambda written: self._wrote(key, CONTROLLER_REVISIONS, written), self.ctx.version)
        revision_hash = meta.labels_of(current)[placing.HASH_LABEL]
        step = Step(owner, self.nodes.list(), found, revision_hash, self.ctx.clock.time())
        if not self.expectations.satisfied(key):
            await self._write_status(step, observed=False)
            return _later(step)
        failure = await self._manage(step, old, found)
        await self._write_status(step, observed=True)
        if failure is not None:
            raise failure
        return _later(step)

    def _wrote(self, key: Request, resource: Resource, written: Tree) -> None:
        self.consistency.wrote(key, self.ctx.informer(resource), written)

    async def _manage(self, step: Step, old: Sequence[Tree], found: Sequence[Tree]) -> APIError | None:
        """Create and delete pods; what went wrong first, to be tried again."""
        owner, key = step.owner, meta.key_of(step.owner)
        plan = step.manage(self.backoff, lambda kind, reason, text: self.recorder.event(
            owner, "Warning" if kind == "Warning" else "Normal", reason, text))
        try:
            await self._carry_out(step, plan)
            if self.expectations.satisfied(key) and owner["spec"]["updateStrategy"].get("type") == "RollingUpdate":
                await self._carry_out(step, step.rolling_update())
            await history.truncate(self.history, owner, old, found)
        except APIError as error:
            return error
        return None

    async def _carry_out(self, step: Step, plan: Plan) -> None:
        """Raises APIError, the first one, after all was tried."""
        owner, key = step.owner, meta.key_of(step.owner)
        create, delete = plan.create[:BURST_REPLICAS], plan.delete[:BURST_REPLICAS]
        _, not_created = await create_expected(self.expectations, key, create, lambda node: self.control.create(
            owner, placing.new_pod(owner, step.tolerations, node, step.hash)))
        _, not_deleted = await delete_expected(
            self.expectations, key, delete, lambda pod: self.control.delete(owner, pod))
        failure = not_created or not_deleted
        if failure is not None:
            raise failure

    async def _write_status(self, step: Step, *, observed: bool) -> None:
        """Write the status when it says something new; once more on what is there now, when that
        failed.
        """
        owner, status = step.owner, step.status(observed=observed)
        seen = (owner.get("status") or meta.EMPTY).get("observedGeneration", 0) >= meta.generation_of(owner)
        if status == owner.get("status") and seen:
            return

        def with_status(current: Tree) -> Tree:
            kept = {name: value for name, value in (current.get("status") or {}).items() if name == "collisionCount"}
            return {**current, "status": status | kept}

        written = await update_with_retry(
            self.client, DAEMON_SETS, owner, with_status, subresource="status", tries=STATUS_TRIES,
            is_retriable=lambda _: True)
        self._wrote(meta.key_of(owner), DAEMON_SETS, written)


def _later(step: Step) -> Result | None:
    """When to reconcile again though nothing happens."""
    waits = [wait for wait in (step.wait_seconds, step.seconds_until_available()) if wait is not None]
    return Result.after(min(waits)) if waits else None
