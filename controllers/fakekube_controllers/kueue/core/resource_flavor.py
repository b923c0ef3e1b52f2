"""ResourceFlavors: the cache knows them, and none goes while a ClusterQueue names it.

Upstream: pkg/controller/core/resourceflavor_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.core.finalizers import FinalizerReconciler
from fakekube_controllers.kueue.names import RESOURCE_FLAVORS
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.runtime.reconcile import Request
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue

SCHEDULING_FIELDS = ("nodeTaints", "tolerations", "nodeLabels")


class ResourceFlavorReconciler(FinalizerReconciler):
    """Reconciles one ResourceFlavor."""

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        super().__init__(kueue, ctx, RESOURCE_FLAVORS)
        self._watchers = watchers
        watchers.of_cluster_queues.append(self._cluster_queue_changed)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow flavors."""
        self.queue = queue
        self.ctx.add_handler(RESOURCE_FLAVORS, self._add, self._update, self._delete)

    def users_of(self, name: str) -> list[str]:
        """The ClusterQueues that name a flavor."""
        return self.kueue.cache.cluster_queues_using_flavor(name)

    def _add(self, flavor: ReadOnlyTree) -> None:
        became_active = self.kueue.cache.add_or_update_resource_flavor(flavor)
        if became_active:
            self.kueue.queues.notify_retry_inadmissible(became_active)
            self.kueue.queues.broadcast()
        self._watchers.flavor_changed(None, flavor)
        self.enqueue(meta.name_of(flavor))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if meta.is_deleting(new):
            self.enqueue(meta.name_of(new))
        else:
            retried = self.kueue.cache.add_or_update_resource_flavor(new)
            before, after = states.spec_of(old), states.spec_of(new)
            if any(before.get(field) != after.get(field) for field in SCHEDULING_FIELDS):
                retried = [*retried, *self.users_of(meta.name_of(new))]
            if retried:
                self.kueue.queues.notify_retry_inadmissible(retried)
                self.kueue.queues.broadcast()
        self._watchers.flavor_changed(old, new)

    def _delete(self, flavor: ReadOnlyTree) -> None:
        became_active = self.kueue.cache.delete_resource_flavor(flavor)
        self.kueue.queues.notify_retry_inadmissible(became_active)
        self._watchers.flavor_changed(flavor, None)

    def _cluster_queue_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """Flavors that a ClusterQueue does not name any more may go."""
        if old is not None and (new is None or sorted(flavor_names(old)) != sorted(flavor_names(new))):
            for name in flavor_names(old):
                if not self.users_of(name):
                    self.enqueue(name)


def flavor_names(cluster_queue: ReadOnlyTree) -> list[str]:
    """The flavors that a ClusterQueue names, in the order of its spec."""
    groups = states.spec_of(cluster_queue).get("resourceGroups") or ()
    return [flavor["name"] for group in groups for flavor in group.get("flavors") or ()]
