"""A cohort in the cache: what it has of its own, lends and borrows.

Upstream: pkg/cache/scheduler/cohort.go, and updateCohortResourceNode of resource_node.go.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.fair_sharing import DEFAULT_WEIGHT, parse_fair_weight
from fakekube_controllers.kueue.cache.hierarchy import ClusterQueueNode, CohortNode, root_of
from fakekube_controllers.kueue.cache.resource_node import ResourceNode, accumulate_from_child, create_resource_quotas

if TYPE_CHECKING:
    from fakekube_controllers.kueue.resources import FlavorResourceQuantities


class Leaf(ClusterQueueNode["Cohort"], ABC):
    """What a cohort knows of its ClusterQueues."""

    resource_node: ResourceNode
    admitted_workloads_count: int

    @abstractmethod
    def update_resource_node(self) -> None:
        """Count anew what there is."""


class Cohort(CohortNode[Leaf, "Cohort"]):
    """ClusterQueues, and other cohorts, that borrow from each other."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.resource_node = ResourceNode()
        self.fair_weight = DEFAULT_WEIGHT

    def update(self, cohort: ReadOnlyTree) -> None:
        """Take what the object says of quotas and weight."""
        spec: ReadOnlyTree = cohort.get("spec") or NOTHING
        self.fair_weight = parse_fair_weight(spec)
        self.resource_node.quotas = create_resource_quotas(spec.get("resourceGroups") or ())

    def update_tree(self) -> None:
        """Count anew what the whole tree has and uses; in a cycle nothing is admitted."""
        if not self.is_cyclic:
            root_of(self).update_resource_node()

    def update_resource_node(self) -> None:
        """Count anew what is below this cohort, and what it has of that."""
        node = self.resource_node
        subtree_quota: FlavorResourceQuantities = {fr: quota.nominal for fr, quota in node.quotas.items()}
        usage: FlavorResourceQuantities = {}
        for child in self.cohorts.values():
            child.update_resource_node()
            accumulate_from_child(subtree_quota, usage, child)
        for cluster_queue in self.cluster_queues.values():
            cluster_queue.update_resource_node()
            accumulate_from_child(subtree_quota, usage, cluster_queue)
        node.subtree_quota = subtree_quota
        node.replace_usage(usage)

    def admitted_workloads_count(self) -> int:
        """How many Workloads are admitted below; none where there is a cycle."""
        if self.is_cyclic:
            return 0
        return sum(child.admitted_workloads_count() for child in self.cohorts.values()) + sum(
            cluster_queue.admitted_workloads_count for cluster_queue in self.cluster_queues.values())
