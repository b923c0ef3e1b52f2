"""ClusterQueues: cache and queues know them; their status says what they use, and why they do not
admit.

Changes of Workloads are written a second later, many of them at once. Upstream:
pkg/controller/core/clusterqueue_controller.go.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import NAMESPACES
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.cache.usage import UsageStats, cluster_queue_usage
from fakekube_controllers.kueue.core.finalizers import write_finalizer
from fakekube_controllers.kueue.core.objects import write_status
from fakekube_controllers.kueue.names import CLUSTER_QUEUES
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue


class ClusterQueueReconciler:
    """Reconciles one ClusterQueue."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        self.kueue, self.ctx, self._watchers = kueue, ctx, watchers
        watchers.of_workloads.append(self._workload_changed)
        watchers.of_flavors.append(self._flavor_changed)
        watchers.of_admission_checks.append(self._admission_check_changed)
        watchers.of_topologies.append(self._topology_changed)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow ClusterQueues, and the labels of namespaces."""
        self.queue = queue
        self.ctx.add_handler(CLUSTER_QUEUES, self._add, self._update, self._delete)
        self.ctx.add_handler(NAMESPACES, None, self._namespace_changed)

    # -- events -----------------------------------------------------------------------------------

    def _add(self, cluster_queue: ReadOnlyTree) -> None:
        name, objects = meta.name_of(cluster_queue), self.kueue.objects
        self.kueue.cache.add_cluster_queue(
            cluster_queue, objects.local_queues_of(name), objects.workloads_admitted_by(name))
        self.kueue.queues.add_cluster_queue(cluster_queue)
        self._watchers.cluster_queue_changed(None, cluster_queue)
        self.queue.add(Request("", name))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if not meta.is_deleting(new):
            self.kueue.cache.update_cluster_queue(new)
            self.kueue.queues.update_cluster_queue(new, spec_updated=old.get("spec") != new.get("spec"))
            self._watchers.cluster_queue_changed(old, new)
        self.queue.add(Request("", meta.name_of(new)))

    def _delete(self, cluster_queue: ReadOnlyTree) -> None:
        name = meta.name_of(cluster_queue)
        self.kueue.cache.delete_cluster_queue(name)
        self.kueue.queues.delete_cluster_queue(name)
        self._watchers.cluster_queue_changed(cluster_queue, None)

    def _namespace_changed(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        before, after = meta.labels_of(old), meta.labels_of(new)
        if before != after:
            matched = self.kueue.cache.matching_cluster_queues(before)
            matching = [name for name in self.kueue.cache.matching_cluster_queues(after) if name not in matched]
            self.kueue.queues.notify_retry_inadmissible(matching)

    def _workload_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        changed = [each for each in (old, new) if each is not None]
        if old is not None and new is not None and states.spec_of(old).get("queueName") == states.spec_of(new).get("queueName"):
            changed = [old]
        for workload in changed:
            if states.has_quota_reservation(workload):
                name = (states.admission(workload) or meta.EMPTY).get("clusterQueue", "")
            else:
                name, exists = self.kueue.queues.cluster_queue_for_workload(workload)
                name = name if exists else ""
            if name:
                self._write_soon((name,))

    def _flavor_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        if old is None or new is None:
            changed = new if old is None else old
            assert changed is not None, "something changed"
            self._write_soon(self.kueue.cache.cluster_queues_using_flavor(meta.name_of(changed)))

    def _admission_check_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        changed = old if old is not None else new
        assert changed is not None, "something changed"
        self._write_soon(self.kueue.cache.cluster_queues_using_admission_check(meta.name_of(changed)))

    def _topology_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        if old is not None and new is not None:
            return
        changed = new if old is None else old
        assert changed is not None, "something changed"
        using = self.kueue.cache.cluster_queues_using_topology(meta.name_of(changed))
        self._write_soon(using)
        if old is None:
            self.kueue.queues.notify_retry_inadmissible(using)
            self.kueue.queues.broadcast()

    def _write_soon(self, cluster_queues: Iterable[str]) -> None:
        for name in cluster_queues:
            self.queue.add_after(Request("", name), names.UPDATES_BATCH_PERIOD_SECONDS)

    # -- reconcile --------------------------------------------------------------------------------

    async def reconcile(self, request: Request) -> Result | None:
        """See to the finalizer, and write the status. Raises APIError."""
        name = request.name
        cluster_queue = self.kueue.objects.cluster_queues.get("", name)
        if cluster_queue is None:
            return None
        if not meta.is_deleting(cluster_queue):
            cluster_queue = await write_finalizer(
                self.kueue.client, CLUSTER_QUEUES, cluster_queue, wanted=True) or cluster_queue
        else:
            self.kueue.cache.terminate_cluster_queue(name)
            in_use = names.RESOURCE_IN_USE_FINALIZER in meta.finalizers_of(cluster_queue)
            if in_use and self.kueue.cache.cluster_queue_empty(name):
                await write_finalizer(self.kueue.client, CLUSTER_QUEUES, cluster_queue, wanted=False)
                return None
        await self._write_status(cluster_queue)
        return None

    async def _write_status(self, cluster_queue: ReadOnlyTree) -> None:
        name = meta.name_of(cluster_queue)
        pending, stats = self.kueue.queues.pending(name), cluster_queue_usage(self.kueue.cache, name)
        if pending is None or stats is None:
            return  # it was just removed
        status = self._status(cluster_queue, pending, stats)
        await write_status(self.kueue.client, CLUSTER_QUEUES, cluster_queue, status)

    def _status(self, cluster_queue: ReadOnlyTree, pending: int, stats: UsageStats) -> Tree:
        status: Tree = {
            **states.status_of(cluster_queue), **usage_fields(stats), "pendingWorkloads": pending,
            "conditions": [dict(each) for each in states.status_of(cluster_queue).get("conditions") or ()]}
        readiness = self.kueue.cache.cluster_queue_readiness(meta.name_of(cluster_queue))
        now = self.kueue.clock.time()
        set_active(status, cluster_queue, readiness.status == "True", readiness.reason, readiness.message, now)
        if self.kueue.configuration.fair_sharing is not None:
            status["fairSharing"] = {"weightedShare": stats.weighted_share}
        else:
            status.pop("fairSharing", None)
        return {field: value for field, value in status.items() if value != []}


def usage_fields(stats: UsageStats) -> Tree:
    """What a status says of usage."""
    return {
        "flavorsReservation": stats.reserved_resources, "flavorsUsage": stats.admitted_resources,
        "reservingWorkloads": stats.reserving_workloads, "admittedWorkloads": stats.admitted_workloads}


def set_active(status: Tree, queue: ReadOnlyTree, is_active: bool, reason: str, message: str, now: float) -> None:
    """Set the condition Active of a queue in its status. ``now``: Unix seconds."""
    conditions.set_condition(
        status["conditions"], "Active", "True" if is_active else "False", now=times.format_time(now), reason=reason,
        message=message, observed_generation=meta.generation_of(queue))
