"""Which pods go so that a group fits: over the whole cluster, as one decision.

Everything of lower priority is taken away in the snapshot and the group is tried; where it fits
then, units are put back one after the other, the most important first, as long as every pod of the
group still fits the node that was found for it.

Upstream: pkg/scheduler/framework/preemption/podgrouppreemption.go (KEP-5710).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc, ProposedAssignment
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.status import Code, Status, error, unresolvable
from fakekube_controllers.scheduler.groups.entities import priority_of
from fakekube_controllers.scheduler.preemption.pods import NEVER
from fakekube_controllers.scheduler.preemption.victims import (
    IMPORTANCE,
    NodeMissing,
    Units,
    Victim,
    is_terminating_by_preemption,
    split_by_budgets,
)

NO_VICTIMS = unresolvable("No preemption victims found for incoming preemptor")
ONGOING = Status(Code.SUCCESS, ("ongoing preemption on nominated nodes",))


class GroupAttempt(NamedTuple):
    """A group that looks for room. ``has_policy``: groups have a preemption policy of their own."""

    handle: Handle
    group: PodGroupInfo
    snapshot: Snapshot
    units: Units
    has_policy: bool

    @property
    def priority(self) -> int:
        """That of the root."""
        return priority_of(self.group.group)

    @property
    def pods(self) -> list[ReadOnlyTree]:
        """The pods that wait."""
        return [queued.info.pod for leaf in self.group.leaves() for queued in leaf.unscheduled_pods]


class Room(NamedTuple):
    """What has to go, and where the pods of the group are to go then, by uid."""

    victims: Sequence[Victim]
    nominations: Mapping[str, NominatingInfo]


def not_eligible(attempt: GroupAttempt) -> str:
    """Why a group must not evict others; empty when it may."""
    specs = [attempt.group.group["spec"]] if attempt.has_policy else [pod["spec"] for pod in attempt.pods]
    return NEVER if any(spec.get("preemptionPolicy") == "Never" for spec in specs) else ""


def is_ongoing(attempt: GroupAttempt) -> bool:
    """Whether pods that were evicted for the group are still going."""
    for name in dict.fromkeys((pod.get("status") or {}).get("nominatedNodeName") for pod in attempt.pods):
        node = attempt.snapshot.all_nodes.get(name) if name else None
        for info in node.pods.values() if node is not None else ():
            if is_terminating_by_preemption(info.pod) and attempt.units.priority_of(info.pod) < attempt.priority:
                return True
    return False


def current_nominations(attempt: GroupAttempt) -> dict[str, NominatingInfo]:
    """The nominations that the pods have."""
    return {
        meta.uid_of(pod): NominatingInfo((pod.get("status") or {}).get("nominatedNodeName") or "") for pod in attempt.pods}


def units_of_all_nodes(attempt: GroupAttempt) -> list[Victim] | Status:
    """All that might be evicted, whatever its priority; else why that is not known."""
    nodes = attempt.snapshot.all_nodes
    try:
        return attempt.units.victims(nodes.infos(), among=nodes)
    except NodeMissing as missing:
        return error(f"failed to create domain: {missing}")


async def make_room(
    attempt: GroupAttempt, units: Sequence[Victim], budgets: Sequence[ReadOnlyTree], schedule: PodGroupSchedulingFunc, *,
    tries_again: bool = False,
) -> Room | Status:
    """What has to go of all units so that the group fits; else why that is impossible.

    ``tries_again``: with each unit that is put back the whole group is tried anew, and may go to
    other nodes, as before 1.37. The snapshot is as before when this returns.
    """
    victims = [victim for victim in units if victim.priority < attempt.priority]
    if not victims:
        return NO_VICTIMS
    trial = _Trial(attempt)
    try:
        for victim in victims:
            trial.remove(victim)
        assignments, status = await schedule()
        if status is not None:
            return status
        proposed = [each for each in assignments.proposed_assignments if each.node_name] if assignments is not None else []
        victims.sort(key=IMPORTANCE)
        breaking, others = split_by_budgets(victims, budgets)
        gone: list[Victim] = []
        for victim in [*(victim for victim, _ in breaking), *others]:
            spared = await trial.spares_by(victim, schedule) if tries_again else trial.spares(victim, proposed)
            if not spared:
                gone.append(victim)
        gone.sort(key=IMPORTANCE)
        return Room(gone, {each.pod.uid: NominatingInfo(each.node_name) for each in proposed})
    finally:
        trial.restore()


class _Trial:
    """The snapshot, on which victims come and go."""

    def __init__(self, attempt: GroupAttempt) -> None:
        self._attempt, self._snapshot, self._handle = attempt, attempt.snapshot, attempt.handle
        self._removed: dict[int, Victim] = {}

    def remove(self, victim: Victim) -> None:
        """Take a victim away, before the group is tried."""
        for info, name in victim.pods:
            self._snapshot.forget_pod(info.uid, name)
        self._removed[id(victim)] = victim

    def _add(self, victim: Victim) -> None:
        for info, name in victim.pods:
            self._snapshot.assume_pod(info, name)
        del self._removed[id(victim)]

    def restore(self) -> None:
        """Put back what is away."""
        for victim in list(self._removed.values()):
            self._add(victim)

    def spares(self, victim: Victim, proposed: Sequence[ProposedAssignment]) -> bool:
        """Put a victim back, and whether all pods still fit then; else it is away again."""
        self._add(victim)
        self._tell(victim, proposed, added=True)
        placed: list[ProposedAssignment] = []
        fits = True
        for each in proposed:
            node = self._snapshot.all_nodes[each.node_name]
            fits = self._handle.run_filter_plugins_with_nominated_pods(each.state, each.pod, node) is None
            if not fits:
                break
            self._snapshot.assume_pod(each.pod, each.node_name)
            placed.append(each)
        for each in reversed(placed):
            self._snapshot.forget_pod(each.pod.uid, each.node_name)
        if not fits:
            self.remove(victim)
            self._tell(victim, proposed, added=False)
        return fits

    async def spares_by(self, victim: Victim, schedule: PodGroupSchedulingFunc) -> bool:
        """Put a victim back, and whether the group still fits somewhere; else it is away again."""
        self._add(victim)
        _, status = await schedule()
        if status is not None:
            self.remove(victim)
        return status is None

    def _tell(self, victim: Victim, proposed: Sequence[ProposedAssignment], *, added: bool) -> None:
        """Bring what plugins keep for each pod up to date."""
        handle = self._handle
        tell = handle.run_pre_filter_extension_add_pod if added else handle.run_pre_filter_extension_remove_pod
        for info, name in victim.pods:
            node = self._snapshot.all_nodes[name]
            for each in proposed:
                tell(each.state, each.pod, info, node)


def found(victims: Sequence[Victim]) -> Status:
    """What is told of evictions that are under way."""
    count = sum(len(victim.pods) for victim in victims)
    return Status(Code.SUCCESS, (f"found a placement for podgroup, preempting {count} victims",))

