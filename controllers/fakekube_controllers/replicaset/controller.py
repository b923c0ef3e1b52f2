"""Keeps the number of a ReplicaSet's pods; the same for ReplicationControllers, which are its older
form.

Pods that ended or are on their way out do not count and are replaced at once. After asking for pods
nothing more is done until the cache has shown them. Upstream:
pkg/controller/replicaset/replica_set.go, and pkg/controller/replication, which adapts it to the
other kind. Left out: metrics.
"""

from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, Resource
from fakekube.client.retry import update_with_retry
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects, selector_of
from fakekube.runtime.ownwrites import OwnWrites
from fakekube.runtime.podcontrol import PodControl, create_expected, delete_expected, pod_from_template
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.replicaset.podsummaries import PodSummaries
from fakekube_controllers.replicaset.status import calculate, is_changed

BURST_REPLICAS = 500
STATUS_TRIES = 2


class ReplicaSetReconciler:
    """Reconciles one ReplicaSet."""

    resource: Resource = REPLICA_SETS
    component = "replicaset-controller"
    counts_terminating = True
    consistency_gate = "StaleControllerConsistencyReplicaSet"
    children: OwnedObjects

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.owners, self.pods = ctx.lister(self.resource), ctx.lister(PODS)
        self.expectations = Expectations(ctx.clock)
        self.summaries: dict[str, PodSummaries] = {}  # by the uid of the set
        self.own_writes = OwnWrites(ctx, self.consistency_gate, self.resource, PODS)
        self.control = PodControl(ctx.client, ctx.recorder(self.component), self.own_writes)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods."""
        self.ctx.add_handler(self.resource, on_delete=self._forget)
        self.children = OwnedObjects(self.ctx, self.resource, queue, self.expectations)

    def _forget(self, owner: Tree) -> None:
        self.summaries.pop(meta.uid_of(owner), None)
        self.expectations.forget(meta.key_of(owner))
        self.own_writes.forget(meta.key_of(owner))

    async def reconcile(self, key: Request) -> Result | None:
        """Create or delete pods and write the status; the result says when pods become available.

        Raises APIError and ClaimFailed, and ExpectedError while its cache is behind its own writes.
        """
        self.own_writes.check_seen(key)
        owner = self.owners.get(key.namespace, key.name)
        if owner is None:
            self.expectations.forget(key)
            self.own_writes.forget(key)
            return None
        satisfied = self.expectations.satisfied(key)
        known = self._summaries_of(owner)
        candidates = self.children.candidates(owner)
        summaries = known.of(candidates)
        active = [(pod, summary) for pod, summary in zip(candidates, summaries, strict=True) if summary.active]
        claimed = [(pod, summary) for pod, summary in active if summary.claimed]
        if len(claimed) < len(active):
            undecided = [pod for pod, summary in active if not summary.claimed]
            claimed += [(pod, known.summarize(pod)) for pod in await self.children.claim(owner, undecided)]
        replicas = [pod for pod, _ in claimed]
        error: APIError | None = None
        if satisfied and not meta.is_deleting(owner):
            error = await self._manage(owner, replicas)
        now = self.ctx.clock.time()
        terminating = None
        if self.counts_terminating and self.ctx.enabled("DeploymentReplicaSetTerminatingReplicas"):
            terminating = sum(summary.terminating and summary.claimed for summary in summaries)
        status = calculate(owner, [summary for _, summary in claimed], terminating, error, now)
        await self._write_status(owner, status)
        if error is not None:
            raise error
        min_ready = owner["spec"].get("minReadySeconds", 0)
        if not min_ready or status.get("readyReplicas") == status.get("availableReplicas"):
            return None
        wait = pods.seconds_until_available(replicas, min_ready, now)
        return Result.after(min_ready if wait is None else wait)

    def _summaries_of(self, owner: Tree) -> PodSummaries:
        found = self.summaries.get(meta.uid_of(owner))
        if found is None or found.generation != meta.generation_of(owner):
            found = self.summaries[meta.uid_of(owner)] = PodSummaries(owner)
        return found

    # pods

    async def _manage(self, owner: Tree, active: Sequence[Tree]) -> APIError | None:
        """Create or delete pods towards the wanted number; what went wrong first, to be told and
        tried again.
        """
        difference = len(active) - owner["spec"].get("replicas", 1)
        if difference < 0:
            return await self._create(owner, min(-difference, BURST_REPLICAS))
        if difference > 0:
            return await self._delete(owner, self._surplus(owner, active, min(difference, BURST_REPLICAS)))
        return None

    async def _create(self, owner: Tree, count: int) -> APIError | None:
        key, template = meta.key_of(owner), owner["spec"]["template"]
        _, error = await create_expected(
            self.expectations, key, range(count), lambda _: self.control.create(owner, pod_from_template(template, owner)))
        return error

    async def _delete(self, owner: Tree, surplus: Sequence[pods.Pod]) -> APIError | None:
        _, error = await delete_expected(
            self.expectations, meta.key_of(owner), surplus, lambda pod: self.control.delete(owner, pod))
        if error is None:
            return None
        return APIError(error.code, error.reason, f"unable to delete pods: {error}", error.details)

    def _surplus(self, owner: Tree, active: Sequence[Tree], count: int) -> Sequence[pods.Pod]:
        """Which pods are to go.

        Where siblings crowd a node, pods of other ReplicaSets of one Deployment count too.
        """
        if count >= len(active):
            return active
        active_on_node: dict[str, int] = {}
        for pod in self._sibling_pods(owner):
            node = pod["spec"].get("nodeName", "")
            active_on_node[node] = active_on_node.get(node, 0) + pods.is_active(pod)
        ranked = pods.ranked_for_deletion(
            active, active_on_node, self.ctx.clock.time(), costs=self.ctx.enabled("PodDeletionCost"))
        return ranked[:count]

    def _sibling_pods(self, owner: Tree) -> list[Tree]:
        """The pods that the ReplicaSets of the same controller select."""
        controller = meta.controller_of(owner)
        if controller is None:
            return []
        found: dict[str, Tree] = {}
        for sibling in self.owners.controlled_by(controller["uid"]):
            for pod in self.pods.list(meta.namespace_of(sibling), selector_of(sibling)):
                found.setdefault(meta.uid_of(pod), pod)
        return list(found.values())

    # status

    async def _write_status(self, owner: Tree, status: Tree) -> None:
        """Write a status that says something new; once more on what is there now, when that failed.
        """
        if not is_changed(owner, status):
            return
        status["observedGeneration"] = meta.generation_of(owner)
        written = await update_with_retry(
            self.client, self.resource, owner, lambda current: {**current, "status": status}, subresource="status",
            tries=STATUS_TRIES, is_retriable=lambda _: True)
        self.own_writes.note(meta.key_of(owner), self.resource, written)


class ReplicationReconciler(ReplicaSetReconciler):
    """The same for ReplicationControllers, whose status says nothing of terminating pods."""

    resource = REPLICATION_CONTROLLERS
    component = "replication-controller"
    counts_terminating = False
    consistency_gate = ""
