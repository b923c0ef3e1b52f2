"""AdmissionChecks: the cache knows which are active, and none goes while a ClusterQueue names it.

Upstream: pkg/controller/core/admissioncheck_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.core.finalizers import FinalizerReconciler
from fakekube_controllers.kueue.names import ADMISSION_CHECKS
from fakekube_controllers.kueue.workload.admissionchecks import admission_checks

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.runtime.reconcile import Request
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue


class AdmissionCheckReconciler(FinalizerReconciler):
    """Reconciles one AdmissionCheck."""

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        super().__init__(kueue, ctx, ADMISSION_CHECKS)
        self._watchers = watchers
        watchers.of_cluster_queues.append(self._cluster_queue_changed)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow checks."""
        self.queue = queue
        self.ctx.add_handler(ADMISSION_CHECKS, self._add, self._update, self._delete)

    def users_of(self, name: str) -> list[str]:
        """The ClusterQueues that name a check."""
        return self.kueue.cache.cluster_queues_using_admission_check(name)

    def _add(self, check: ReadOnlyTree) -> None:
        self._retry(self.kueue.cache.add_or_update_admission_check(check))
        self._watchers.admission_check_changed(None, check)
        self.enqueue(meta.name_of(check))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if meta.is_deleting(new):
            self.enqueue(meta.name_of(new))
        else:
            self._retry(self.kueue.cache.add_or_update_admission_check(new))
        self._watchers.admission_check_changed(old, new)

    def _delete(self, check: ReadOnlyTree) -> None:
        self._retry(self.kueue.cache.delete_admission_check(meta.name_of(check)))
        self._watchers.admission_check_changed(check, None)

    def _retry(self, cluster_queues: list[str]) -> None:
        if cluster_queues:
            self.kueue.queues.notify_retry_inadmissible(cluster_queues)
            self.kueue.queues.broadcast()

    def _cluster_queue_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """Checks that a ClusterQueue does not name any more may go."""
        before, after = ([*admission_checks(each)] if each is not None else None for each in (old, new))
        if before is not None and after is not None and sorted(before) == sorted(after):
            return
        for name in (*(before or ()), *(after or ())):
            if not self.users_of(name):
                self.enqueue(name)
