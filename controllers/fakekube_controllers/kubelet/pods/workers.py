"""Takes every pod that is bound to a node through its life, one step whenever the pod changes or
something is due.

It acts on what the cache shows and on the clock. A deleted pod gets its final status first, and
then the delete that removes it. Upstream: pkg/kubelet/pod_workers.go, and syncPod and
SyncTerminatingPod in pkg/kubelet/kubelet.go.
"""

from collections.abc import Hashable
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.pods import FINISHED_PHASES
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kubelet.containers.config import granted_seconds
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes.annotations import InvalidOutcome
from fakekube_controllers.kubelet.pods.admission import PodAdmission
from fakekube_controllers.kubelet.pods.events import PodEvents
from fakekube_controllers.kubelet.pods.failures import OutcomeFailures
from fakekube_controllers.kubelet.pods.references import References, has_references
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import PodRuns
from fakekube_controllers.kubelet.pods.status_manager import StatusManager
from fakekube_controllers.kubelet.staged import Staged

NODE_INDEX = "node"
"""Of the cache of pods: those that are bound to a node."""

NODE_SHUTDOWN = ("Terminated", "Pod was terminated in response to imminent node shutdown.")


class PodObserver(Protocol):
    """Who has to know what becomes of pods, by uid."""

    def pod_synced(self, uid: str) -> None:
        """Something may have happened to a pod."""

    def pod_gone(self, uid: str) -> None:
        """A pod was deleted."""


