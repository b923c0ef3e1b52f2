"""Which pods go so that one pod fits: node by node, as few and as unimportant ones as possible.

On each node that evictions may help, everything of lower priority is taken away in a copy; where
the pod fits then, units are put back one after the other, the most important first, as long as it
still fits. Of several nodes that one is taken where the least is lost.

Upstream: pkg/scheduler/framework/preemption/preemption.go,
framework/plugins/defaultpreemption (SelectVictimsOnNode). Nodes are tried in their order from the
first one on, where upstream begins at a random one.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.memory import Memo
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import (
    Code,
    Status,
    counted,
    error,
    histogram,
    unresolvable,
    unschedulable,
)
from fakekube_controllers.scheduler.framework.types import PODS, REQUESTED, NodeInfo, PodInfo, Usage
from fakekube_controllers.scheduler.preemption.victims import (
    IMPORTANCE,
    Candidate,
    NodeMissing,
    Units,
    Victim,
    is_terminating_by_preemption,
    split_by_budgets,
)

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
TOO_SMALL = unschedulable("there is too little, whatever goes")  # where nobody asks for the filters' words
MAY_HELP = Code.UNSCHEDULABLE
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."


OUTCOMES = 4096  # of trials that are kept for one attempt


class Attempt(NamedTuple):
    """A pod that looks for room, with the state that PreFilter plugins have left."""

    handle: Handle
    state: CycleState
    pod: PodInfo
    snapshot: Snapshot
    units: Units


class Trials:
    """What one attempt has tried, to be taken over for nodes that look the same.

    ``outcomes``: why the pod does not fit, or the places among the sorted victims of those that go.
    ``tells_why``: a node is tried, to hear why the pod does not fit, even where it is known that it
    does not.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt, self.tells_why = attempt, False
        self.outcomes: Memo[Hashable, Status | tuple[int, ...]] = Memo(OUTCOMES)
        self._fits: dict[Hashable, Callable[[Usage], bool]] = {}

    def may_fit(self, node: NodeInfo, victims: Sequence[Victim]) -> bool:
        """Whether there is enough of what a node has once all victims have left it, and the pods
        that are nominated for it have come.
        """
        attempt, capacity = self._attempt, tuple(node.allocatable.items())
        fits = self._fits.get(capacity)
        if fits is None:
            fits = self._fits[capacity] = attempt.handle.usage_filter(attempt.state, attempt.pod, node.allocatable)
        changes = [(info, -1) for victim in victims for info, name in victim.pods if name == node.name]
        changes += [
            (each, 1) for each in attempt.handle.nominator.nominated_pods_for_node(node.name)
            if each.priority >= attempt.pod.priority and each.uid != attempt.pod.uid and each.uid not in node.pods]
        usage = list(node.usage)
        for info, sign in changes:
            usage[PODS] += sign
            for place, resource in enumerate(node.allocatable, REQUESTED):
                usage[place] += sign * info.requests.get(resource, 0)
        return fits(tuple(usage))

    @cached_property
    def sign(self) -> Callable[[NodeInfo], Hashable] | None:
        """What the filters depend on at a node; None where that is not known."""
        return self._attempt.handle.filter_signer(self._attempt.state, self._attempt.pod)

    def key(self, node: NodeInfo, requests: Sequence[Hashable] | None) -> Hashable | None:
        """What a trial without budgets depends on; None where that is not known."""
        if requests is None or self._attempt.handle.nominator.nominated_pods_for_node(node.name) or self.sign is None:
            return None
        return self.sign(node), requests


def not_eligible(attempt: Attempt, pod: ReadOnlyTree, statuses: Mapping[str, Status]) -> str:
    """Why a pod, as it is now, must not evict others; empty when it may.

    It may not while pods that were evicted for it are still going.
    """
    if pod["spec"].get("preemptionPolicy") == "Never":
        return NEVER
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    if not nominated:
        return ""
    status = statuses.get(nominated)
    if status is None or status.code == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    node = attempt.snapshot.all_nodes.get(nominated)
    for info in node.pods.values() if node is not None else ():
        if is_terminating_by_preemption(info.pod) and attempt.units.priority_of(info.pod) < attempt.pod.priority:
            return TERMINATING
    return ""


def find_candidates(
    attempt: Attempt, statuses: Mapping[str, Status], budgets: Sequence[ReadOnlyTree], most: int,
) -> tuple[list[Candidate], Status | None]:
    """The nodes where evictions make room, ``most`` of them; where there are none, why: an error
    where that could not be told of a node.
    """
    snapshot = attempt.snapshot
    found: list[Candidate] = []
    unbroken = 0
    trials = Trials(attempt)
    rejections: list[tuple[NodeInfo, Status]] = []
    all_may_help = len(statuses) == len(snapshot.all_nodes) and all(status.code == MAY_HELP for status, _ in counted(statuses))
    for node in snapshot.infos():
        if not all_may_help and not _may_help(statuses.get(node.name)):
            rejections.append((node, NOT_HELPFUL))
            continue
        candidate = _select(attempt, node, budgets, trials)
        if isinstance(candidate, Status):
            rejections.append((node, candidate))
            continue
        found.append(candidate)
        unbroken += not candidate.violations
        if unbroken and len(found) >= most:
            break
    return found, None if found else _why_none(attempt, budgets, trials, rejections)


