"""Pods that no Workload has put on their nodes: what they take is not free, and what waits is tried
again when they leave.

Upstream: pkg/controller/tas/non_tas_usage_controller.go. There pods are counted by a reconciler;
here as their events come, so that nothing is placed on nodes whose pods are not counted yet.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import NODES, PODS
from fakekube_controllers.kueue.topology.nontasusage import belongs_to_non_tas_cache

if TYPE_CHECKING:
    from fakekube.cache.lister import Lister
    from fakekube.runtime.context import Context
    from fakekube_controllers.kueue.manager import Kueue

REQUEUE_BATCH_SECONDS = 10.0


class NonTASUsage:
    """Follows pods. Nodes that they have left are collected for up to ten seconds."""

    ctx: "Context"
    nodes: "Lister"

    def __init__(self, kueue: "Kueue") -> None:
        self.kueue, self._started, self._left = kueue, 0.0, dict[str, None]()

    async def start(self, ctx: "Context") -> None:
        """Follow pods from now on."""
        self.ctx, self.nodes, self._started = ctx, ctx.lister(NODES), ctx.clock.time()
        ctx.add_handler(PODS, self._pod, self._pod_changed, self._gone)

    async def stop(self) -> None:
        """Everything belongs to the context."""

    def _pod_changed(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        before, now = belongs_to_non_tas_cache(old), belongs_to_non_tas_cache(new)
        if before != now or (now and old["spec"] != new["spec"]):
            self._pod(new)

    def _pod(self, pod: ReadOnlyTree) -> None:
        if belongs_to_non_tas_cache(pod):
            self._has_room(self.kueue.tas_cache.pods.update(meta.key_of(pod), pod))
        else:
            self._gone(pod)

    def _gone(self, pod: ReadOnlyTree) -> None:
        self._has_room(self.kueue.tas_cache.pods.delete(meta.key_of(pod)))

    def _has_room(self, node: str) -> None:
        """Try again, with the next batch, what waits for a node; nothing for no name."""
        if node and not self._left:
            passed = self.ctx.clock.time() - self._started
            self.ctx.tasks.spawn(self._drain(REQUEUE_BATCH_SECONDS - passed % REQUEUE_BATCH_SECONDS), "nodes with room")
        if node:
            self._left[node] = None

    async def _drain(self, seconds: float) -> None:
        await self.ctx.clock.sleep(seconds)
        left, self._left = self._left, {}
        found = [node for node in (self.nodes.get("", name) for name in left) if node is not None]
        labels = [meta.labels_of(node) for node in found]
        names = [name for name, flavor in self.kueue.tas_cache.flavors().items() if any(map(flavor.matches, labels))]
        queues = dict.fromkeys(queue for name in names for queue in self.kueue.cache.cluster_queues_using_flavor(name))
        self.kueue.queues.notify_retry_inadmissible(queues)
