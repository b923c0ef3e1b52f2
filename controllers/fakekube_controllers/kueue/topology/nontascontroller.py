"""Pods that no Workload has put on their nodes: what they take is not free, and what waits is tried
again when they leave.

Upstream: pkg/controller/tas/non_tas_usage_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue.topology.nontasusage import belongs_to_non_tas_cache
from fakekube_controllers.kueue.topology.requests import is_tas

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue

REQUEUE_BATCH_SECONDS = 10.0


class NonTASUsageReconciler:
    """Reconciles one pod. Nodes that pods have left are collected for up to ten seconds."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        self._pods, self._nodes = ctx.lister(PODS), ctx.lister(NODES)
        self._started, self._left = ctx.clock.time(), dict[str, None]()

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow pods."""
        self.queue = queue
        self.ctx.add_handler(PODS, self._add, self._update, self._delete)

    def _add(self, pod: ReadOnlyTree) -> None:
        if belongs_to_non_tas_cache(pod):
            self.queue.add(Request(*meta.key_of(pod)))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        counts = belongs_to_non_tas_cache(new)
        if counts != belongs_to_non_tas_cache(old) or (counts and old["spec"] != new["spec"]):
            self.queue.add(Request(*meta.key_of(new)))

    def _delete(self, pod: ReadOnlyTree) -> None:
        if pod["spec"].get("nodeName") and not is_tas(pod):
            self.queue.add(Request(*meta.key_of(pod)))

    async def reconcile(self, request: Request) -> None:
        """Count what a pod takes, or no longer."""
        pod, cache = self._pods.get(*request), self.kueue.tas_cache.pods
        counts = pod is not None and belongs_to_non_tas_cache(pod)
        key = ObjectKey(*request)
        node = cache.update(key, pod) if pod is not None and counts else cache.delete(key)
        if node:
            if not self._left:
                passed = self.ctx.clock.time() - self._started
                self.ctx.tasks.spawn(self._drain(REQUEUE_BATCH_SECONDS - passed % REQUEUE_BATCH_SECONDS), "nodes with room")
            self._left[node] = None

    async def _drain(self, seconds: float) -> None:
        """Try again what waits for nodes that pods have left."""
        await self.ctx.clock.sleep(seconds)
        left, self._left = self._left, {}
        found = [node for node in (self._nodes.get("", name) for name in left) if node is not None]
        labels = [meta.labels_of(node) for node in found]
        names = [name for name, flavor in self.kueue.tas_cache.flavors().items() if any(map(flavor.matches, labels))]
        queues = dict.fromkeys(queue for name in names for queue in self.kueue.cache.cluster_queues_using_flavor(name))
        self.kueue.queues.notify_retry_inadmissible(queues)
