"""How many leaders there are at a moment, and how many of them have the old template.

Upstream: rollingUpdateParameters and what it calls in
pkg/controllers/leaderworkerset_controller.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import pods
from fakekube_controllers.leaderworkerset import names, sets


class State(NamedTuple):
    """Of one group: whether leader and workers are ready, and whether both are of the newest
    revision.
    """

    ready: bool
    updated: bool


class Plan(NamedTuple):
    """What the StatefulSet of leaders is to have; ``deletes_surge`` is what to tell, if anything.
    """

    partition: int
    replicas: int
    deletes_surge: str = ""


def is_set_ready(stateful_set: ReadOnlyTree) -> bool:
    """Whether all workers of a StatefulSet are available, and none is being updated."""
    status = stateful_set.get("status") or meta.EMPTY
    return bool(
        stateful_set["spec"].get("replicas", 1) == status.get("availableReplicas", 0)
        and status.get("currentRevision", "") == status.get("updateRevision", ""))


def is_pod_ready(pod: Tree) -> bool:
    """Whether a pod runs and is ready."""
    return pods.phase(pod) == "Running" and pods.is_ready(pod)


def states(
    lws: ReadOnlyTree, number: int, key: str, leaders: Sequence[Tree], stateful_sets: Sequence[Tree],
) -> list[State]:
    """The state of each of so many groups; one that is not whole is neither ready nor updated."""
    pods_of, sets_of = ({names.index_of(each): each for each in found} for found in (leaders, stateful_sets))
    has_workers = names.size_of(lws) != 1
    found = []
    for index in range(number):
        name, pod, workers = f"{meta.name_of(lws)}-{index}", pods_of.get(index), sets_of.get(index)
        if pod is None or meta.name_of(pod) != name or (has_workers and (workers is None or meta.name_of(workers) != name)):
            found.append(State(ready=False, updated=False))
            continue
        ready, updated = is_pod_ready(pod), names.revision_key(pod) == key
        if has_workers and workers is not None:
            ready, updated = ready and is_set_ready(workers), updated and names.revision_key(workers) == key
        found.append(State(ready, updated))
    return found


class Rollout:
    """Plans for one LeaderWorkerSet, whose StatefulSet of leaders is there."""

    def __init__(self, lws: ReadOnlyTree, leaders: ReadOnlyTree) -> None:
        self.lws, self.name = lws, meta.name_of(lws)
        self.wanted, self.present = names.replicas_of(lws), int(leaders["spec"].get("replicas", 1))
        self.surge, self.unavailable = sets.max_surge(lws), sets.max_unavailable(lws)
        moving = (leaders["spec"].get("updateStrategy") or meta.EMPTY).get("rollingUpdate") or meta.EMPTY
        self.partition = int(moving.get("partition", 0))
        planned_for = meta.annotations_of(leaders).get(names.REPLICAS)
        self.is_resized = planned_for != str(self.wanted)

    def of_new_revision(self) -> Plan:
        """A new template: scale first, then begin with the last group."""
        partition = min(self.wanted, self.present)
        if self.present < self.wanted:
            return Plan(partition, self.wanted)
        return self._plan(partition, self.wanted)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is on its way, or a scale has to be waited for."""
        return (self.partition == 0 and self.present == self.wanted) or self.present < self.wanted

    def at_rest(self) -> Plan:
        """The plan where nothing is on its way but a scale."""
        return Plan(0 if self.present == self.wanted else self.partition, self.wanted)

    def under_way(self, found: Sequence[State]) -> Plan:
        """The plan while groups are updated one after the other."""
        unready = sum(not (found[index].ready and found[index].updated) if index < len(found) else True
                      for index in range(self.wanted))
        burst = self.wanted + self.surge
        if self.is_resized:
            return self._plan(min(self.partition, burst), unready)
        step = self.unavailable + self.surge - (burst - self.present)
        return self._plan(_partition(found, self.present, step, self.partition), unready)

    def _plan(self, partition: int, unready: int) -> Plan:
        replicas = self.wanted + self.surge
        if unready <= self.surge:
            # surge groups cover what is unready beyond what may be unavailable, and then go
            replicas = self.wanted + max(unready - self.unavailable, 0)
        text = ""
        if replicas == self.present - 1:
            text = f"deleting surge replica {self.name}-{replicas}"
        elif replicas < self.present:
            text = f"deleting surge replicas from {self.name}-{replicas} to {self.name}-{self.present - 1}"
        return Plan(partition, replicas, text)


def _partition(found: Sequence[State], present: int, step: int, current: int) -> int:
    """From which group on the template is the new one; it only ever goes down."""
    done = 0
    for state in reversed(found):
        if not (state.ready and state.updated):
            break
        done += 1
    lowest = max(present - done - step, 0)
    partition = lowest + sum(not state.ready for state in found[:lowest])
    for index in range(min(partition, present - 1), lowest - 1, -1):
        # a group that is not ready loses nothing by an update
        if found[index].ready and not found[index].updated:
            break
        partition = index
    return min(partition, current)
