"""The units that preemption may evict: a pod, or all pods of a group that is disrupted as a whole.

Upstream: pkg/scheduler/framework/preemption/{types,util}.go.
"""

import math
from bisect import bisect_right
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from fakekube.apimachinery import labels, meta, times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.groups.entities import group_key_of, parent_key_of
from fakekube_controllers.scheduler.groups.states import GroupStates

MAX_TREE_DEPTH = 4
INT32_RANGE = 2**31
RANKS = {EntityType.POD: 1, EntityType.POD_GROUP: 2, EntityType.COMPOSITE_POD_GROUP: 3}
BY_IMPORTANCE = "pods by importance"  # in the memo of a node


@dataclass(frozen=True, slots=True)
class Victim:
    """Pods that go together or stay together, each with the name of its node.

    ``type``: of the group they are in, POD for a pod of none. ``started``: of the pod that has
    run longest, in Unix seconds; infinity when none has started.
    """

    pods: tuple[tuple[PodInfo, str], ...]
    priority: int
    type: EntityType
    started: float

    @property
    def importance(self) -> tuple[int, int, int, float]:
        """The more important of two victims has the smaller one, and is spared first."""
        return -self.priority, -RANKS[self.type], -len(self.pods), self.started


IMPORTANCE = attrgetter("importance")

class Evictable(NamedTuple):
    """Units that may be evicted, the most important first, and what each of them requests.

    ``requests`` is None where one of them has pods elsewhere, or may have.
    """

    victims: Sequence[Victim]
    requests: Sequence[Hashable] | None


class _Pods(NamedTuple):
    """The pods of a node, each by itself, the most important first.

    ``trees``: as they were, in the node's order; ``ranks``: the priorities with the other sign;
    ``below``: those below a priority, where somebody has asked.
    """

    trees: list[ReadOnlyTree]
    victims: tuple[Victim, ...]
    ranks: tuple[int, ...]
    requests: tuple[Hashable, ...]
    below: dict[int, Evictable]


TREE = attrgetter("pod")


def _pods_of(node: NodeInfo) -> _Pods:
    """Sorted once for all attempts that see the node as it is."""
    trees = list(map(TREE, node.pods.values()))  # another state of a pod may have another start
    kept: _Pods | None = node.memo.get(BY_IMPORTANCE)
    if kept is not None and kept.trees == trees:
        return kept
    victims = sorted(
        [Victim(((info, node.name),), info.priority, EntityType.POD, started_at(info.pod)) for info in node.pods.values()],
        key=IMPORTANCE)
    made = node.memo[BY_IMPORTANCE] = _Pods(
        trees, tuple(victims), tuple([-victim.priority for victim in victims]), _requests_of(victims), {})
    return made


def _requests_of(victims: Sequence[Victim]) -> tuple[Hashable, ...]:
    """Of units of one pod each."""
    return tuple([tuple(victim.pods[0][0].requests.items()) for victim in victims])


def started_at(pod: ReadOnlyTree) -> float:
    """When a pod started (Unix seconds); infinity when it has not."""
    text = (pod.get("status") or {}).get("startTime")
    return times.parse_time(text) if text else math.inf


def is_terminating_by_preemption(pod: ReadOnlyTree) -> bool:
    """Whether a pod is being deleted because a scheduler evicted it."""
    if not meta.is_deleting(pod):
        return False
    condition = meta.find_condition(pod, "DisruptionTarget") or {}
    return (condition.get("status"), condition.get("reason")) == ("True", "PreemptionByScheduler")


class NodeMissing(Exception):
    """A unit cannot be weighed, as a pod of it is on a node that is gone."""

    def __init__(self, name: str) -> None:
        super().__init__(f'failed to get node info for node "{name}" from snapshot: nodeinfo not found for node name "{name}"')


NONE = Evictable((), ())


