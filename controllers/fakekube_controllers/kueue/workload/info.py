"""A Workload as queues, cache and scheduler see it: what its podsets request, and in which flavors.

Upstream: pkg/workload/workload.go (Info, PodSetResources, AssignmentClusterQueueState, Ordering),
usage.go, pkg/util/priority. Left out: resources that resource claims stand for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fakekube.apimachinery import conditions, meta, strconv, times
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names, resources
from fakekube_controllers.kueue.configuration import Configuration, ResourceTransformation
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, Requests
from fakekube_controllers.kueue.topology.assignments import domains_of
from fakekube_controllers.kueue.workload.podrequests import pod_set_requests
from fakekube_controllers.kueue.workload.scheduling_hash import SCHEDULING_HASH_UNKNOWN, scheduling_hash


class InfoOptions(NamedTuple):
    """What Infos depend on besides their Workloads: gates, ``resources`` of the configuration."""

    features: Features = Features()
    excluded_resource_prefixes: Sequence[str] = ()
    resource_transformations: Mapping[str, ResourceTransformation] = NOTHING
    """By the resource that they take."""


def info_options(configuration: Configuration) -> InfoOptions:
    """Those of a configuration."""
    found = configuration.resources
    return InfoOptions(
        configuration.features, found.exclude_resource_prefixes, {each.input: each for each in found.transformations})


@dataclass(frozen=True, slots=True)
class TopologyDomainRequests:
    """So many pods of one podset in one domain of a topology."""

    values: Sequence[str]
    single_pod_requests: Requests
    count: int

    @property
    def total_requests(self) -> Requests:
        """What all of them request."""
        return {name: resources.multiply(amount, self.count) for name, amount in self.single_pod_requests.items()}


class TopologyRequest(NamedTuple):
    """In which domains the pods of a podset are."""

    levels: Sequence[str]
    domain_requests: Sequence[TopologyDomainRequests]


TASUsage = dict[str, list[TopologyDomainRequests]]
"""By flavor."""


class Usage(NamedTuple):
    """What a Workload takes: of quotas, and of domains of topologies."""

    quota: FlavorResourceQuantities
    tas: TASUsage | None = None


@dataclass(frozen=True, slots=True)
class PodSetResources:
    """What the pods of one podset request together, and the flavors that they are assigned."""

    name: str
    requests: Requests
    count: int
    flavors: Mapping[str, str] = field(default_factory=dict)  # by resource
    topology_request: TopologyRequest | None = None
    delayed_topology_request: str | None = None

    def single_pod_requests(self) -> Requests:
        """What one of the pods requests."""
        return resources.scaled(self.requests, self.count, 1)

    def scaled_to(self, new_count: int) -> "PodSetResources":
        """The same for another number of pods; itself when its pods have their domains."""
        if self.topology_request is not None or not self.count or self.count == new_count:
            return self
        return replace(self, requests=resources.scaled(self.requests, self.count, new_count), count=new_count)


@dataclass(slots=True)
class AssignmentClusterQueueState:
    """Which flavors the last attempt got to, so that the next goes on from there.

    ``last_tried_flavor_idx`` has a map a podset: by resource the index of the flavor that was tried
    last, -1 when all were.
    """

    last_tried_flavor_idx: list[dict[str, int]]
    cluster_queue_generation: int = 0
    scheduling_cycle: int = 0
    scheduling_hash: str = ""

    def matches_scheduling_shape(self, current: str) -> bool:
        """Whether the Workload still is what it was; a hash that is not known says nothing."""
        return SCHEDULING_HASH_UNKNOWN in (self.scheduling_hash, current) or self.scheduling_hash == current

    def pending_flavors(self) -> bool:
        """Whether the last attempt left flavors untried."""
        return any(index != -1 for tried in self.last_tried_flavor_idx for index in tried.values())

    def next_flavor_to_try(self, podset: int, resource: str) -> int:
        """The index of the flavor to begin with, for a resource of the podset of that index."""
        if podset >= len(self.last_tried_flavor_idx):
            return 0
        return self.last_tried_flavor_idx[podset].get(resource, -1) + 1


class Info:
    """A Workload with what follows from it.

    ``cluster_queue`` is set by the queues, or is that of the admission. ``total_requests`` is in
    the order of the podsets. ``last_evaluated_generation`` is that of the Workload when the
    scheduler took it. ``order`` and ``not_before`` are for the queue that it waits in: what it
    found of the Workload as it is, None before it looked.
    """

    __slots__ = (
        "_features", "_hash", "cluster_queue", "eviction_order", "key", "last_assignment", "last_evaluated_generation",
        "local_queue_fs_usage", "nomination_mapping", "not_before", "obj", "order", "second_pass_iteration", "total_requests",
    )

    def __init__(self, obj: ReadOnlyTree, options: InfoOptions) -> None:
        self.last_assignment: AssignmentClusterQueueState | None = None
        self.last_evaluated_generation = 0
        self.local_queue_fs_usage: float | None = None
        self.nomination_mapping: dict[str, Mapping[str, str]] = {}  # by podset: flavors by resource
        self.second_pass_iteration = 0
        self.update(obj, options)

    def __repr__(self) -> str:
        return f"Info({self.key}, {self.cluster_queue!r})"

    def update(self, obj: ReadOnlyTree, options: InfoOptions) -> None:
        """Take a newer state of the Workload."""
        admission = (obj.get("status") or NOTHING).get("admission")
        self.obj, self.key = obj, meta.key_of(obj)
        self._features = options.features
        self._hash: str | None = None
        self.order: tuple[float, float, str] | None = None
        self.eviction_order: tuple[bool, int, float | None, str] | None = None  # once it was asked for
        self.not_before: float | None = None
        self.cluster_queue: str = admission["clusterQueue"] if admission else ""
        self.total_requests: Sequence[PodSetResources] = (
            _from_admission(obj, admission, options.features) if admission else _from_pod_sets(obj, options))

    @property
    def scheduling_hash(self) -> str:
        """The same for Workloads that every scheduling decision would treat alike."""
        if self._hash is None:
            requested = [(each.count, each.requests) for each in self.total_requests]
            self._hash = scheduling_hash(
                self.obj, requested, effective_priority(self.obj, self._features), self._features)
        return self._hash

    def can_be_partially_admitted(self) -> bool:
        """Whether some podset may be admitted with fewer pods."""
        return can_be_partially_admitted(self.obj)

    def usage(self) -> Usage:
        """What the Workload takes of quotas and domains."""
        return Usage(self.flavor_resource_usage(), self.tas_usage())

    def flavor_resource_usage(self) -> FlavorResourceQuantities:
        """What the Workload takes of quotas; the flavor is empty where none is assigned."""
        total: FlavorResourceQuantities = {}
        for podset in self.total_requests:
            flavors = podset.flavors
            for name, amount in podset.requests.items():
                key = FlavorResource(flavors.get(name, ""), name)
                total[key] = resources.add(total.get(key, 0), amount)
        return total

    def is_using_tas(self) -> bool:
        """Whether some podset has its domains."""
        return any(podset.topology_request is not None for podset in self.total_requests)

    def tas_usage(self) -> TASUsage | None:
        """What the Workload takes of domains, by flavor; None for one that has none."""
        if not self._features.TopologyAwareScheduling or not self.is_using_tas():
            return None
        result: TASUsage = {}
        for podset in self.total_requests:
            if podset.topology_request is not None:
                for flavor in dict.fromkeys(podset.flavors.values()):
                    result.setdefault(flavor, []).extend(podset.topology_request.domain_requests)
        return result


def can_be_partially_admitted(obj: ReadOnlyTree) -> bool:
    """Whether some podset of a Workload may be admitted with fewer pods."""
    return any(podset["count"] > podset.get("minCount", podset["count"]) for podset in obj["spec"]["podSets"])


def pod_sets_counts(obj: ReadOnlyTree) -> dict[str, int]:
    """How many pods each podset has."""
    return {podset["name"]: podset["count"] for podset in obj["spec"]["podSets"]}


def pod_sets_counts_after_reclaim(obj: ReadOnlyTree, features: Features) -> dict[str, int]:
    """The same less the pods that are no longer needed."""
    counts = pod_sets_counts(obj)
    reclaimable = (obj.get("status") or NOTHING).get("reclaimablePods")
    if reclaimable and features.ReclaimablePods:
        for entry in reclaimable:
            if entry["name"] in counts:
                counts[entry["name"]] -= min(entry["count"], counts[entry["name"]])
    return counts


def _from_pod_sets(obj: ReadOnlyTree, options: InfoOptions) -> Sequence[PodSetResources]:
    counts = pod_sets_counts_after_reclaim(obj, options.features)
    result = []
    for podset in obj["spec"]["podSets"]:
        count = counts[podset["name"]]
        single = pod_set_requests(
            podset["template"]["spec"], options.excluded_resource_prefixes, options.resource_transformations)
        requests = {name: resources.multiply(max(amount, 0), count) for name, amount in single.items()}
        result.append(PodSetResources(podset["name"], requests, count))
    return result


def _from_admission(obj: ReadOnlyTree, admission: ReadOnlyTree, features: Features) -> Sequence[PodSetResources]:
    """What a Workload with quota takes: the admission says it, less what is no longer needed."""
    totals, current = pod_sets_counts(obj), pod_sets_counts_after_reclaim(obj, features)
    result = []
    for assigned in admission["podSetAssignments"]:
        name = assigned["name"]
        count = assigned.get("count", totals.get(name, 0))
        podset = PodSetResources(
            name, resources.requests_from_resource_list(assigned.get("resourceUsage")), count,
            assigned.get("flavors") or NOTHING)
        if features.TopologyAwareScheduling:
            podset = _with_topology(podset, obj, assigned)
        left = current.get(name, 0)
        if left < count:
            podset = replace(podset, requests=resources.scaled(podset.requests, count, left), count=left)
        result.append(podset)
    return result


def _with_topology(podset: PodSetResources, obj: ReadOnlyTree, assigned: ReadOnlyTree) -> PodSetResources:
    """The podset with its domains, or with its wish to get them later."""
    topology_request, assignment = None, assigned.get("topologyAssignment")
    if assignment is not None:
        spec = next((each["template"]["spec"] for each in obj["spec"]["podSets"] if each["name"] == podset.name), None)
        single = podset.single_pod_requests() if spec is None else resources.requests_from_pod_spec(spec)
        topology_request = TopologyRequest(
            assignment["levels"],
            [TopologyDomainRequests(domain.values, single, domain.count) for domain in domains_of(assignment)])
    delayed = assigned.get("delayedTopologyRequest")
    if topology_request is None and delayed is None:
        return podset
    return replace(podset, topology_request=topology_request, delayed_topology_request=delayed)


# -- what decides about order -------------------------------------------------------------------


def priority(obj: ReadOnlyTree) -> int:
    """``spec.priority``; 0 for none."""
    return int(obj["spec"].get("priority") or 0)


def priority_boost(obj: ReadOnlyTree, features: Features) -> int:
    """What an annotation adds to the priority (gate PriorityBoost); 0 for what is no number."""
    if not features.PriorityBoost:
        return 0
    boost = strconv.whole(meta.annotations_of(obj).get(names.PRIORITY_BOOST_ANNOTATION, ""))
    return boost if boost is not None and -(2**31) <= boost < 2**31 else 0


def effective_priority(obj: ReadOnlyTree, features: Features) -> int:
    """The priority that decides."""
    return priority(obj) + priority_boost(obj, features)


class Ordering(NamedTuple):
    """How the age of Workloads is counted: from the eviction or the creation of one whose pods were
    not ready in time.
    """

    features: Features = Features()
    pods_ready_requeuing_timestamp: str = "Eviction"

    def queue_order_timestamp(self, obj: ReadOnlyTree) -> float:
        """Since when a Workload waits, in Unix seconds."""
        listed: Iterable[dict[str, Any]] = (obj.get("status") or NOTHING).get("conditions") or ()
        if listed:
            evicted = conditions.find(listed, "Evicted")
            if evicted is not None and evicted["status"] == "True":
                reason = evicted.get("reason")
                if reason == "AdmissionCheck" or (
                    reason == "PodsReadyTimeout" and self.pods_ready_requeuing_timestamp == "Eviction"
                ):
                    return times.parse_time(evicted["lastTransitionTime"])
            preempted = None if self.features.PrioritySortingWithinCohort else conditions.find(listed, "Preempted")
            if preempted is not None and preempted["status"] == "True" and (
                preempted.get("reason") == "InCohortReclaimWhileBorrowing"
            ):
                return times.parse_time(preempted["lastTransitionTime"]) + 0.001
        return times.parse_time(obj["metadata"]["creationTimestamp"])


# -- equivalence --------------------------------------------------------------------------------
