"""Topologies: the cache knows them, and none goes while a flavor names it.

Upstream: pkg/controller/tas/topology_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.core.finalizers import FinalizerReconciler
from fakekube_controllers.kueue.names import RESOURCE_FLAVORS, TOPOLOGIES

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue


class TopologyReconciler(FinalizerReconciler):
    """Reconciles one Topology."""

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        super().__init__(kueue, ctx, TOPOLOGIES)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow topologies, and flavors that go."""
        self.queue = queue
        self.ctx.add_handler(TOPOLOGIES, self._add, lambda _, new: self.enqueue(meta.name_of(new)), self._delete)
        self.ctx.add_handler(RESOURCE_FLAVORS, on_delete=self._flavor_gone)

    def users_of(self, name: str) -> list[str]:
        """The flavors that name a Topology."""
        return [flavor for flavor, found in self.kueue.tas_cache.flavors().items() if found.flavor.topology_name == name]

    def _add(self, topology: ReadOnlyTree) -> None:
        self.kueue.cache.add_or_update_topology(topology)
        self.kueue.queues.notify_topology_update_watchers(None, topology)
        self.enqueue(meta.name_of(topology))

    def _delete(self, topology: ReadOnlyTree) -> None:
        self.kueue.cache.delete_topology(meta.name_of(topology))
        self.kueue.queues.notify_topology_update_watchers(topology, None)

    def _flavor_gone(self, flavor: ReadOnlyTree) -> None:
        topology = (flavor.get("spec") or meta.EMPTY).get("topologyName")
        if topology is not None:
            self.queue.add_after(Request("", topology), names.UPDATES_BATCH_PERIOD_SECONDS)
