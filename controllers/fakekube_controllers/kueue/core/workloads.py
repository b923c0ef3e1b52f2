"""What events of Workloads mean to the cache and the queues.

A Workload that waits is in the queues, one with quota in the cache, one that has ended in neither.
Whatever frees quota lets others in its tree of cohorts try again. Upstream: the predicates of
pkg/controller/core/workload_controller.go. Left out: device claims, AdmissionFairSharing.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.workload import podsetcounts, reasons, states
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.features import Features
    from fakekube_controllers.kueue.manager import Kueue


class WorkloadEvents:
    """Handles them, and tells the watchers."""

    def __init__(self, kueue: "Kueue", watchers: "Watchers") -> None:
        self._kueue, self._watchers = kueue, watchers

    def add(self, workload: ReadOnlyTree) -> None:
        """One that is new to this run."""
        queues = self._kueue.queues
        if states.is_finished(workload):
            queues.add_finished_workload(workload)
        else:
            adjusted = self._kueue.objects.adjusted(workload)
            if states.is_admissible(workload, self._kueue.features):
                queues.add_or_update_workload(adjusted)
            else:
                self._kueue.cache.add_or_update_workload(adjusted)
                queues.queue_second_pass_if_needed(adjusted, 0)
        self._watchers.workload_changed(None, workload)

    def delete(self, workload: ReadOnlyTree) -> None:
        """One that is gone. The scheduler may have counted it although it was pending."""
        key = meta.key_of(workload)
        self._kueue.preemption_expectations.observed_uid(key, meta.uid_of(workload))
        self._kueue.queues.queue_associated_inadmissible_workloads_after(
            key, lambda: self._kueue.cache.delete_workload(key))
        self._kueue.queues.delete_and_forget_workload(key)
        self._watchers.workload_changed(workload, None)

    def update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        """One that has changed."""
        queues, cache, key = self._kueue.queues, self._kueue.cache, meta.key_of(new)
        before, now = states.status(old), states.status(new)
        workload = self._kueue.objects.adjusted(new)
        if now == states.FINISHED or not states.is_active(new):
            self._end(workload, before, now)
        elif before == now == states.PENDING:
            if states.is_on_hold(new):
                queues.delete_workload(key)
            else:
                queues.add_or_update_workload(workload)
                self._kueue.preemption_expectations.observed_uid(key, meta.uid_of(new))
        elif before == states.PENDING:
            queues.delete_workload(key)
            cache.add_or_update_workload(workload)
            queues.broadcast()
        elif now == states.PENDING:
            self._report_eviction_latency(old, new)
            queues.queue_associated_inadmissible_workloads_after(key, lambda: self._back_to_pending(workload))
        elif _frees_quota(old, new, self._kueue.features):
            queues.queue_associated_inadmissible_workloads_after(key, lambda: cache.add_or_update_workload(workload))
        else:
            cache.add_or_update_workload(workload)
            if _may_matter_to_others(old, new):
                queues.broadcast()
        queues.queue_second_pass_if_needed(workload, 0)
        self._watchers.workload_changed(old, new)

    def _end(self, workload: ReadOnlyTree, before: states.Status, now: states.Status) -> None:
        kueue, key = self._kueue, meta.key_of(workload)
        if now == states.FINISHED and before != states.FINISHED:
            kueue.metrics.finished(
                workload, expose_local_queue_metrics=kueue.should_expose_local_queue_metrics_for_workload(workload))
        kueue.queues.delete_workload(key)
        kueue.queues.add_finished_workload(workload)
        kueue.queues.queue_associated_inadmissible_workloads_after(key, lambda: kueue.cache.delete_workload(key))

    def _back_to_pending(self, workload: ReadOnlyTree) -> None:
        """Quota is free; the Workload waits again, unless it is to wait for its time first."""
        queues, key = self._kueue.queues, meta.key_of(workload)
        self._kueue.cache.delete_workload(key)
        self._kueue.preemption_expectations.observed_uid(key, meta.uid_of(workload))
        requeue_at = (states.status_of(workload).get("requeueState") or meta.EMPTY).get("requeueAt")
        if requeue_at is None or times.parse_time(requeue_at) <= self._kueue.clock.time():
            if not states.is_on_hold(workload):
                queues.add_or_update_workload(workload)
            queues.delete_second_pass(key)
        if not states.needs_second_pass(workload):
            queues.delete_second_pass(key)

    def _report_eviction_latency(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        evicted, admission = states.condition(new, reasons.EVICTED), states.admission(old)
        if evicted is not None and evicted["status"] == "True" and admission is not None:
            seconds = self._kueue.clock.time() - times.parse_time(evicted["lastTransitionTime"])
            self._kueue.metrics.observe(
                "workload_eviction_latency_seconds", seconds, admission["clusterQueue"], evicted["reason"])


def _frees_quota(old: ReadOnlyTree, new: ReadOnlyTree, features: "Features") -> bool:
    """Whether less is used, or less matters, than before."""
    if states.is_admitted(old) and states.is_admitted(new) and (
        states.status_of(old).get("reclaimablePods") != states.status_of(new).get("reclaimablePods")
    ):
        return True
    before, now = (podsetcounts.extract_pod_set_counts_from_workload(each) for each in (old, new))
    if features.ElasticJobsViaWorkloadSlices and podsetcounts.scaled_down(before, now):
        return True
    return priority_changed(old, new, features)


def _may_matter_to_others(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
    """Whether a head that waits for this one may see something else now."""
    types = (reasons.ADMITTED, reasons.EVICTED, reasons.PODS_READY)
    return any(states.is_true(old, type_) != states.is_true(new, type_) for type_ in types)


def priority_changed(old: ReadOnlyTree, new: ReadOnlyTree, features: "Features") -> bool:
    """Whether a Workload with a WorkloadPriorityClass has another, or another priority."""
    if states.is_pod_priority_class(old) or not states.is_workload_priority_class(new):
        return False
    name = states.priority_class_name(new)
    if name and name != states.priority_class_name(old):
        return True
    return effective_priority(old, features) != effective_priority(new, features)
