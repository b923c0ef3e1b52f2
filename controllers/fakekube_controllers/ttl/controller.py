"""Keeps the annotation ``node.alpha.kubernetes.io/ttl`` of nodes: for how many seconds a kubelet
may keep Secrets and ConfigMaps before it reads them again, the longer the more nodes there are.

Upstream: pkg/controller/ttl/ttl_controller.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

ANNOTATION = "node.alpha.kubernetes.io/ttl"


class Boundary(NamedTuple):
    """The seconds for clusters of some size; going up and down happens at different sizes, so that
    nothing flickers.
    """

    min_nodes: int
    max_nodes: float
    seconds: int


BOUNDARIES = (
    Boundary(0, 100, 0), Boundary(90, 500, 15), Boundary(450, 1000, 30), Boundary(900, 2000, 60),
    Boundary(1800, 10000, 300), Boundary(9000, float("inf"), 600),
)


class NodeTTL:
    """Reconciles nodes."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.nodes = ctx, ctx.client, ctx.lister(NODES)
        self.count, self.step = 0, 0

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch nodes, and count them."""
        self.queue = queue
        self.ctx.add_handler(NODES, self._added, lambda _, new: queue.add(meta.key_of(new)), self._gone)

    def _added(self, node: Tree) -> None:
        self.count += 1
        if self.count > BOUNDARIES[self.step].max_nodes:
            self.step += 1
            self._look_at_all()
        self.queue.add(meta.key_of(node))

    def _gone(self, _: Tree) -> None:
        self.count -= 1
        if self.count < BOUNDARIES[self.step].min_nodes:
            self.step -= 1
            self._look_at_all()

    def _look_at_all(self) -> None:
        for node in self.nodes.list():
            self.queue.add(meta.key_of(node))

    async def reconcile(self, request: Request) -> None:
        """Write the annotation of one node, unless it says so already. Raises APIError."""
        node, seconds = self.nodes.get("", request.name), str(BOUNDARIES[self.step].seconds)
        if node is not None and meta.annotations_of(node).get(ANNOTATION) != seconds:
            await self.client.patch(
                NODES, request.name, body={"metadata": {"annotations": {ANNOTATION: seconds}}}, type="strategic")
