"""Nodes of flavors with a topology: the cache knows them, and what waits is tried again when they
change.

Upstream: pkg/controller/tas/resource_flavor.go, and the part of node_controller.go that feeds the
cache.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import NODES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.names import RESOURCE_FLAVORS

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue


class TASResourceFlavorReconciler:
    """Reconciles one ResourceFlavor."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self.kueue, self.ctx, self._flavors = kueue, ctx, ctx.lister(RESOURCE_FLAVORS)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow nodes and flavors."""
        self.queue = queue
        self.ctx.add_handler(NODES, self._add_node, self._update_node, self._delete_node)
        self.ctx.add_handler(RESOURCE_FLAVORS, self._add_flavor, self._update_flavor, self._flavor)

    def _add_node(self, node: ReadOnlyTree) -> None:
        self.kueue.tas_cache.nodes.sync(node)
        self._node(node)

    def _update_node(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        self.kueue.tas_cache.nodes.sync(new)
        if _what_scheduling_sees(old) != _what_scheduling_sees(new):
            self._node(old)
            self._node(new)

    def _delete_node(self, node: ReadOnlyTree) -> None:
        self.kueue.tas_cache.nodes.delete(meta.name_of(node))
        self._node(node)

    def _node(self, node: ReadOnlyTree) -> None:
        """Look at the flavors of a node again, soon."""
        labels = meta.labels_of(node)
        for name, flavor in self.kueue.tas_cache.flavors().items():
            if flavor.matches(labels):
                self.queue.add_after(Request("", name), names.UPDATES_BATCH_PERIOD_SECONDS)

    def _add_flavor(self, flavor: ReadOnlyTree) -> None:
        if _topology_of(flavor) is not None:
            self.kueue.cache.add_or_update_resource_flavor(flavor)
            self._flavor(flavor)

    def _update_flavor(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if _topology_of(old) != _topology_of(new):
            self._flavor(new)
        elif _topology_of(new) is not None and old["spec"].get("nodeTaints") != new["spec"].get("nodeTaints"):
            self._add_flavor(new)

    def _flavor(self, flavor: ReadOnlyTree) -> None:
        if _topology_of(flavor) is not None:
            self.queue.add(Request("", meta.name_of(flavor)))

    async def reconcile(self, request: Request) -> None:
        """Try again what waits: in these nodes there may be room now."""
        flavor = self._flavors.get(*request)
        if flavor is not None and _topology_of(flavor) is not None:
            self.kueue.queues.notify_retry_inadmissible(self.kueue.cache.active_cluster_queues())


def _topology_of(flavor: ReadOnlyTree) -> str | None:
    topology: str | None = (flavor.get("spec") or meta.EMPTY).get("topologyName")
    return topology


def _what_scheduling_sees(node: ReadOnlyTree) -> tuple[object, ...]:
    spec, status = node.get("spec") or meta.EMPTY, node.get("status") or meta.EMPTY
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    return (
        spec.get("unschedulable"), status.get("allocatable"), meta.labels_of(node), spec.get("taints"), conditions,
        meta.annotations_of(node))