class PodWorkers:
    """The workers of all pods. ``queue`` holds the keys of pods that are to be looked at."""

    def __init__(
        self, ctx: Context, queue: WorkQueue[ObjectKey], runs: PodRuns, admission: PodAdmission, status: StatusManager,
        events: PodEvents, failures: OutcomeFailures, *, addresses: Addresses, modes: KubeletModes, staged: Staged,
        observer: PodObserver, references: References,
    ) -> None:
        self._references = references
        self.queue = queue
        self._ctx, self._clock, self._pods = ctx, ctx.clock, ctx.lister(PODS)
        self._runs, self._admission, self._status, self._events, self._failures = runs, admission, status, events, failures
        self._addresses, self._modes, self._staged, self._observer = addresses, modes, staged, observer
        Worker(ctx, queue, self._sync).start()

    async def forget_gone(self) -> None:
        """Forget the pods that went while the kubelet was down: no event tells of them."""
        await self._ctx.wait_for_sync()
        self._runs.forget_all_but({meta.uid_of(pod): None for pod in self._pods.list()})

    def sync_node(self, node: str) -> None:
        """A node's kubelet was stopped, shut down or runs again: look at all of its pods."""
        for pod in self._pods.by_index(NODE_INDEX, node):
            self.pod_added(pod)

    def evict(self, namespace: str, name: str, resource: str = "memory") -> None:
        """End a pod as a node does that runs short of a resource. KeyError when there is no such
        pod here.
        """
        pod = self._pods.get(namespace, name)
        if pod is None or meta.uid_of(pod) not in self._runs:
            raise KeyError(f"{namespace}/{name}")
        run = self._runs.live.get(meta.uid_of(pod))
        if run is not None and not run.finished:
            self._runs.checkpoints.before_change(meta.uid_of(pod), run)
            run.evict(self._clock.time(), resource)
            self._events.pod(run, "Warning", *(run.failure or ("", "")))
            self.queue.add(ObjectKey(namespace, name))

    # events of the cache

    def pod_added(self, pod: Tree) -> None:
        """There is a pod, on a node perhaps."""
        if pod["spec"].get("nodeName") and not self._staged.take(pod):
            self.queue.add(meta.key_of(pod))

    def pod_changed(self, old: Tree, new: Tree) -> None:
        """What this kubelet wrote itself is no news; of a pod that has ended it is the last."""
        uid = new["metadata"]["uid"]
        run = self._runs.live.get(uid)
        if run is None and not self._runs.has_ended(uid):
            self.pod_added(new)
            return
        known, status = old.get("status") if run is None else run.status, new.get("status")
        if status != known or _requested(old) != _requested(new):
            self.pod_added(new)
        elif run is not None:
            run.pod, run.status = new, status  # as the cache has it: no copy stays
            if status is not None and status["phase"] in FINISHED_PHASES and run.over:
                self._runs.end(uid)

    def pod_gone(self, pod: Tree) -> None:
        """A pod was deleted."""
        uid = meta.uid_of(pod)
        self._staged.forget(pod)
        self._admission.release(pod)
        self._runs.forget(uid)
        self._addresses.forget_pod(uid)
        self._observer.pod_gone(uid)

    # a step

    async def _sync(self, key: ObjectKey) -> None:
        pod = self._pods.get(key.namespace, key.name)
        if pod is None or not (node := pod["spec"].get("nodeName")) or self._modes.is_stopped(node):
            return
        uid, now = meta.uid_of(pod), self._clock.time()
        phase = (pod.get("status") or meta.EMPTY).get("phase")
        run = self._runs.live.get(uid)
        refers = has_references(pod) and (run is None or not run.finished)
        if refers:
            await self._references.watch()
        if run is None:
            if self._runs.has_ended(uid):
                run = self._runs.resume(pod)
            elif self._staged.take(pod):  # its node was not known yet when it was seen first
                return
            elif phase in FINISHED_PHASES and not self._runs.checkpoints.has_run(uid):
                await self._status.remove(pod)
                return
            else:
                run = self._admission.admit(pod, now)
                self._runs.begin(uid, run)
        self._runs.checkpoints.before_change(uid, run)
        run.pod = pod
        if phase in FINISHED_PHASES:
            run.conclude(now, phase)
        if meta.is_deleting(pod):
            run.delete(now, granted_seconds(pod["metadata"].get("deletionGracePeriodSeconds", 0)))
        if self._modes.is_shutting_down(node) and not run.finished:
            _shut_down(run, now)
        if refers:
            self._look_at_references(run, now)
        due = self._advance(run, now)
        self._observer.pod_synced(uid)
        if due is not None:
            self.queue.add_after(key, due - now)
        if not self._status.is_held(pod):
            await self._sync_status(run, key, now)

    def _look_at_references(self, run: PodRun, now: float) -> None:
        """Hold a pod whose volumes cannot be mounted, and go on with what was held and need not be.
        """
        if not run.begun and run.deleting_since is None and not run.finished:
            complaints = self._references.unmounted(run.pod)
            before, run.unmounted = run.unmounted, "\n".join(complaints)
            if before and not complaints:
                run.starts_at = max(run.starts_at, now)
            for complaint in complaints if run.unmounted != before else ():
                self._events.pod(run, "Warning", "FailedMount", complaint)
        for container in run.containers:
            container.look_again(now)

    def _advance(self, run: PodRun, now: float) -> float | None:
        try:
            return run.advance(now)
        except InvalidOutcome as error:
            self._failures.fail(run, now, error)
            return run.advance(now)

    async def _sync_status(self, run: PodRun, key: ObjectKey, now: float) -> None:
        """Write what has changed, and delete a pod that is to go and has stopped."""
        finished = run.finished
        if finished:
            self._admission.release(run.pod)
        written = await self._status.sync(run, now)
        if finished and not run.running:
            if (left := self._status.seconds_until_removal(run, now)) > 0:
                self.queue.add_after(key, left)
            else:
                await self._status.remove(run.pod)
            if written and run.over:
                self._runs.end(meta.uid_of(run.pod))


def _shut_down(run: PodRun, now: float) -> None:
    reason, message = NODE_SHUTDOWN
    grace_seconds = granted_seconds(run.pod["spec"].get("terminationGracePeriodSeconds", 30))
    run.fail(now, reason, message, grace_seconds=grace_seconds, disruption=message)


def _requested(pod: ReadOnlyTree) -> tuple[Hashable, ...]:
    """What others can want of a running pod."""
    get = pod["metadata"].get
    return (
        get("deletionTimestamp"), get("deletionGracePeriodSeconds"), get("generation"), get("annotations"),
        pod["spec"].get("nodeName"))
