"""What the spec of a ClusterQueue says, read once.

Upstream: clusterQueue.updateClusterQueue of pkg/cache/scheduler/clusterqueue.go.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery import labels
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.fair_sharing import DEFAULT_WEIGHT, parse_fair_weight
from fakekube_controllers.kueue.cache.resource_node import Quotas, ResourceGroup, create_resource_quotas, resource_groups
from fakekube_controllers.kueue.workload.admissionchecks import AdmissionChecks, admission_checks

NEVER = "Never"
MAY_STOP_SEARCH, TRY_NEXT_FLAVOR = "MayStopSearch", "TryNextFlavor"
BORROWING_OVER_PREEMPTION, PREEMPTION_OVER_BORROWING = "BorrowingOverPreemption", "PreemptionOverBorrowing"


class BorrowWithinCohort(NamedTuple):
    """Whether a preemptor may borrow, and up to which priority victims may be preempted then."""

    policy: str = NEVER
    max_priority_threshold: int | None = None


class Preemption(NamedTuple):
    """Whom Workloads of a ClusterQueue may preempt."""

    within_cluster_queue: str = NEVER
    reclaim_within_cohort: str = NEVER
    borrow_within_cohort: BorrowWithinCohort | None = None


class FlavorFungibility(NamedTuple):
    """When the search for a flavor goes on, and which of several is preferred."""

    when_can_borrow: str = MAY_STOP_SEARCH
    when_can_preempt: str = TRY_NEXT_FLAVOR
    preference: str = BORROWING_OVER_PREEMPTION


class ClusterQueueSpec(NamedTuple):
    """A ClusterQueue's spec; ``namespace_selector`` NOTHING selects no namespace."""

    cohort_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    quotas: Quotas = MappingProxyType({})
    preemption: Preemption = Preemption()
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    namespace_selector: Selector = labels.NOTHING
    admission_checks: AdmissionChecks = NOTHING
    fair_weight: float = DEFAULT_WEIGHT
    is_stopped: bool = False

    @property
    def flavors(self) -> list[str]:
        """All flavors, in order."""
        return [flavor for group in self.resource_groups for flavor in group.flavors]


def read(cluster_queue: ReadOnlyTree) -> ClusterQueueSpec:
    """The spec of a ClusterQueue. A selector that cannot be read selects nothing."""
    spec: ReadOnlyTree = cluster_queue.get("spec") or NOTHING
    groups = spec.get("resourceGroups") or ()
    try:
        selector = labels.from_label_selector(spec.get("namespaceSelector"))
    except labels.SelectorError:
        selector = labels.NOTHING
    return ClusterQueueSpec(
        cohort_name=spec.get("cohortName") or "",
        resource_groups=resource_groups(groups),
        quotas=create_resource_quotas(groups),
        preemption=_preemption(spec.get("preemption") or NOTHING),
        flavor_fungibility=_flavor_fungibility(spec.get("flavorFungibility") or NOTHING),
        namespace_selector=selector,
        admission_checks=admission_checks(cluster_queue),
        fair_weight=parse_fair_weight(spec),
        is_stopped=(spec.get("stopPolicy") or "None") != "None")


def _preemption(tree: Mapping[str, ReadOnlyTree]) -> Preemption:
    borrow = tree.get("borrowWithinCohort")
    return Preemption(
        str(tree.get("withinClusterQueue") or NEVER), str(tree.get("reclaimWithinCohort") or NEVER),
        None if borrow is None else BorrowWithinCohort(borrow.get("policy") or NEVER, borrow.get("maxPriorityThreshold")))


def _flavor_fungibility(tree: Mapping[str, str]) -> FlavorFungibility:
    default = FlavorFungibility()
    return FlavorFungibility(
        tree.get("whenCanBorrow") or default.when_can_borrow, tree.get("whenCanPreempt") or default.when_can_preempt,
        tree.get("preference") or default.preference)
