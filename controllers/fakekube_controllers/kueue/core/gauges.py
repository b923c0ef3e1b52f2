"""Metrics that show how things stand: they are asked of queues and cache when somebody reads them.

Upstream keeps them up to date at each change: pkg/cache/queue/metrics.go,
pkg/cache/scheduler/clusterqueue_metrics.go, cohort_metrics.go, unadmitted_workloads.go.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube_controllers.kueue.cache.clusterqueue import ACTIVE, PENDING, TERMINATING, ClusterQueue
from fakekube_controllers.kueue.resources import UNLIMITED, FlavorResource
from fakekube_controllers.kueue.workload import reasons, states

if TYPE_CHECKING:
    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube_controllers.kueue.manager import Kueue

STATUSES, CONDITION_STATUSES = (PENDING, ACTIVE, TERMINATING), ("True", "False", "Unknown")


def amount(name: str, whole: int | None) -> float:
    """An amount as a number of units; None and what has no limit are infinite."""
    if whole is None or whole == UNLIMITED:
        return math.inf
    return whole / 1000 if name == "cpu" else float(whole)


class Gauges:
    """Sets them; they are those of one run."""

    def __init__(self, kueue: "Kueue") -> None:
        self._kueue, self._metrics = kueue, kueue.metrics
        self._has_ended = False
        self._end_reading = kueue.ctx.metrics.before_reading(self.set)
        kueue.ctx.on_close(self._end)
        self._shows_resources = kueue.configuration.metrics.enable_cluster_queue_resources
        self._is_fair = kueue.configuration.fair_sharing is not None

    def _end(self) -> None:
        self._has_ended = True
        self._end_reading()

    def set(self) -> None:
        """Set all of them, and forget queues that are gone."""
        self._metrics.clear_gauges()
        if self._has_ended:
            return
        for name, cluster_queue in self._kueue.cache.hm.cluster_queues.items():
            self._set_cluster_queue(name, cluster_queue)
        for local_queue in self._kueue.objects.local_queues.list():
            if self._kueue.should_expose_local_queue_metrics(local_queue):
                self._set_local_queue(local_queue)
        if self._kueue.features.MetricsForCohorts:
            self._set_cohorts()
        if self._kueue.features.UnadmittedWorkloadsObservability:
            self._set_unadmitted()

    def _set_cluster_queue(self, name: str, found: ClusterQueue) -> None:
        put, queue = self._metrics.set, self._kueue.queues.cluster_queue(name)
        active, inadmissible = (queue.pending_active, queue.pending_inadmissible) if queue is not None else (0, 0)
        if found.status != ACTIVE:
            active, inadmissible = 0, active + inadmissible
        put("pending_workloads", active, name, "active")
        put("pending_workloads", inadmissible, name, "inadmissible")
        put("finished_workloads", len(queue.finished) if queue is not None else 0, name)
        put("reserving_active_workloads", len(found.workloads), name)
        put("admitted_active_workloads", found.admitted_workloads_count, name)
        for status in STATUSES:
            put("cluster_queue_status", status == found.status, name, status)
        cohort = found.parent_cohort.name if found.parent_cohort is not None else ""
        if self._kueue.features.MetricsForCohorts:
            put("cluster_queue_info", 1, name, cohort, self._root_of(cohort))
        if self._shows_resources:
            self._set_resources(name, cohort, found)

    def _set_resources(self, name: str, cohort: str, found: ClusterQueue) -> None:
        put, queue = self._metrics.set, self._kueue.queues.cluster_queue(name)
        for fr, quota in found.resource_node.quotas.items():
            of = (cohort, name, fr.flavor, fr.resource)
            put("cluster_queue_nominal_quota", amount(fr.resource, quota.nominal), *of)
            put("cluster_queue_borrowing_limit", amount(fr.resource, quota.borrowing_limit), *of)
            put("cluster_queue_lending_limit", amount(fr.resource, quota.lending_limit), *of)
            put("cluster_queue_resource_reservation", amount(fr.resource, found.resource_node.usage.get(fr, 0)), *of)
            put("cluster_queue_resource_usage", amount(fr.resource, found.admitted_usage.get(fr, 0)), *of)
        pending = queue.pending_resources() if queue is not None else {}
        for resource in dict.fromkeys([*(fr.resource for fr in found.resource_node.quotas), *pending]):
            put("cluster_queue_resource_pending", amount(resource, pending.get(resource, 0)), name, resource)
        if self._is_fair:
            share = self._kueue.cache.cluster_queue_share(name).precise_weighted_share()
            put("cluster_queue_weighted_share", math.nan if math.isinf(share) else share, name, cohort)

    def _set_local_queue(self, local_queue: "ReadOnlyTree") -> None:
        put, key = self._metrics.set, meta.key_of(local_queue)
        name, cluster_queue = (key.name, key.namespace), states.spec_of(local_queue).get("clusterQueue", "")
        queue, found = self._kueue.queues.cluster_queue(cluster_queue), self._kueue.queues.local_queue(key)
        active, inadmissible = queue.pending_in_local_queue(key) if queue is not None and found is not None else (0, 0)
        if not self._kueue.cache.cluster_queue_active(cluster_queue):
            active, inadmissible = 0, active + inadmissible
        put("local_queue_pending_workloads", active, *name, "active")
        put("local_queue_pending_workloads", inadmissible, *name, "inadmissible")
        put("local_queue_finished_workloads", len(found.finished) if found is not None else 0, *name)
        condition = meta.find_condition(local_queue, "Active")
        if condition is not None:
            for status in CONDITION_STATUSES:
                put("local_queue_status", status == condition["status"], *name, status)
        counted = self._kueue.cache.local_queue(cluster_queue, key)
        if counted is not None:
            put("local_queue_reserving_active_workloads", counted.reserving_workloads, *name)
            put("local_queue_admitted_active_workloads", counted.admitted_workloads, *name)
            for fr in self._flavor_resources(cluster_queue):
                reserved, used = counted.total_reserved.get(fr, 0), counted.admitted_usage.get(fr, 0)
                put("local_queue_resource_reservation", amount(fr.resource, reserved), *name, fr.flavor, fr.resource)
                put("local_queue_resource_usage", amount(fr.resource, used), *name, fr.flavor, fr.resource)

    def _flavor_resources(self, cluster_queue: str) -> Iterable[FlavorResource]:
        found = self._kueue.cache.hm.cluster_queues.get(cluster_queue)
        return found.resource_node.quotas if found is not None else ()

    def _root_of(self, cohort: str) -> str:
        found = self._kueue.cache.hm.cohorts.get(cohort)
        while found is not None and not found.is_cyclic and found.parent_cohort is not None:
            found = found.parent_cohort
        return found.name if found is not None and not found.is_cyclic else ""

    def _set_cohorts(self) -> None:
        put = self._metrics.set
        for name, cohort in self._kueue.cache.hm.cohorts.items():
            if cohort.is_cyclic:
                continue
            parent = cohort.parent_cohort.name if cohort.parent_cohort is not None else ""
            put("cohort_info", 1, name, parent, self._root_of(name))
            put("cohort_subtree_admitted_active_workloads", cohort.admitted_workloads_count(), name)
            for fr, quota in cohort.resource_node.subtree_quota.items():
                put("cohort_subtree_quota", amount(fr.resource, quota), name, fr.flavor, fr.resource)
                used = cohort.resource_node.usage.get(fr, 0)
                put("cohort_subtree_resource_reservations", amount(fr.resource, used), name, fr.flavor, fr.resource)
            if self._is_fair:
                put("cohort_weighted_share", self._kueue.cache.cohort_share(name).precise_weighted_share(), name)

    def _set_unadmitted(self) -> None:
        counts: dict[tuple[str, str, str, str, str], int] = {}
        for workload in self._kueue.objects.workloads.list():
            if states.is_admitted(workload) or states.is_finished(workload) or meta.is_deleting(workload):
                continue
            admitted, reserved = (states.condition(workload, type_) for type_ in (reasons.ADMITTED, reasons.QUOTA_RESERVED))
            reason = admitted["reason"] if admitted is not None else reasons.NO_RESERVATION
            cause = reasons.PENDING_EVALUATION
            if reserved is not None:
                cause = "" if reserved["status"] == "True" else reserved["reason"]
            cluster_queue, _ = self._kueue.queues.cluster_queue_for_workload(workload)
            of = (states.spec_of(workload).get("queueName", ""), meta.namespace_of(workload), cluster_queue, reason, cause)
            counts[of] = counts.get(of, 0) + 1
        totals: dict[tuple[str, str, str], int] = {}
        for of, count in counts.items():
            if of[2]:
                self._metrics.set("local_queue_unadmitted_workloads", count, *of)
                totals[of[2:]] = totals.get(of[2:], 0) + count
        for total_of, count in totals.items():
            self._metrics.set("unadmitted_workloads", count, *total_of)
