"""The scheduler's answers: why a pod, or a group, has no node, and what would let it have one.

Everything is computed now, on a snapshot of what the scheduler knows; of the attempts before there
is what ``diagnoses.py`` has kept. Nothing that is computed here changes what the scheduler does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt
from fakekube.runtime.why import Answer, Attempt, Change, Changes, Place, Reason
from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.diagnoses import Diagnosis
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    EntityType,
    PodGroupInfo,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
    QueuedPodInfo,
    pod_key,
)
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info
from fakekube_controllers.scheduler.groups import quorum
from fakekube_controllers.scheduler.groups.consistency import inconsistency
from fakekube_controllers.scheduler.groups.cycle import PLACEMENTS_GATE, POLICY_GATE, PodScheduler
from fakekube_controllers.scheduler.groups.entities import group_key_of
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.runtime import Framework
from fakekube_controllers.scheduler.why import smallest, trial
from fakekube_controllers.scheduler.why.gangs import GangRoom
from fakekube_controllers.scheduler.why.room import Room

MAX_PLACES = 5000
MOST_MEMBERS = 5  # of a group, of which each is told of


class Held(NamedTuple):
    """What PreEnqueue plugins have against pods, and what would help; None: nobody knows."""

    reasons: tuple[Reason, ...]
    changes: Changes | None


class Answers:
    """Answers for one scheduler, as it is now."""

    def __init__(self, ctx: Context, scheduler: PodScheduler) -> None:
        self._ctx, self._scheduler, self._queue = ctx, scheduler, scheduler.queue

    @contextmanager
    def _snapshot(self) -> Iterator[Snapshot]:
        """The nodes as they are; plugins see them, too, until the end of the block."""
        shared = self._scheduler.shared
        before = shared.snapshot
        shared.snapshot = self._scheduler.cache.snapshot()
        try:
            yield shared.snapshot
        finally:
            shared.snapshot = before

    # pods

    def pod(self, pod: ReadOnlyTree) -> Answer:
        """Why a pod has no node."""
        about, spec = f"pod/{meta.namespace_of(pod)}/{meta.name_of(pod)}", pod["spec"]
        if pods.is_finished(pod):
            return Answer(about, "Finished", "has finished")
        if spec.get("nodeName"):
            return Answer(about, "Scheduled", f"is on node {spec['nodeName']}")
        framework = self._scheduler.profiles.get(spec.get("schedulerName", ""))
        if framework is None:
            names = ", ".join(self._scheduler.profiles)
            wanted = spec.get("schedulerName", "")
            return Answer(about, "NoScheduler", f'waits for a scheduler named "{wanted}"; here runs: {names}')
        uid = meta.uid_of(pod)
        waiting = self._scheduler.shared.waiting_pods.get(uid)
        if waiting is not None:
            plugins = ", ".join(waiting.pending_plugins)
            return Answer(about, "WaitingForPermit", f"has node {waiting.node_name}, and waits for {plugins} to permit it")
        if self._scheduler.cache.is_assumed_pod(uid):
            return Answer(about, "Binding", "has a node, and is being bound to it")
        queued = self._queue.entity(pod_key(pod))
        if isinstance(queued, QueuedPodInfo):  # so are pods of groups before 1.37
            return self._of_its_own(about, framework, queued)
        states, key = self._scheduler.shared.groups, group_key_of(pod)
        if states is not None and key is not None:
            return self._member(about, pod, key)
        return Answer(about, "InFlight", "is being tried, or not known to the scheduler yet", attempts=self._attempts(uid))

    def _member(self, about: str, pod: ReadOnlyTree, key: EntityKey) -> Answer:
        """A pod is tried with its group."""
        group = self._group(key)
        nominated = self._nominated(meta.uid_of(pod))
        if nominated is not None:
            return Answer(about, "WaitingForPreemption", nominated, because=(group,), changes=group.changes)
        return Answer(
            about, group.state if group.state != "Scheduled" else "Waiting", f"waits with its group {key.name}",
            attempts=self._attempts(meta.uid_of(pod)), changes=group.changes, alternatives=group.alternatives, because=(group,))

    def _of_its_own(self, about: str, framework: Framework, queued: QueuedPodInfo) -> Answer:
        state, message = self._standing(queued)
        held = self._held(framework, [queued.info]) if queued.is_gated else Held((), ())
        nominated = self._nominated(queued.info.uid)
        if nominated is not None:
            state, message = "WaitingForPreemption", nominated
        with self._snapshot() as snapshot:
            places, found, alternatives = self._room(framework, queued.info, snapshot)
        changes: Changes = ()
        if held.changes is not None and found is not None:
            changes = (*held.changes, *(each for each in found if each not in held.changes))
        return Answer(
            about, state, message, held.reasons, self._attempts(queued.info.uid), places, changes,
            tuple((*(held.changes or ()), *each) for each in alternatives))

    def _room(
        self, framework: Framework, pod: PodInfo, snapshot: Snapshot,
    ) -> tuple[tuple[Place, ...], Changes | None, tuple[Changes, ...]]:
        """What speaks against each node; the smallest change (nothing: it fits; None: not known);
        what would do as well.
        """
        room, algorithm = Room(framework), self._scheduler.algorithms[framework.profile_name].of_all_nodes

        def fits(changed: Snapshot) -> bool:
            return attempt(algorithm.schedule, CycleState(), pod, changed)[1] is None

        places = tuple(room.places(pod, snapshot))[:MAX_PLACES]
        if fits(snapshot):
            return places, (), ()
        if places and places[0].name == "every node":
            return places, places[0].reasons[0].changes or None, ()
        found = room.least(pod, snapshot)
        wanted = smallest.shrunk(snapshot, found.changes, fits) if found is not None and found.changes else None
        nodes = smallest.more_nodes(snapshot, fits, smallest.bare_node(snapshot, room, pod))
        if wanted is None:
            return places, nodes, ()
        return places, wanted, (nodes,) if nodes is not None else ()

    def _nominated(self, uid: str) -> str | None:
        """Which pods are to make room for one, where such were evicted."""
        nominator = self._scheduler.shared.nominator
        name = nominator.node_of(uid)
        if not name:
            return None
        with self._snapshot() as snapshot:
            node = snapshot.all_nodes.get(name)
        going = [meta.name_of(each.pod) for each in node.pods.values() if meta.is_deleting(each.pod)] if node is not None else []
        victims = f", where {', '.join(going)} are going" if len(going) > 1 else f", where {going[0]} is going" if going else ""
        return f"waits for room on node {name}{victims}"

    # the queue

    def _standing(self, entity: QueuedEntityInfo) -> tuple[str, str]:
        """In which part of the queue an entity is, as a word and as a text."""
        if entity.is_gated:
            return "Gated", f"is held back by {entity.gating_plugin}, and is not tried"
        attempts = "has not been tried yet" if not entity.attempts else (
            "was tried once" if entity.attempts == 1 else f"was tried {entity.attempts} times")
        until = self._queue.backs_off_until(entity)
        if until is not None:
            return "BackingOff", f"{attempts}, and is tried again at {times.format_time(until)}"
        if self._queue.is_active(entity):
            return "Active", f"{attempts}, and is about to be"
        plugins = ", ".join(dict.fromkeys(name for each in entity.pods() for name in each.unschedulable_plugins))
        return "Unschedulable", f"{attempts}, and waits for an event that helps{f' with {plugins}' if plugins else ''}"

    def _held(self, framework: Framework, infos: Sequence[PodInfo]) -> Held:
        """What PreEnqueue plugins say of pods."""
        reasons: dict[tuple[str, str], Reason] = {}
        wanted: list[Change] | None = []
        for info in infos:
            for plugin in framework.pre_enqueue_plugins:
                status, raised = attempt(plugin.pre_enqueue, info)
                if status is None and raised is None:
                    continue
                found = attempt(plugin.missing, CycleState(), info, None)[0] if hasattr(plugin, "missing") else None
                message = status.message if status is not None else repr(raised)
                reasons[plugin.name, message] = Reason(plugin.name, message, tuple(found or ()))
                wanted = None if wanted is None or not found else [*wanted, *found]
        return Held(tuple(reasons.values()), trial.merged(wanted) if wanted is not None else None)

    def _attempts(self, uid: str) -> tuple[Attempt, ...]:
        return tuple(_attempt(each) for each in self._scheduler.failures.diagnoses.of(uid))

    # groups

    def group(self, kind: EntityType, group: ReadOnlyTree) -> Answer:
        """Why a group is not scheduled."""
        return self._group(EntityKey(kind, meta.namespace_of(group), meta.name_of(group)))

    def _group(self, key: EntityKey) -> Answer:
        states = self._scheduler.shared.groups
        assert states is not None, "there are groups"
        about, root = str(key), states.root_of(key)
        if root is None:
            wanted = tuple(quorum.missing(states, key) or ())
            message = "waits for a group above it" if states.group(key) is not None else "is not there"
            return Answer(about, "MissingGroup", message, changes=wanted)
        entity = self._queue.entity(root)
        placed = sum(1 for _ in states.all_placed(key))
        if isinstance(entity, QueuedPodGroupInfo):
            answer = self._tree(str(root), states, entity)
            if root == key:
                return answer
            return Answer(about, answer.state, f"is tried with {root}", changes=answer.changes, because=(answer,))
        alone = [info.pod for info in states.waiting(key) if self._queue.entity(pod_key(info.pod)) is not None]
        if alone:  # before 1.37 pods of groups are queued one by one
            because = tuple(self.pod(pod) for pod in alone[:MOST_MEMBERS])
            return Answer(about, "Waiting", f"has {placed} pods on nodes, and {len(alone)} that wait", because=because)
        lacking = quorum.lacking(states, root)
        if lacking.changes:
            count = f"{placed} pods of it are on nodes"
            return Answer(about, "WaitingForPods", f"waits for pods: {count}, none waits", changes=tuple(lacking.changes))
        return Answer(about, "Scheduled", f"has {placed} pods on nodes, and none that waits")

    def _tree(self, about: str, states: GroupStates, entity: QueuedPodGroupInfo) -> Answer:
        state, message = self._standing(entity)
        root = entity.root
        first = next(entity.pods()).info
        framework = self._scheduler.profiles.get(first.pod["spec"].get("schedulerName", ""))
        wrong = inconsistency(
            root, [each.info.pod for each in states.all_placed(root.key)], self._scheduler.profiles,
            has_policy=self._ctx.enabled(POLICY_GATE))
        attempts = self._attempts(meta.uid_of(root.group))
        if wrong or framework is None:
            return Answer(about, state, message, (Reason("Scheduler", wrong or ""),), attempts)
        held = self._held(framework, [each.info for each in entity.pods()]) if entity.is_gated else Held((), ())
        if any(change.action in ("Create", "CreateGroups") for change in held.changes or ()):
            return Answer(about, state, message, held.reasons, attempts, changes=held.changes or ())
        algorithm = self._scheduler.algorithms[framework.profile_name].of_all_nodes
        whole = _with_more_pods(root, held.changes or ())
        with self._snapshot() as snapshot:
            gang = self._gang(algorithm, states, snapshot, whole)
            places, room = tuple(gang.places()), gang.needed()
        before = held.changes or ()
        changes: Changes = ()
        if held.changes is not None and (room.changes is None or room.changes):
            changes = (*before, *(room.changes or ()))
        return Answer(about, state, message, held.reasons, attempts, places, changes,
                      tuple((*before, *each) for each in room.alternatives))

    def _gang(self, algorithm: Algorithm, states: GroupStates, snapshot: Snapshot, root: PodGroupInfo) -> GangRoom:
        uses_placements = self._ctx.enabled(PLACEMENTS_GATE)
        return GangRoom(algorithm, states, snapshot, root, uses_placements=uses_placements)


def _attempt(diagnosis: Diagnosis) -> Attempt:
    counts: dict[tuple[str, str], int] = {}
    for status, number in diagnosis.statuses:
        for reason in status.reasons:
            counts[status.plugin, reason] = counts.get((status.plugin, reason), 0) + number
    return Attempt(
        diagnosis.number, times.format_time(diagnosis.time), diagnosis.reason, diagnosis.message,
        tuple(Reason(plugin, message, node_count=count) for (plugin, message), count in counts.items()))


def _with_more_pods(root: PodGroupInfo, wanted: Changes) -> PodGroupInfo:
    """A tree with the pods that are still to come, each like one that is there."""
    counts = {change.target: int(str(change.details["count"])) for change in wanted if change.action == "CreatePods"}
    if not counts:
        return root
    some = next(queued for leaf in root.leaves() for queued in leaf.unscheduled_pods)
    return _tree_with_more_pods(root, counts, some)


def _tree_with_more_pods(info: PodGroupInfo, counts: dict[str, int], some: QueuedPodInfo) -> PodGroupInfo:
    like = info.unscheduled_pods[0] if info.unscheduled_pods else some
    more = [
        QueuedPodInfo(pod_info(trial.pod_like(like.info, f"{info.key.name}-new-{number}")), timestamp=0, sequence=0)
        for number in range(counts.get(str(info.key), 0))]
    children = [_tree_with_more_pods(child, counts, some) for child in info.children]
    return PodGroupInfo(info.key, info.group, children, [*info.unscheduled_pods, *more])
