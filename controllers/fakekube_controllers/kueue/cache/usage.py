"""The figures of usage that stand in the status of queues and cohorts.

Upstream: Usage, LocalQueueUsage and CohortStats of pkg/cache/scheduler/cache.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import ClusterQueue
from fakekube_controllers.kueue.cache.resource_node import NO_QUOTA
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, resource_quantity, subtract


class UsageStats(NamedTuple):
    """Of a queue: ``flavorsReservation`` and ``flavorsUsage`` of its status, and how many Workloads
    they are of. ``weighted_share`` is that of a ClusterQueue's status.
    """

    reserved_resources: list[Tree]
    reserving_workloads: int
    admitted_resources: list[Tree]
    admitted_workloads: int
    weighted_share: int = 0


def cluster_queue_usage(cache: Cache, name: str) -> UsageStats | None:
    """Those of a ClusterQueue; None if it is not there."""
    found = cache.hm.cluster_queues.get(name)
    if found is None:
        return None
    return UsageStats(
        _flavors(found, found.resource_node.usage, with_borrowed=True), len(found.workloads),
        _flavors(found, found.admitted_usage, with_borrowed=True), found.admitted_workloads_count,
        cache.cluster_queue_share(name).rounded_weighted_share())


def local_queue_usage(cache: Cache, local_queue: ReadOnlyTree) -> UsageStats:
    """Those of a LocalQueue; nothing without its ClusterQueue."""
    cluster_queue = cache.hm.cluster_queues.get((local_queue.get("spec") or meta.EMPTY).get("clusterQueue", ""))
    found = cluster_queue.local_queues.get(meta.key_of(local_queue)) if cluster_queue is not None else None
    if cluster_queue is None or found is None:
        return UsageStats([], 0, [], 0)
    return UsageStats(
        _flavors(cluster_queue, found.total_reserved, with_borrowed=False), found.reserving_workloads,
        _flavors(cluster_queue, found.admitted_usage, with_borrowed=False), found.admitted_workloads)


def _flavors(cluster_queue: ClusterQueue, usage: FlavorResourceQuantities, *, with_borrowed: bool) -> list[Tree]:
    """All flavors of the spec in order, with their resources by name, used or not."""
    result: list[Tree] = []
    borrows = with_borrowed and cluster_queue.parent_cohort is not None
    for group in cluster_queue.spec.resource_groups:
        for flavor in group.flavors:
            resources = []
            for name in sorted(group.covered_resources):
                fr = FlavorResource(flavor, name)
                used = usage.get(fr, 0)
                entry = {"name": name, "total": resource_quantity(name, used)}
                if with_borrowed:
                    nominal = cluster_queue.resource_node.quotas.get(fr, NO_QUOTA).nominal
                    borrowed = max(0, subtract(used, nominal)) if borrows else 0
                    entry["borrowed"] = resource_quantity(name, borrowed)
                resources.append(entry)
            result.append({"name": flavor, "resources": resources})
    return result