def _may_help(status: Status | None) -> bool:
    return status is not None and status.code == MAY_HELP


def _select(attempt: Attempt, node: NodeInfo, budgets: Sequence[ReadOnlyTree], trials: Trials) -> Candidate | Status:
    try:
        return select_victims_on_node(attempt, node, budgets, trials)
    except NodeMissing as missing:
        return error(str(missing))


def _why_none(
    attempt: Attempt, budgets: Sequence[ReadOnlyTree], trials: Trials, rejections: Sequence[tuple[NodeInfo, Status]],
) -> Status:
    """Why evictions make room nowhere, for which those that are too small are tried after all."""
    trials.tells_why = True
    told = [_select(attempt, node, budgets, trials) if status is TOO_SMALL else status for node, status in rejections]
    reasons = [each for each in told if isinstance(each, Status)]
    errors = dict.fromkeys(each.message for each in reasons if not each.is_rejection)
    if errors:
        return error(next(iter(errors)) if len(errors) == 1 else f"[{', '.join(errors)}]")
    return unschedulable(f"0/{len(attempt.snapshot.nodes)} nodes are available: {histogram(reasons)}.")


def select_victims_on_node(
    attempt: Attempt, node: NodeInfo, budgets: Sequence[ReadOnlyTree], trials: Trials,
) -> Candidate | Status:
    """What has to go from a node so that the pod fits there; else why it would not fit.

    Pods on other nodes go too where a group is disrupted as a whole. Filters look at this node
    alone; of nodes that look the same to them, with the same pods to evict, one is tried.
    """
    evictable = attempt.units.below(attempt.pod.priority, node, among=attempt.snapshot.all_nodes)
    victims = evictable.victims
    if not victims:
        return NO_VICTIMS
    key, outcomes = None if budgets else trials.key(node, evictable.requests), trials.outcomes
    kept = outcomes.get(key) if key is not None else None
    if kept is not None:
        return kept if isinstance(kept, Status) else Candidate(node.name, tuple([victims[place] for place in kept]), 0)
    if not trials.tells_why and not trials.may_fit(node, victims):
        return TOO_SMALL
    found = _try_node(attempt, node, victims, budgets)
    if key is not None and isinstance(found, Candidate):
        gone = {id(victim): None for victim in found.victims}
        outcomes.put(key, tuple([place for place, victim in enumerate(victims) if id(victim) in gone]))
    elif key is not None and isinstance(found, Status) and found.is_rejection:  # an error names the node
        outcomes.put(key, found)
    return found


def _try_node(
    attempt: Attempt, node: NodeInfo, victims: Sequence[Victim], budgets: Sequence[ReadOnlyTree],
) -> Candidate | Status:
    """Take the victims away, and put back those without which the pod still fits; they are sorted.
    """
    trial = _Trial(attempt, node)
    for victim in victims:
        trial.remove(victim)
    status = trial.rejection()
    if status is not None:
        return status
    breaking, others = split_by_budgets(victims, budgets)
    gone: list[Victim] = []
    violations = 0
    for victim, count in breaking:
        if not trial.spares(victim):
            gone.append(victim)
            violations += count
    gone += [victim for victim in others if not trial.spares(victim)]
    if not gone:
        return Status(Code.ERROR, (f'expected at least one victim pod on node "{node.name}"',))
    return Candidate(node.name, tuple(sorted(gone, key=IMPORTANCE)), violations)


class _Trial:
    """A copy of a node and of the pod's state, on which victims come and go."""

    def __init__(self, attempt: Attempt, node: NodeInfo) -> None:
        self._attempt, self._node, self._state = attempt, node.copy(), attempt.state.clone()

    def rejection(self) -> Status | None:
        """Why the pod does not fit the node now."""
        attempt = self._attempt
        return attempt.handle.run_filter_plugins_with_nominated_pods(self._state, attempt.pod, self._node)

    def remove(self, victim: Victim) -> None:
        """Take a victim away."""
        attempt = self._attempt
        for info, name in victim.pods:
            node = self._node_named(name)
            if node is self._node:
                node.remove(info.uid)
            attempt.handle.run_pre_filter_extension_remove_pod(self._state, attempt.pod, info, node)

    def spares(self, victim: Victim) -> bool:
        """Put a victim back, and whether the pod still fits then; else it is away again."""
        attempt = self._attempt
        for info, name in victim.pods:
            node = self._node_named(name)
            if node is self._node:
                node.add(info)
            attempt.handle.run_pre_filter_extension_add_pod(self._state, attempt.pod, info, node)
        if self.rejection() is None:
            return True
        self.remove(victim)
        return False

    def _node_named(self, name: str) -> NodeInfo:
        return self._node if name == self._node.name else self._attempt.snapshot.all_nodes[name]
