"""Cohorts: cache and queues know the tree, and a status shows the share.

Upstream: pkg/controller/core/cohort_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.core.objects import write_status
from fakekube_controllers.kueue.names import COHORTS
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue


class CohortReconciler:
    """Reconciles one Cohort."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        self._cohorts = ctx.lister(COHORTS)
        watchers.of_cluster_queues.append(self._cluster_queue_changed)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow cohorts."""
        self.queue = queue
        self.ctx.add_handler(COHORTS, self._seen, self._update, self._add)

    def _seen(self, cohort: ReadOnlyTree) -> None:
        # at once: without it the quota of its tree would be another in the first cycle
        self._take(cohort)
        self._add(cohort)

    def _add(self, cohort: ReadOnlyTree) -> None:
        self.queue.add(Request("", meta.name_of(cohort)))

    def _take(self, cohort: ReadOnlyTree) -> None:
        self.kueue.cache.add_or_update_cohort(cohort)
        self.kueue.queues.add_or_update_cohort(cohort)

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if states.spec_of(old) != states.spec_of(new):
            self._add(new)

    def _cluster_queue_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        changed = new if new is not None else old
        assert changed is not None, "something changed"
        for name in self.kueue.cache.cluster_queue_ancestors(changed):
            self.queue.add(Request("", name))

    async def reconcile(self, request: Request) -> Result | None:
        """Take a cohort as it is now, and write its status. Raises APIError."""
        cohort = self._cohorts.get(*request)
        if cohort is None:
            self.kueue.cache.delete_cohort(request.name)
            self.kueue.queues.delete_cohort(request.name)
            return None
        self._take(cohort)
        status: Tree = {field: value for field, value in states.status_of(cohort).items() if field != "fairSharing"}
        if self.kueue.configuration.fair_sharing is not None:
            share = self.kueue.cache.cohort_share(request.name).rounded_weighted_share()
            status["fairSharing"] = {"weightedShare": share}
        await write_status(self.kueue.client, COHORTS, cohort, status)
        return None
