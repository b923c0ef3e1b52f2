"""LocalQueues: the queues know those that are not stopped, and their status shows what they use.

Upstream: pkg/controller/core/localqueue_controller.go. Left out: AdmissionFairSharing.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.cache.usage import UsageStats, local_queue_usage
from fakekube_controllers.kueue.core.cluster_queue import set_active, usage_fields
from fakekube_controllers.kueue.core.objects import write_status
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue

READY = (True, "Ready", "Can submit new workloads to localQueue")
STOPPED = (False, "Stopped", "LocalQueue is stopped")
INACTIVE_MESSAGE = "Can't submit new workloads to clusterQueue"
CLUSTER_QUEUE_INACTIVE = (False, "ClusterQueueIsInactive", INACTIVE_MESSAGE)
CLUSTER_QUEUE_MISSING = (False, "ClusterQueueDoesNotExist", INACTIVE_MESSAGE)
NOTHING = UsageStats([], 0, [], 0)


def is_stopped(queue: ReadOnlyTree) -> bool:
    """Whether a ClusterQueue or LocalQueue is to admit nothing."""
    return stop_policy(queue) != "None"


def stop_policy(queue: ReadOnlyTree) -> str:
    """``None``, ``Hold`` or ``HoldAndDrain``."""
    return states.spec_of(queue).get("stopPolicy") or "None"


class LocalQueueReconciler:
    """Reconciles one LocalQueue."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        watchers.of_workloads.append(self._workload_changed)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow LocalQueues, and the conditions of ClusterQueues."""
        self.queue = queue
        self.ctx.add_handler(LOCAL_QUEUES, self._add, self._update, self._delete)
        self.ctx.add_handler(CLUSTER_QUEUES, self._of_cluster_queue, self._cluster_queue_updated, self._of_cluster_queue)

    # -- events -----------------------------------------------------------------------------------

    def _add(self, local_queue: ReadOnlyTree) -> None:
        if not is_stopped(local_queue):
            self.kueue.queues.add_local_queue(local_queue)
        self.kueue.cache.add_local_queue(local_queue)
        self.queue.add(Request(*meta.key_of(local_queue)))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        before, after = stop_policy(old), stop_policy(new)
        if before == after:
            if after == "None":
                self.kueue.queues.update_local_queue(new)
            self.kueue.cache.update_local_queue(old, new)
        elif after == "None":
            self.kueue.cache.update_local_queue(old, new)
            self.kueue.queues.add_local_queue(new)
        else:
            self.kueue.queues.delete_local_queue(meta.key_of(old))
        self.queue.add(Request(*meta.key_of(new)))

    def _delete(self, local_queue: ReadOnlyTree) -> None:
        self.kueue.queues.delete_local_queue(meta.key_of(local_queue))
        self.kueue.cache.delete_local_queue(local_queue)

    def _of_cluster_queue(self, cluster_queue: ReadOnlyTree) -> None:
        for local_queue in self.kueue.objects.local_queues_of(meta.name_of(cluster_queue)):
            self.queue.add(Request(*meta.key_of(local_queue)))

    def _cluster_queue_updated(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if states.status_of(old).get("conditions") != states.status_of(new).get("conditions"):
            self._of_cluster_queue(new)

    def _workload_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        first = old if old is not None else new
        assert first is not None, "something changed"
        self._write_soon(first)
        if old is not None and new is not None and (
            states.spec_of(old).get("queueName") != states.spec_of(new).get("queueName")
        ):
            self._write_soon(new)

    def _write_soon(self, workload: ReadOnlyTree) -> None:
        request = Request(meta.namespace_of(workload), states.spec_of(workload).get("queueName", ""))
        self.queue.add_after(request, names.UPDATES_BATCH_PERIOD_SECONDS)

    # -- reconcile --------------------------------------------------------------------------------

    async def reconcile(self, request: Request) -> Result | None:
        """Write the status. Raises APIError."""
        local_queue = self.kueue.objects.local_queues.get(*request)
        if local_queue is None:
            return None
        cluster_queue = self.kueue.objects.cluster_queues.get("", states.spec_of(local_queue).get("clusterQueue", ""))
        usage = local_queue_usage(self.kueue.cache, local_queue)
        if is_stopped(local_queue):
            active = STOPPED
        elif cluster_queue is None:
            active, usage = CLUSTER_QUEUE_MISSING, NOTHING
        else:
            active = READY if meta.is_condition_true(cluster_queue, "Active") else CLUSTER_QUEUE_INACTIVE
        pending = 0 if is_stopped(local_queue) else self.kueue.queues.pending_workloads(meta.key_of(local_queue))
        if pending is None:
            return None  # it was just removed
        status: Tree = {
            **states.status_of(local_queue), **usage_fields(usage), "pendingWorkloads": pending,
            "conditions": [dict(each) for each in states.status_of(local_queue).get("conditions") or ()]}
        set_active(status, local_queue, *active, self.kueue.clock.time())
        status = {field: value for field, value in status.items() if value != []}
        await write_status(self.kueue.client, LOCAL_QUEUES, local_queue, status)
        return None
