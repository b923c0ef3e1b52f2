"""The pending Workloads of one ClusterQueue. Upstream: pkg/cache/queue/cluster_queue.go.

Each is in exactly one place: the heap, from which the scheduler takes the first; ``inflight``,
while it is being scheduled; or ``inadmissible``, when it was tried in vain and nothing has changed
since. Left out: ConcurrentAdmission, what is held back for resource claims.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from fakekube.apimachinery import labels, times
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.queues.heap import Heap, Order
from fakekube_controllers.kueue.queues.requeue_reason import IMMEDIATE, STICKY, WHOLE_CLASS, RequeueReason
from fakekube_controllers.kueue.workload import reasons, states
from fakekube_controllers.kueue.workload.info import Info, Ordering, effective_priority
from fakekube_controllers.kueue.workload.scheduling_hash import SCHEDULING_HASH_UNKNOWN

if TYPE_CHECKING:
    from fakekube.apimachinery.labels import Selector

BEST_EFFORT_FIFO, STRICT_FIFO = "BestEffortFIFO", "StrictFIFO"
NEVER = -1

LocalQueueKey = ObjectKey
NamespaceLabels = Callable[[str], Mapping[str, str] | None]


class ClusterQueue:
    """``now`` tells the time in Unix seconds."""

    def __init__(self, cluster_queue: ReadOnlyTree, ordering: Ordering, now: Callable[[], float]) -> None:
        self._ordering, self._now = ordering, now
        self.heap = Heap(self._order)
        self.inadmissible: dict[ObjectKey, Info] = {}
        self.inflight: Info | None = None
        self.finished: dict[ObjectKey, None] = {}
        self.local_queues: dict[LocalQueueKey, None] = {}
        self.hash_to_bulk_move_reason: dict[str, str] = {}
        self._sticky: ObjectKey | None = None
        self._pop_cycle, self._queue_inadmissible_cycle = 0, NEVER
        self.update(cluster_queue)

    def update(self, cluster_queue: ReadOnlyTree) -> None:
        """Take a newer state of the object."""
        spec = states.spec_of(cluster_queue)
        self.name: str = cluster_queue["metadata"]["name"]
        self.strategy: str = spec.get("queueingStrategy") or BEST_EFFORT_FIFO
        self.namespace_selector: Selector = labels.from_label_selector(spec.get("namespaceSelector"))
        self.active = states.is_true(cluster_queue, "Active")

    @property
    def is_best_effort(self) -> bool:
        """Whether a head that does not fit lets the next one try."""
        return self.strategy == BEST_EFFORT_FIFO

    # -- order ----------------------------------------------------------------------------------

    def _order(self, info: Info) -> Order:
        if info.order is None:
            obj = info.obj
            info.order = (
                -effective_priority(obj, self._ordering.features), self._ordering.queue_order_timestamp(obj),
                obj["metadata"].get("uid", ""))
        return info.order

    def snapshot(self) -> list[Info]:
        """All that are pending, in the order of the queue."""
        sticky = self._sticky
        return sorted(self._all(), key=lambda info: (info.key != sticky, self._order(info)))

    def _all(self) -> Iterator[Info]:
        yield from self.heap
        yield from self.inadmissible.values()
        if self.inflight is not None:
            yield self.inflight

    # -- what is pending ------------------------------------------------------------------------

    @property
    def pending_active(self) -> int:
        """How many are in the heap or being scheduled."""
        return len(self.heap) + (self.inflight is not None)

    @property
    def pending_inadmissible(self) -> int:
        """How many wait for something to change."""
        return len(self.inadmissible)

    @property
    def pending_total(self) -> int:
        """Both."""
        return self.pending_active + self.pending_inadmissible

    def pending_in_local_queue(self, key: LocalQueueKey) -> tuple[int, int]:
        """The active and the inadmissible ones of a LocalQueue."""
        inadmissible = sum(local_queue_key(info.obj) == key for info in self.inadmissible.values())
        return sum(local_queue_key(info.obj) == key for info in self._all()) - inadmissible, inadmissible

    def pending_resources(self) -> dict[str, int]:
        """What they request together."""
        total: dict[str, int] = {}
        for info in self._all():
            for podset in info.total_requests:
                for name, amount in podset.requests.items():
                    total[name] = total.get(name, 0) + amount
        return total

    def tracked_info(self, key: ObjectKey) -> Info | None:
        """What is known of a pending Workload."""
        found = self.heap.get(key) or self.inadmissible.get(key)
        return self.inflight if found is None and self._is_inflight(key) else found

    def get_no_fit_reason(self, key: ObjectKey) -> str | None:
        """Why one of its shape did not fit, if that is why it is not tried."""
        info = self.inadmissible.get(key)
        if info is None or not self.hash_to_bulk_move_reason:
            return None
        return self.hash_to_bulk_move_reason.get(info.scheduling_hash)

    def _is_inflight(self, key: ObjectKey) -> bool:
        return self.inflight is not None and self.inflight.key == key

    # -- what comes and goes ----------------------------------------------------------------------

    def push_if_not_tracked(self, info: Info) -> bool:
        """Take a Workload that is not pending already; whether it may be tried now.

        One that backs off goes on to do so. Upstream forgets that when it starts again, or when a
        LocalQueue goes to another ClusterQueue.
        """
        if self._is_inflight(info.key) or info.key in self.inadmissible:
            return False
        if not self.backoff_waiting_time_expired(info) and self.heap.get(info.key) is None:
            self.inadmissible[info.key] = info
            return False
        return self.heap.push_if_not_present(info)

    def push_or_update(self, info: Info) -> None:
        """Take a Workload, or a newer state of it.

        One that was tried in vain is tried again only if what decides about it has changed.
        """
        key = info.key
        if self._is_inflight(key):
            return  # the scheduler puts it back as it is then
        known = self.inadmissible.get(key)
        if known is not None:
            if not _may_be_admissible_now(known, info):
                self.inadmissible[key] = info
                return
            del self.inadmissible[key]
        if self.heap.get(key) is None:
            if not self.backoff_waiting_time_expired(info):
                self.inadmissible[key] = info
                return
            if self.is_best_effort and self.hash_to_bulk_move_reason and (
                info.scheduling_hash in self.hash_to_bulk_move_reason
            ):
                self.inadmissible[key] = info
                return
        self.heap.push_or_update(info)

    def delete(self, key: ObjectKey) -> None:
        """Forget a Workload."""
        self.inadmissible.pop(key, None)
        self.heap.delete(key)
        self._forget_inflight(key)
        if self._sticky == key:
            self._sticky = None

    def _forget_inflight(self, key: ObjectKey) -> None:
        if self._is_inflight(key):
            self.inflight = None

    def pop(self) -> Info | None:
        """Take the first for the scheduler; None if there is none."""
        self._pop_cycle += 1
        sticky = self.heap.delete(self._sticky) if self._sticky is not None else None
        self.inflight = sticky or self.heap.pop()
        if self.inflight is not None:
            self.inflight.last_evaluated_generation = self.inflight.obj["metadata"].get("generation", 0)
        return self.inflight

    # -- what was tried in vain -------------------------------------------------------------------

    def requeue_if_not_present(self, info: Info, reason: RequeueReason, quota_reserved_reason: str) -> bool:
        """Put a head back that was not admitted; whether it is in another place now."""
        key = info.key
        if self.is_best_effort:
            immediate = reason in IMMEDIATE
            if reason in STICKY:
                self._sticky = key
        else:
            immediate = reason != RequeueReason.NAMESPACE_MISMATCH
        self._forget_inflight(key)
        if self.backoff_waiting_time_expired(info) and (
            immediate or self._queue_inadmissible_cycle >= self._pop_cycle
            or (info.last_assignment is not None and info.last_assignment.pending_flavors())
        ):
            known = self.inadmissible.get(key)
            return self._to_heap(known) if known is not None else self.push_if_not_tracked(info)
        if key in self.inadmissible or self.heap.get(key) is not None:
            return False
        self.inadmissible[key] = info
        if reason in WHOLE_CLASS and self.is_best_effort and info.scheduling_hash != SCHEDULING_HASH_UNKNOWN:
            self._bulk_move(info.scheduling_hash, quota_reserved_reason or reasons.PENDING_EVALUATION)
        return True

    def _bulk_move(self, scheduling_hash: str, reason: str) -> None:
        """What has the same shape need not be tried either."""
        self.hash_to_bulk_move_reason[scheduling_hash] = reason
        for info in self.heap:
            if info.scheduling_hash == scheduling_hash:
                self.heap.delete(info.key)
                self.inadmissible[info.key] = info

    def _to_heap(self, info: Info) -> bool:
        if not self.heap.push_if_not_present(info):
            return False
        del self.inadmissible[info.key]
        return True

    def queue_inadmissible_workloads(self, labels_of_namespace: NamespaceLabels) -> int:
        """Let those that were tried in vain try again, as far as they may; how many those are."""
        self._queue_inadmissible_cycle = self._pop_cycle
        self.hash_to_bulk_move_reason.clear()
        allowed: dict[str, bool] = {}
        moved = 0
        for info in list(self.inadmissible.values()):
            namespace = info.obj["metadata"]["namespace"]
            if namespace not in allowed:
                found = labels_of_namespace(namespace)
                allowed[namespace] = found is not None and self.namespace_selector.matches(found)
            if allowed[namespace] and self.backoff_waiting_time_expired(info):
                moved += self._to_heap(info)
        return moved

    def backoff_waiting_time_expired(self, info: Info) -> bool:
        """Whether nothing says that it is to wait."""
        if info.not_before is None:
            info.not_before = _not_before(info.obj)
        return not info.not_before or self._now() >= info.not_before


def _not_before(workload: ReadOnlyTree) -> float:
    """From when on a Workload may be tried, in Unix seconds: 0 for at once, infinite for not before
    it changes.
    """
    requeued = states.condition(workload, reasons.REQUEUED)
    if requeued is not None and requeued["status"] == "False":
        return math.inf
    requeue_at = (states.status_of(workload).get("requeueState") or {}).get("requeueAt")
    return times.parse_time(requeue_at) if requeue_at else 0.0


def local_queue_key(workload: ReadOnlyTree) -> LocalQueueKey:
    """Namespace and name of the LocalQueue of a Workload."""
    return LocalQueueKey(workload["metadata"]["namespace"], states.spec_of(workload).get("queueName", ""))


def _may_be_admissible_now(known: Info, info: Info) -> bool:
    """Whether what decides about a Workload has changed since it was tried."""
    old, new = known.obj, info.obj
    evaluated = known.last_evaluated_generation
    if evaluated and evaluated != new["metadata"].get("generation", 0):
        return True
    if old["spec"] != new["spec"] or known.total_requests != info.total_requests:
        return True
    if states.status_of(old).get("reclaimablePods") != states.status_of(new).get("reclaimablePods"):
        return True
    if any(states.condition(old, type_) != states.condition(new, type_) for type_ in (reasons.EVICTED, reasons.REQUEUED)):
        return True
    return states.has_closed_preemption_gate(old) != states.has_closed_preemption_gate(new)