class Units:
    """Tells which unit a pod belongs to; ``groups`` is None where there are none."""

    def __init__(self, groups: GroupStates | None) -> None:
        self._groups = groups

    def priority_of(self, pod: ReadOnlyTree) -> int:
        """That of the highest group known above a pod, else its own."""
        known = self._ancestors(pod)
        spec = known[-1][1]["spec"] if known else pod["spec"]
        return int(spec.get("priority") or 0)

    def below(self, priority: int, node: NodeInfo, among: Container[str] | None = None) -> Evictable:
        """The units with pods on a node that have less priority.

        Raises NodeMissing for one with a pod on a node that is not ``among`` all that there are.
        """
        if self._groups is None:
            if not node.priorities or min(node.priorities) >= priority:
                return NONE
            pods = _pods_of(node)
            found = pods.below.get(priority)
            if found is None:
                first = bisect_right(pods.ranks, -priority)
                found = pods.below[priority] = Evictable(pods.victims[first:], pods.requests[first:])
            return found
        victims = sorted([victim for victim in self.victims([node], among) if victim.priority < priority], key=IMPORTANCE)
        if any(len(victim.pods) != 1 or victim.pods[0][1] != node.name for victim in victims):
            return Evictable(victims, None)
        return Evictable(victims, _requests_of(victims))

    def victims(self, nodes: Iterable[NodeInfo], among: Container[str] | None = None) -> list[Victim]:
        """The units with pods on these nodes, whole ones though they are on others too.

        Raises NodeMissing for one with a pod on a node that is not ``among`` all that there are.
        """
        if self._groups is None:
            return [Victim(((info, node.name),), info.priority, EntityType.POD, started_at(info.pod))
                    for node in nodes for info in node.pods.values()]
        found: list[Victim] = []
        seen: dict[EntityKey, None] = {}
        for node in nodes:
            for info in node.pods.values():
                ancestors = self._ancestors(info.pod)
                whole = [key for key, group in ancestors if self._is_whole(group)]
                if not whole:
                    is_member = self._groups is not None and group_key_of(info.pod) is not None
                    found.append(self._victim(((info, node.name),), EntityType.POD_GROUP if is_member else EntityType.POD))
                elif whole[-1] not in seen:
                    seen[whole[-1]] = None
                    found.append(self._whole_group(whole[-1], info, node.name))
        if among is not None:
            gone = [name for victim in found for _, name in victim.pods if name not in among]
            if gone:
                raise NodeMissing(gone[0])
        return found

    def _is_whole(self, group: ReadOnlyTree) -> bool:
        """Whether a group is disrupted as a whole."""
        return "all" in (group["spec"].get("disruptionMode") or {})

    def _whole_group(self, key: EntityKey, info: PodInfo, node_name: str) -> Victim:
        assert self._groups is not None, "the pod is in a group"
        pods = tuple((placed.info, placed.node_name) for placed in self._groups.all_placed(key))
        return self._victim(pods, key.type) if pods else self._victim(((info, node_name),), EntityType.POD_GROUP)

    def _victim(self, pods: tuple[tuple[PodInfo, str], ...], kind: EntityType) -> Victim:
        return Victim(pods, self.priority_of(pods[0][0].pod), kind, min(started_at(info.pod) for info, _ in pods))

    def _ancestors(self, pod: ReadOnlyTree) -> list[tuple[EntityKey, ReadOnlyTree]]:
        """The groups above a pod as far as they are known, the lowest first."""
        found: list[tuple[EntityKey, ReadOnlyTree]] = []
        key = group_key_of(pod) if self._groups is not None else None
        while key is not None and self._groups is not None and len(found) < MAX_TREE_DEPTH:
            group = self._groups.group(key)
            if group is None:
                break
            found.append((key, group))
            key = parent_key_of(group)
        return found


class _Budget:
    """How many more pods a PodDisruptionBudget lets go."""

    def __init__(self, budget: ReadOnlyTree) -> None:
        status = budget.get("status") or {}
        self.left = int(status.get("disruptionsAllowed") or 0)
        self._disrupted, self._namespace = status.get("disruptedPods") or {}, meta.namespace_of(budget)
        try:
            self._selector = labels.from_label_selector((budget.get("spec") or {}).get("selector"))
        except labels.SelectorError:
            self._selector = labels.NOTHING

    def covers(self, pod: ReadOnlyTree) -> bool:
        """Whether the pod counts against it: it is selected, and not gone by an eviction already.

        An empty selector covers nothing here, as upstream.
        """
        return bool(
            meta.namespace_of(pod) == self._namespace and self._selector.requirements
            and self._selector.matches(meta.labels_of(pod)) and meta.name_of(pod) not in self._disrupted)


def split_by_budgets(victims: Sequence[Victim], budgets: Sequence[ReadOnlyTree]) -> tuple[list[tuple[Victim, int]], list[Victim]]:
    """Those that would break a PodDisruptionBudget, with the number of pods that do, and the rest.

    Budgets are used up in the order of the victims.
    """
    read = [_Budget(budget) for budget in budgets]
    breaking: list[tuple[Victim, int]] = []
    others: list[Victim] = []
    for victim in victims:
        count = sum(_breaks(info.pod, read) for info, _ in victim.pods)
        if count:
            breaking.append((victim, count))
        else:
            others.append(victim)
    return breaking, others


def _breaks(pod: ReadOnlyTree, budgets: Sequence[_Budget]) -> bool:
    if not meta.labels_of(pod):
        return False
    for budget in budgets:
        if budget.covers(pod):
            budget.left -= 1
            if budget.left < 0:
                return True
    return False


class Candidate(NamedTuple):
    """A node where pods may go so that another fits.

    ``violations``: how many of the pods would break a PodDisruptionBudget.
    """

    node_name: str
    victims: tuple[Victim, ...]
    violations: int

    @property
    def pods(self) -> list[tuple[PodInfo, str]]:
        """The pods with the names of their nodes, those of the most important victim first."""
        return [pod for victim in self.victims for pod in victim.pods]

    @property
    def cost(self) -> tuple[int, int, int, int, float]:
        """The best of several candidates has the smallest one.

        In this order: budgets broken, the highest priority, the sum of priorities, the number of
        pods, and the earliest start among the pods of the highest priority, which is to be late.
        """
        pods = [
            (info.priority, victim.started if len(victim.pods) == 1 else started_at(info.pod))
            for victim in self.victims for info, _ in victim.pods]
        highest = max([priority for priority, _ in pods])
        started = min([start for priority, start in pods if priority == highest])
        total = sum([priority for priority, _ in pods]) + INT32_RANGE * len(pods)
        return self.violations, pods[0][0], total, len(pods), -started


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The node where the least is lost; of several the first by name.

    Upstream: pickOneNodeForPreemption, which takes any of several.
    """
    return min(candidates, key=lambda candidate: (candidate.cost, candidate.node_name))
