"""All pending Workloads: the queues of ClusterQueues and LocalQueues, and what moves between them.

The core controllers tell what came, changed and went; the scheduler takes heads and gives back what
it could not admit. Whatever may let a head be admitted is told to those who called
``on_broadcast``. Upstream: pkg/cache/queue/manager.go. Left out: AdmissionFairSharing,
ConcurrentAdmission.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from fakekube.apimachinery.meta import ObjectKey, key_of
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.queues import second_pass
from fakekube_controllers.kueue.queues.cluster_queue import ClusterQueue, LocalQueueKey, local_queue_key
from fakekube_controllers.kueue.queues.cohorts import Cohorts
from fakekube_controllers.kueue.queues.inadmissible import (
    BATCH_PERIOD_SECONDS,
    LONG_BATCH_PERIOD_SECONDS,
    InadmissibleRequeuer,
)
from fakekube_controllers.kueue.queues.known import NOWHERE, KnownQueues, LocalQueue
from fakekube_controllers.kueue.queues.listeners import Listeners
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from fakekube_controllers.kueue.queues.second_pass import SecondPassQueue
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import Info, InfoOptions, Ordering

if TYPE_CHECKING:
    from fakekube.util.clock import Clock

class Objects(Protocol):
    """What the queues look up."""

    def workload(self, key: ObjectKey) -> ReadOnlyTree | None:
        """The newest state, with the requests that its pods would have."""

    def workloads_of(self, local_queue: LocalQueueKey) -> Sequence[ReadOnlyTree]:
        """All that name a LocalQueue, likewise."""

    def local_queues_of(self, cluster_queue: str) -> Sequence[ReadOnlyTree]:
        """All that name a ClusterQueue."""

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """Labels of a namespace; None if it is not there."""


class Queues(KnownQueues, Listeners):
    """``is_cluster_queue_active`` is the cache's word on whether a ClusterQueue may admit."""

    def __init__(
        self, clock: "Clock", objects: Objects, *, is_cluster_queue_active: Callable[[str], bool],
        options: InfoOptions, ordering: Ordering,
    ) -> None:
        KnownQueues.__init__(self)
        Listeners.__init__(self)
        self._clock, self._objects, self._is_active = clock, objects, is_cluster_queue_active
        self._options, self._ordering = options, ordering
        self._finished: dict[ObjectKey, LocalQueueKey] = {}
        self._cohorts = Cohorts()
        self._second_pass = SecondPassQueue()
        self._busy: dict[str, None] = {}  # ClusterQueues with something in the heap or inflight
        self._is_open = False
        long = options.features.SchedulerLongRequeueInterval
        self._requeuer = InadmissibleRequeuer(
            clock, self._cohorts, self._queue_inadmissible_workloads,
            LONG_BATCH_PERIOD_SECONDS if long else BATCH_PERIOD_SECONDS)

    def open(self) -> None:
        """Give heads from now on: all that has quota is known."""
        self._is_open = True
        self.broadcast()

    def close(self) -> None:
        """End everything that waits for time."""
        self._requeuer.close()
        self._second_pass.close()

    # -- queues and cohorts -----------------------------------------------------------------------

    def add_or_update_cohort(self, cohort: ReadOnlyTree) -> None:
        """Take a cohort, or a newer state of it."""
        name = cohort["metadata"]["name"]
        self._cohorts.set_parent(name, states.spec_of(cohort).get("parentName") or "")
        self._requeuer.notify_cohort(name)
        self.broadcast()

    def delete_cohort(self, name: str) -> None:
        """The object is gone; what names it still belongs together, and may be out of a circle."""
        self._cohorts.set_parent(name, "")
        self._requeuer.notify_cohort(name)
        self.broadcast()

    def add_cluster_queue(self, cluster_queue: ReadOnlyTree) -> None:
        """Take a ClusterQueue, and what waits for it in LocalQueues that were there before."""
        name = cluster_queue["metadata"]["name"]
        if name in self._cluster_queues:
            return
        made = self._cluster_queues[name] = ClusterQueue(cluster_queue, self._ordering, self._clock.time)
        self._cohorts.set_cohort(name, states.spec_of(cluster_queue).get("cohortName") or "")
        for local_queue in self._objects.local_queues_of(name):
            found = self._local_queues.get(key_of(local_queue))
            if found is not None:
                self._add_from_local_queue(made, found)
        self.notify_retry_inadmissible((name,))
        self.broadcast()

    def update_cluster_queue(self, cluster_queue: ReadOnlyTree, *, spec_updated: bool) -> None:
        """Take a newer state of a ClusterQueue."""
        name = cluster_queue["metadata"]["name"]
        found = self._cluster_queues.get(name)
        if found is None:
            return
        found.update(cluster_queue)
        self._cohorts.set_cohort(name, states.spec_of(cluster_queue).get("cohortName") or "")
        if spec_updated:
            self.notify_retry_inadmissible((name,))
        self.broadcast()

    def delete_cluster_queue(self, name: str) -> None:
        """A ClusterQueue is gone. What waited for it stays with its LocalQueues."""
        self._cluster_queues.pop(name, None)
        self._busy.pop(name, None)
        self._cohorts.set_cohort(name, "")

    def add_local_queue(self, local_queue: ReadOnlyTree) -> None:
        """Take a LocalQueue, and the Workloads that were there before."""
        key = key_of(local_queue)
        if key in self._local_queues:
            return
        made = self._local_queues[key] = LocalQueue(key, (local_queue.get("spec") or {}).get("clusterQueue", ""))
        for workload in self._objects.workloads_of(key):
            self._assigned[key_of(workload)] = key
            self._add_finished(workload)
            if states.is_admissible(workload, self._options.features):
                info = Info(workload, self._options)
                made.items[info.key] = info
        cluster_queue = self._cluster_queues.get(made.cluster_queue)
        if cluster_queue is not None and self._add_from_local_queue(cluster_queue, made):
            self.broadcast()

    def update_local_queue(self, local_queue: ReadOnlyTree) -> None:
        """Take a newer state of a LocalQueue."""
        found = self._local_queues.get(key_of(local_queue))
        name = (local_queue.get("spec") or {}).get("clusterQueue", "")
        if found is None or found.cluster_queue == name:
            return
        before, now = self._cluster_queues.get(found.cluster_queue), self._cluster_queues.get(name)
        if before is not None:
            self._delete_from_local_queue(before, found)
        found.cluster_queue = name
        if now is not None:
            self._add_from_local_queue(now, found)
            self.broadcast()

    def delete_local_queue(self, key: LocalQueueKey) -> None:
        """A LocalQueue is gone, or stopped: nothing of it is pending any more."""
        found = self._local_queues.pop(key, None)
        cluster_queue = self._cluster_queues.get(found.cluster_queue) if found is not None else None
        if found is not None and cluster_queue is not None:
            self._delete_from_local_queue(cluster_queue, found)

    def _add_from_local_queue(self, cluster_queue: ClusterQueue, local_queue: LocalQueue) -> bool:
        added = [cluster_queue.push_if_not_tracked(info) for info in local_queue.items.values()]
        cluster_queue.finished.update(local_queue.finished)
        cluster_queue.local_queues[local_queue.key] = None
        self._busy[cluster_queue.name] = None
        return any(added)

    def _delete_from_local_queue(self, cluster_queue: ClusterQueue, local_queue: LocalQueue) -> None:
        for key in local_queue.items:
            cluster_queue.delete(key)
        if cluster_queue.inflight is not None and local_queue_key(cluster_queue.inflight.obj) == local_queue.key:
            cluster_queue.delete(cluster_queue.inflight.key)  # the scheduler's, and in no LocalQueue
        for key in local_queue.finished:
            cluster_queue.finished.pop(key, None)
        cluster_queue.local_queues.pop(local_queue.key, None)

    # -- Workloads --------------------------------------------------------------------------------

    def add_or_update_workload(self, workload: ReadOnlyTree) -> bool:
        """Queue a Workload, or take a newer state of it; whether it is in a ClusterQueue now."""
        if not states.is_admissible(workload, self._options.features):
            return False
        key, queue_key = key_of(workload), local_queue_key(workload)
        if self._assigned.get(key, queue_key) != queue_key:
            self.delete_and_forget_workload(key)
        local_queue = self._local_queues.get(queue_key)
        if local_queue is None:
            return False
        info = Info(workload, self._options)
        cluster_queue = self._cluster_queues.get(local_queue.cluster_queue)
        if cluster_queue is not None:
            self._keep_scan_progress(cluster_queue, info)
        self._assigned[key] = queue_key
        local_queue.items[key] = info
        if cluster_queue is None:
            return False
        cluster_queue.push_or_update(info)
        self._busy[cluster_queue.name] = None
        self.broadcast()
        return True

    def _keep_scan_progress(self, cluster_queue: ClusterQueue, info: Info) -> None:
        """Let the next cycle go on where the last one stopped, although the object has changed."""
        if not self._options.features.FlavorFungibilityPreserveScanProgress:
            return
        tracked = cluster_queue.tracked_info(info.key)
        last = tracked.last_assignment if tracked is not None else None
        if last is not None and last.matches_scheduling_shape(info.scheduling_hash):
            info.last_assignment = last

    def requeue_workload(self, info: Info, reason: RequeueReason, quota_reserved_reason: str = "") -> bool:
        """Put back a head that was not admitted, as it is now; whether it is queued by this."""
        workload = self._objects.workload(info.key)
        if workload is None or not states.is_admissible(workload, self._options.features):
            return False
        local_queue = self._local_queues.get(local_queue_key(workload))
        if local_queue is None:
            return False
        info.update(workload, self._options)
        self._assigned[info.key] = local_queue.key
        local_queue.items[info.key] = info
        cluster_queue = self._cluster_queues.get(local_queue.cluster_queue)
        if cluster_queue is None:
            return False
        added = cluster_queue.requeue_if_not_present(info, reason, quota_reserved_reason)
        self._busy[cluster_queue.name] = None
        if added:
            self.broadcast()
        return added

    def delete_workload(self, key: ObjectKey) -> None:
        """A Workload does not wait any more."""
        local_queue = self._local_queues.get(self._assigned.get(key, NOWHERE))
        if local_queue is None:
            return
        local_queue.items.pop(key, None)
        cluster_queue = self._cluster_queues.get(local_queue.cluster_queue)
        if cluster_queue is not None:
            cluster_queue.delete(key)
        self._second_pass.delete(key)

    def delete_and_forget_workload(self, key: ObjectKey) -> None:
        """A Workload is gone, or in another queue."""
        self.delete_workload(key)
        self._assigned.pop(key, None)
        local_queue = self._local_queues.get(self._finished.pop(key, NOWHERE))
        if local_queue is not None:
            local_queue.finished.pop(key, None)
            cluster_queue = self._cluster_queues.get(local_queue.cluster_queue)
            if cluster_queue is not None:
                cluster_queue.finished.pop(key, None)

    def add_finished_workload(self, workload: ReadOnlyTree) -> None:
        """Count a Workload among the finished ones of its queues, if it is."""
        self._add_finished(workload)

    def _add_finished(self, workload: ReadOnlyTree) -> None:
        if not states.is_finished(workload):
            return
        key, queue_key = key_of(workload), local_queue_key(workload)
        self._finished[key] = queue_key
        local_queue = self._local_queues.get(queue_key)
        if local_queue is not None:
            local_queue.finished[key] = None
            cluster_queue = self._cluster_queues.get(local_queue.cluster_queue)
            if cluster_queue is not None:
                cluster_queue.finished[key] = None

    # -- heads ------------------------------------------------------------------------------------

    def heads(self) -> list[Info]:
        """Take the first Workload of every active ClusterQueue, and what needs a second pass.

        There is none before ``open``.
        """
        if not self._is_open:
            return []
        taken = self._second_pass.take_all_ready()
        for name in list(self._busy):
            cluster_queue = self._cluster_queues[name]
            if not self._is_active(name):
                continue
            info = cluster_queue.pop()
            if info is None:
                del self._busy[name]
                continue
            info.cluster_queue = name
            taken.append(info)
            local_queue = self._local_queues.get(self._assigned.get(info.key, NOWHERE))
            if local_queue is not None:
                local_queue.items.pop(info.key, None)
        return taken

    def queue_second_pass_if_needed(self, workload: ReadOnlyTree, iteration: int) -> bool:
        """Let the scheduler look at a Workload again, later each time; whether it will."""
        key = key_of(workload)
        if states.needs_second_pass(workload):
            if self._second_pass.is_prequeued(key):
                return False
            iteration += 1
            delay = second_pass.delay_seconds(iteration)
            timer = self._clock.call_later(delay, self._queue_second_pass, workload, iteration)
            self._second_pass.prequeue(key, timer)
            return True
        if iteration > 0:
            self._second_pass.delete(key)
        return False

    def delete_second_pass(self, key: ObjectKey) -> None:
        """A Workload needs no second pass any more."""
        self._second_pass.delete(key)

    def _queue_second_pass(self, workload: ReadOnlyTree, iteration: int) -> None:
        info = Info(workload, self._options)
        info.second_pass_iteration = iteration
        if self._second_pass.queue(info):
            self.broadcast()

    # -- what was tried in vain -------------------------------------------------------------------

    def queue_associated_inadmissible_workloads_after(
        self, key: ObjectKey, action: Callable[[], object] | None = None,
    ) -> None:
        """Do something that frees quota; what waits in the same tree of cohorts is tried again."""
        if action is not None:
            action()
        name = self.cluster_queue_from_local_queue(self._assigned.get(key, NOWHERE))
        if name is not None:
            self.notify_retry_inadmissible((name,))
        self.broadcast()  # what waits at the head of its queue may see the quota at once

    def notify_retry_inadmissible(self, cluster_queues: Iterable[str]) -> None:
        """Try again, in a second, what these ClusterQueues and all in their trees tried in vain."""
        for name in cluster_queues:
            if name in self._cluster_queues:
                self._requeuer.notify_cluster_queue(name)

    def _queue_inadmissible_workloads(self, names: Iterable[str]) -> None:
        """Move what these ClusterQueues tried in vain to where it is tried again."""
        moved = False
        for name in names:
            found = self._cluster_queues.get(name)
            if found is not None and found.queue_inadmissible_workloads(self._objects.namespace_labels):
                self._busy[name] = None
                moved = True
        if moved:
            self.broadcast()
