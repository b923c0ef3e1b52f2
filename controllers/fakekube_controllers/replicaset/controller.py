"""Keeps the number of a ReplicaSet's pods; the same for ReplicationControllers, which are its older form.

Pods that ended or are on their way out do not count and are replaced at once. After asking for pods nothing more is done
until the cache has shown them. Upstream: pkg/controller/replicaset/replica_set.go, and pkg/controller/replication, which
adapts it to the other kind. Left out: metrics.
"""

from collections.abc import Sequence
from datetime import timedelta

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, Resource
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects, selector_of
from fakekube.runtime.podcontrol import PodControl, pod_from_template, slow_start
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.replicaset.facts import PodFacts
from fakekube_controllers.replicaset.status import calculate, is_news

BURST_REPLICAS = 500


class ReplicaSetReconciler:
    """Reconciles one ReplicaSet."""

    resource: Resource = REPLICA_SETS
    component = "replicaset-controller"
    counts_terminating = True
    children: OwnedObjects

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.owners, self.pods = ctx.lister(self.resource), ctx.lister(PODS)
        self.expectations = Expectations(ctx.clock)
        self.facts: dict[str, PodFacts] = {}  # by the uid of the set
        self.control = PodControl(ctx.client, ctx.recorder(self.component))

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of pods."""
        self.ctx.add_handler(self.resource, on_delete=self._forget)
        self.children = OwnedObjects(self.ctx, self.resource, queue, self.expectations)
        self.ctx.add_handler(PODS, on_delete=self._forget_pod)

    def _forget(self, owner: Tree) -> None:
        self.facts.pop(meta.uid_of(owner), None)
        self.expectations.forget(meta.key_of(owner))

    def _forget_pod(self, pod: Tree) -> None:
        reference = meta.controller_of(pod)
        facts = self.facts.get(reference["uid"]) if reference is not None else None
        if facts is not None:
            facts.forget(pod)

    async def reconcile(self, key: Request) -> Result | None:
        """Create or delete pods and write the status; the result says when pods become available.

        Raises APIError and ClaimFailed.
        """
        owner = self.owners.get(key.namespace, key.name)
        if owner is None:
            self.expectations.forget(key)
            return None
        satisfied = self.expectations.satisfied(key)
        facts = self._facts_of(owner)
        candidates = self.children.candidates(owner)
        active = await self._claim(owner, candidates, facts)
        error: APIError | None = None
        if satisfied and not meta.is_deleting(owner):
            error = await self._manage(owner, active)
        now = self.ctx.clock.time()
        terminating = None
        if self.counts_terminating and self.ctx.enabled("DeploymentReplicaSetTerminatingReplicas"):
            terminating = sum(fact.terminating and fact.settled for fact in map(facts.of, candidates))
        status = calculate(owner, [facts.of(pod) for pod in active], terminating, error, now)
        await self._write_status(owner, status)
        if error is not None:
            raise error
        min_ready = owner["spec"].get("minReadySeconds", 0)
        if not min_ready or status.get("readyReplicas") == status.get("availableReplicas"):
            return None
        wait = pods.seconds_until_available(active, min_ready, now)
        return Result(requeue_after=timedelta(seconds=min_ready if wait is None else wait))

    def _facts_of(self, owner: Tree) -> PodFacts:
        found = self.facts.get(meta.uid_of(owner))
        if found is None or found.generation != meta.generation_of(owner):
            found = self.facts[meta.uid_of(owner)] = PodFacts(owner)
        return found

    async def _claim(self, owner: Tree, candidates: Sequence[Tree], facts: PodFacts) -> list[Tree]:
        """The active pods that are the set's: those that are settled, and those that it adopts. Raises ClaimFailed."""
        active = [(pod, fact) for pod in candidates if (fact := facts.of(pod)).active]
        undecided = [pod for pod, fact in active if not fact.settled]
        adopted = await self.children.claim(owner, undecided) if undecided else []
        return [*(pod for pod, fact in active if fact.settled), *adopted]

    # pods

    async def _manage(self, owner: Tree, active: Sequence[Tree]) -> APIError | None:
        """Create or delete pods towards the wanted number; what went wrong first, to be told and tried again."""
        difference = len(active) - owner["spec"].get("replicas", 1)
        if difference < 0:
            return await self._create(owner, min(-difference, BURST_REPLICAS))
        if difference > 0:
            return await self._delete(owner, self._surplus(owner, active, min(difference, BURST_REPLICAS)))
        return None

    async def _create(self, owner: Tree, count: int) -> APIError | None:
        key, template = meta.key_of(owner), owner["spec"]["template"]
        self.expectations.expect_creations(key, count)
        made, error = await slow_start(range(count), lambda _: self.control.create(owner, pod_from_template(template, owner)))
        for _ in range(count - made):
            self.expectations.creation_observed(key)
        return error

    async def _delete(self, owner: Tree, victims: Sequence[pods.Pod]) -> APIError | None:
        key, failure = meta.key_of(owner), None
        self.expectations.expect_deletions_of(key, [meta.uid_of(pod) for pod in victims])
        for pod in victims:
            try:
                if not await self.control.delete(owner, meta.name_of(pod), meta.namespace_of(pod)):
                    self.expectations.deletion_observed(key, meta.uid_of(pod))
            except APIError as error:
                self.expectations.deletion_observed(key, meta.uid_of(pod))
                failure = failure or APIError(error.code, error.reason, f"unable to delete pods: {error}", error.details)
        return failure

    def _surplus(self, owner: Tree, active: Sequence[Tree], count: int) -> Sequence[pods.Pod]:
        """Which pods are to go. Where relatives crowd a node, pods of other ReplicaSets of one Deployment count too."""
        if count >= len(active):
            return active
        company: dict[str, int] = {}
        for pod in self._relatives(owner):
            node = pod["spec"].get("nodeName", "")
            company[node] = company.get(node, 0) + pods.is_active(pod)
        ranked = pods.least_worthy(active, company, self.ctx.clock.time(), costs=self.ctx.enabled("PodDeletionCost"))
        return ranked[:count]

    def _relatives(self, owner: Tree) -> list[Tree]:
        """The pods that the ReplicaSets of the same controller select."""
        controller = meta.controller_of(owner)
        if controller is None:
            return []
        found: dict[str, Tree] = {}
        for relative in self.owners.controlled_by(controller["uid"]):
            for pod in self.pods.list(meta.namespace_of(relative), selector_of(relative)):
                found.setdefault(meta.uid_of(pod), pod)
        return list(found.values())

    # status

    async def _write_status(self, owner: Tree, status: Tree) -> None:
        """Write a status that says something new; once more on what is there now, when that failed."""
        if not is_news(owner, status):
            return
        status["observedGeneration"] = meta.generation_of(owner)
        try:
            await self.client.update_status(self.resource, {**owner, "status": status})
        except APIError:
            fresh = await self.client.get(self.resource, meta.name_of(owner), meta.namespace_of(owner))
            await self.client.update_status(self.resource, {**fresh, "status": status})


class ReplicationReconciler(ReplicaSetReconciler):
    """The same for ReplicationControllers, whose status says nothing of terminating pods."""

    resource = REPLICATION_CONTROLLERS
    component = "replication-controller"
    counts_terminating = False
