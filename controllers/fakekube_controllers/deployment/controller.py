"""Which Deployments are reconciled and when, and one reconcile up to the written status.

Upstream: pkg/controller/deployment/deployment_controller.go, syncRolloutStatus in progress.go. Left
out: the end of retries after fifteen of them.
"""


import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.deployment import facts, strategies
from fakekube_controllers.deployment import status as statuses
from fakekube_controllers.deployment.rollout import Rollout, RolloutContext


class DeploymentReconciler:
    """Reconciles one Deployment."""

    children: OwnedObjects
    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.deployments, self.sets, self.pods = ctx.lister(DEPLOYMENTS), ctx.lister(REPLICA_SETS), ctx.lister(PODS)
        self.recorder = ctx.recorder("deployment-controller")
        self.consistency = Consistency()

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch ReplicaSets, and the deletion of pods."""
        self.queue = queue
        self.children = OwnedObjects(self.ctx, DEPLOYMENTS, queue, children=REPLICA_SETS)
        self.ctx.add_handler(PODS, on_delete=self._pod_deleted)

    def _pod_deleted(self, pod: Tree) -> None:
        """Who recreates waits for the last old pod to go."""
        reference = meta.controller_of(pod)
        if reference is None or reference["kind"] != REPLICA_SETS.kind:
            return
        owner = self.sets.get(meta.namespace_of(pod), reference["name"])
        if owner is None or meta.uid_of(owner) != reference["uid"]:
            return
        deployment = self.children.owner_of(owner)
        if deployment is not None and not facts.is_rolling(deployment):
            self.queue.add(meta.key_of(deployment))

    async def reconcile(self, key: Request) -> Result | None:
        """Bring a Deployment a step forward and write its status. Raises APIError and ClaimFailed.
        """
        self.queue.withdraw(key)  # what was to be reconciled later is reconciled now
        cached = self.deployments.get(key.namespace, key.name)
        if cached is None:
            self.consistency.forget(key)
            return None
        if not self.consistency.satisfied(key):
            return None  # the events that are missing bring the key back
        deployment: Tree = orjson.loads(orjson.dumps(cached))
        context = RolloutContext(
            self.ctx.client, self.recorder,
            lambda resource, written: self.consistency.wrote(key, self.ctx.informer(resource), written),
            self.ctx.enabled("DeploymentReplicaSetTerminatingReplicas"), self.ctx.version)
        if deployment["spec"].get("selector") == {}:
            await self._refuse(Rollout(deployment, [], context, self.ctx.clock.time()))
            return None
        sets = await self.children.claim(deployment, self.children.candidates(deployment))
        rollout = Rollout(deployment, sets, context, self.ctx.clock.time())
        try:
            wait = await self._sync(rollout)
        except APIError as error:
            if is_namespace_terminating(error):
                return None
            raise
        return None if wait is None else Result.after(wait)

    async def _refuse(self, rollout: Rollout) -> None:
        text = "This deployment is selecting all pods. A non-empty selector is required."
        rollout.event("Warning", "SelectingAll", text)
        generation = meta.generation_of(rollout.deployment)
        await rollout.write_status_if_new({**(rollout.deployment.get("status") or {}), "observedGeneration": generation})

    async def _sync(self, rollout: Rollout) -> float | None:
        """Bring one Deployment a step forward; in how many seconds to reconcile it again, or None.

        Raises APIError.
        """
        deployment = rollout.deployment
        if meta.is_deleting(deployment):
            await rollout.find_new()
            await rollout.write_status_if_new(rollout.status())
            return None
        paused = statuses.paused_condition(deployment, rollout.now)
        if paused is not None:
            status = deployment.setdefault("status", {})
            facts.set_condition(status, paused)
            await rollout.write_status(status)
        if deployment["spec"].get("paused"):
            await self._resize(rollout)
            return None
        back_to = facts.integer(meta.annotations_of(deployment).get(facts.ROLLBACK_TO))
        if back_to is not None:
            await strategies.roll_back(rollout, back_to)
            return None
        await rollout.find_new()
        if _was_scaled(rollout):
            await self._resize(rollout)
            return None
        if facts.is_rolling(deployment):
            await strategies.roll(rollout)
        else:
            await strategies.recreate(rollout, lambda one: self.pods.controlled_by(meta.uid_of(one)))
        return await self._write_progress(rollout)

    async def _resize(self, rollout: Rollout) -> None:
        await rollout.find_new()
        await strategies.resize(rollout)
        if rollout.deployment["spec"].get("paused"):
            await rollout.clean_up()
        await rollout.write_status_if_new(rollout.status())

    async def _write_progress(self, rollout: Rollout) -> float | None:
        """Write how the rollout goes; when nothing is new, how long it may still stand still, in
        seconds.
        """
        status = rollout.status()
        statuses.note_progress(rollout.deployment, rollout.sets, rollout.new, status, rollout.now)
        if await rollout.write_status_if_new(status):
            return None
        rest = statuses.seconds_until_deadline(rollout.deployment, status, rollout.now)
        return None if rest is None else max(0.0, rest) + 1


def _was_scaled(rollout: Rollout) -> bool:
    """Whether a set with pods was made for another number than the Deployment wants now."""
    noted = (facts.integer(meta.annotations_of(one).get(facts.DESIRED_REPLICAS)) for one in facts.with_pods(rollout.sets))
    return any(desired is not None and desired != facts.wanted(rollout.deployment) for desired in noted)
