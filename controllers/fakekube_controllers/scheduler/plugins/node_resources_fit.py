"""Resources: what a pod requests must be free on the node.

The scoring strategy says which nodes are better: by default those with more left. Of several
placements for a group that one is better of which more is taken then.

Upstream: plugins/noderesources/fit.go. Left out: scores by devices that stand for extended
resources; where a node has none of such a resource, DynamicResources filters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta, pod_resources
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.placements import PodGroupAssignments
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.search import ResourceScore
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import (
    NON_ZERO_CPU,
    NON_ZERO_MEMORY,
    PODS,
    REQUESTED,
    SHARE,
    SHARE_UNIT,
    NodeInfo,
    PodInfo,
    Usage,
    allocatable_of,
)
from fakekube_controllers.scheduler.plugins import arguments, resource_scores
from fakekube_controllers.scheduler.plugins.extended_resources import GATES, PREFIX, extended_resources
from fakekube_controllers.scheduler.plugins.hints import has_node, hint

SCORED = ("cpu", "memory")
RESIZE_GATE = pod_resources.RESIZE_GATE


class NodeResourcesFit:
    """Filter, Score and PlacementScore."""

    name = "NodeResourcesFit"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        checked = arguments.checked(self.name, args, handle.enabled)
        self._ignored = frozenset(checked.get("ignoredResources") or ())
        self._ignored_groups = frozenset(checked.get("ignoredResourceGroups") or ())
        strategy = checked["scoringStrategy"]
        self._names = [resource["name"] for resource in strategy["resources"]]
        self._handle, self._scorer = handle, resource_scores.scorer_of(strategy)
        self._placement_scorer = resource_scores.scorer_of({**strategy, "type": "MostAllocated"})
        weights = {resource["name"]: resource["weight"] for resource in strategy["resources"]}
        # the least of several usages scores no less than each of them
        self.emptier_first = strategy["type"] == "LeastAllocated"
        self._is_default = self.emptier_first and self._names == list(SCORED) and weights["cpu"] == weights["memory"]
        self._resizes = handle.enabled(RESIZE_GATE)
        self._devices, self._uses_devices = extended_resources(handle), all(map(handle.enabled, GATES))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        found = [
            ClusterEventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), _after_assigned_pod_delete),
            ClusterEventWithHint(
                ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE), self._after_node)]
        if self._uses_devices:
            found.append(ClusterEventWithHint(
                ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE), _after_device_class))
        if self._resizes:
            found += [
                ClusterEventWithHint(
                    ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN), _after_assigned_pod_scale_down),
                ClusterEventWithHint(ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_SCALE_DOWN))]
        return found

    def _after_node(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        """A node that would have enough if it were empty, and had not before."""
        if new is None:
            return hint(False)
        has = allocatable_of(new)
        if has.get("pods", 0) < 1 or any(
                asked > has.get(name, 0) and not self._is_for_devices(name, has.get(name, 0))
                for name, asked in pod.requests.items()):
            return hint(False)
        if old is None:
            return hint(True)
        had = allocatable_of(old)
        names = ["pods", *(name for name, asked in pod.requests.items() if asked)]
        return hint(any(has.get(name, 0) > had.get(name, 0) for name in names))

    # Filter

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        reasons: list[str] = []
        unresolvable = False
        allocatable, requested = node.allocatable, node.requested
        if len(node.pods) + 1 > allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name, asked in pod.requests.items():
            has = allocatable.get(name, 0)
            if asked and asked > has - requested.get(name, 0) and not self._is_ignored(name, has):
                reasons.append(f"Insufficient {name}")
                unresolvable = unresolvable or asked > has
        if not reasons:
            return None
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE, tuple(reasons))

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """What is short of each resource."""
        if node is None:
            return None
        short = {"pods": len(node.pods) + 1 - node.allocatable.get("pods", 0)}
        for name, asked in pod.requests.items():
            has = node.allocatable.get(name, 0)
            if asked and not self._is_ignored(name, has):
                short[name] = asked + node.requested.get(name, 0) - has
        target = changes.node_target(node)
        return [changes.add_resource(target, name, amount) for name, amount in short.items() if amount > 0]

    def _is_ignored(self, name: str, has: int) -> bool:
        """Whether a resource, of which a node has so much, is not looked at: devices may stand for
        it.
        """
        if self._is_for_devices(name, has):
            return True
        if not self._ignored and not self._ignored_groups:
            return False
        return _is_extended(name) and (name in self._ignored or name.partition("/")[0] in self._ignored_groups)

    def _is_for_devices(self, name: str, has: int) -> bool:
        return not has and bool(self._devices) and self._devices.class_of(name) is not None

    # Score

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """What the strategy says of the node with the pod there."""
        return self._score(pod, resource_scores.scored_taken(node), node.allocatable)

    def _score(self, pod: PodInfo, taken: Mapping[str, int], allocatable: Mapping[str, int]) -> int:
        asked = resource_scores.scored_requests(pod)
        return self._scorer(resource_scores.amounts(self._names, asked, taken, allocatable))

    def score_placement(self, state: CycleState, group: PodGroupInfo, assignments: PodGroupAssignments) -> int:
        """How much of all nodes of a placement is taken with the pods of the group there."""
        nodes, names = self._handle.snapshot.all_nodes, assignments.placement.node_names
        infos = [nodes[name] for name in (nodes if names is None else names)]
        pods = [each.pod for each in assignments.proposed_assignments]
        return self._placement_scorer(resource_scores.amounts_of_many(self._names, pods, infos))

    # Search

    def resource_score(self, pod: PodInfo, allocatable: Mapping[str, int]) -> ResourceScore | None:
        """The filter and the score as functions of usage."""
        limits = self._limits(pod, allocatable)
        if limits is None:
            return None
        if self._is_default:
            return _least_allocated(pod, allocatable, limits)
        names = [*allocatable]

        def score(usage: Usage) -> int:
            for place, limit in limits:
                if usage[place] > limit:
                    return -1
            taken = dict(zip(names, usage[REQUESTED:], strict=True))
            taken["cpu"], taken["memory"] = usage[NON_ZERO_CPU], usage[NON_ZERO_MEMORY]
            return self._score(pod, taken, allocatable)

        def bound(usage: Usage) -> int:
            for place, limit in limits:
                if usage[place] > limit:
                    return -1
            return MAX_NODE_SCORE

        return ResourceScore(score, score if self.emptier_first else bound)

    def _limits(self, pod: PodInfo, allocatable: Mapping[str, int]) -> list[tuple[int, int]] | None:
        """The most usage with which the pod fits, by place in a usage; None: it never does."""
        limits = [(PODS, allocatable.get("pods", 0) - 1)]
        for name, asked in pod.requests.items():
            has = allocatable.get(name, 0)
            if asked > has and not self._is_ignored(name, has):
                return None
        for place, (name, has) in enumerate(allocatable.items(), REQUESTED):
            asked = pod.requests.get(name, 0)
            if asked and not self._is_ignored(name, has):
                limits.append((place, has - asked))
        return limits


def _is_extended(name: str) -> bool:
    """Whether the resource is nobody's of Kubernetes."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _least_allocated(pod: PodInfo, allocatable: Mapping[str, int], limits: Sequence[tuple[int, int]]) -> ResourceScore:
    """The default: what is left of cpu and memory, on average.

    For many nodes the least sum of both shares is a closer bound than the least of each.
    """
    cpu, memory = allocatable.get("cpu", 0), allocatable.get("memory", 0)
    cpu_left, memory_left = cpu - pod.non_zero_requests["cpu"], memory - pod.non_zero_requests["memory"]
    counted = (cpu > 0) + (memory > 0)
    free = counted * SHARE_UNIT
    for name, has in (("cpu", cpu), ("memory", memory)):
        if has and (asked := pod.requests.get(name, 0)):
            free -= asked * SHARE_UNIT // has

    def score(usage: Usage) -> int:
        for place, limit in limits:
            if usage[place] > limit:
                return -1
        if not counted:
            return 0
        left = cpu_left - usage[NON_ZERO_CPU]
        total = left * MAX_NODE_SCORE // cpu if left > 0 and cpu else 0
        left = memory_left - usage[NON_ZERO_MEMORY]
        if left > 0 and memory:
            total += left * MAX_NODE_SCORE // memory
        return total // counted

    def bound(usage: Usage) -> int:
        found = score(usage)
        if found <= 0:
            return found
        most = (free - usage[SHARE]) * MAX_NODE_SCORE // SHARE_UNIT // counted
        return min(found, most)

    return ResourceScore(score, bound)


# hints


def _after_assigned_pod_delete(_pod: PodInfo, old: ReadOnlyTree | None, _new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or has_node(old))


def _after_assigned_pod_scale_down(pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    """A pod needs less of something that the waiting one asks for."""
    if old is None or new is None:
        return hint(True)
    if not new["spec"].get("nodeName"):
        return hint(False)
    before, now = (pod_resources.whole(pod_resources.requests(each, pod_resources.IN_FLIGHT)) for each in (old, new))
    return hint(any(asked and before.get(name, 0) > now.get(name, 0) for name, asked in pod.requests.items()))


def _after_device_class(pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    """A class whose devices stand for something that the pod asks for."""
    if new is None:
        return hint(True)
    name = new["spec"].get("extendedResourceName")
    if old is not None:
        return hint(name is not None and name in pod.requests and old["spec"].get("extendedResourceName") != name)
    return hint(name in pod.requests or f"{PREFIX}{meta.name_of(new)}" in pod.requests)
