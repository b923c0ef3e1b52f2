"""A group's cycle in which nodes are given what is missing, as little as will do.

The algorithm is that of the real cycle; only where a pod fits no node, and the group would be lost
without it, the node with the least missing gets that. So a group that could do without a pod does
without it, as in the real cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery import meta
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import EntityKey, PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo
from fakekube_controllers.scheduler.groups.entities import topology_key_of
from fakekube_controllers.scheduler.groups.placer import SnapshotPlacer
from fakekube_controllers.scheduler.groups.results import PodResult
from fakekube_controllers.scheduler.why import smallest, trial
from fakekube_controllers.scheduler.why.room import Room

MAX_GRANTS = 256  # in one cycle
COST_OF_NODE = 10.0
NEW_DOMAIN = "new"


@dataclass(slots=True)
class Grant:
    """What a node was given for a pod, or (``node``) that it was added.

    ``before``: the nodes that it changes without it, and what was proposed, while it ``stands``.
    """

    result: PodResult
    changes: Changes
    cost: float
    node: NodeInfo | None = None
    before: Mapping[str, NodeInfo | None] = field(default_factory=dict)
    proposed: Changes = ()
    stands: bool = False


class GenerousPlacer(SnapshotPlacer):
    """Places pods on one snapshot, and grants what is missing.

    ``is_partial``: the group has its minimum, and what is asked is how one more pod would fit.
    ``gives_all``: every pod is given what it lacks, be it needed or not.
    """

    def __init__(
        self, algorithm: Algorithm, snapshot: Snapshot, state: CycleState, root: PodGroupInfo, *, is_partial: bool = False,
        gives_all: bool = False,
    ) -> None:
        super().__init__(algorithm, snapshot, state)
        self._room = Room(algorithm.framework, self._new_state)
        self._infos: dict[EntityKey, PodGroupInfo] = {}
        self._parents: dict[EntityKey, EntityKey] = {}
        self._leaf_of: dict[str, EntityKey] = {}
        self._progress: dict[EntityKey, tuple[int, int]] = {}
        self._grants: dict[int, Grant] = {}
        self._asked, self._is_partial, self._gives_all = 0, is_partial, gives_all
        self._learn(root)

    def _learn(self, info: PodGroupInfo) -> None:
        self._infos[info.key] = info
        for queued in info.unscheduled_pods:
            self._leaf_of[queued.info.uid] = info.key
        for child in info.children:
            self._parents[child.key] = info.key
            self._learn(child)

    def _new_state(self) -> CycleState:
        state = CycleState()
        state.pod_group = self._state
        return state

    def granted(self, results: Sequence[PodResult]) -> Changes:
        """What the pods of these results were granted, together."""
        grants = [self._grants[id(each)] for each in results if id(each) in self._grants]
        return trial.merged(change for grant in grants for change in grant.changes)

    # what the algorithm asks

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        """As in the real cycle; how far each group has come is remembered."""
        self._progress[info.key] = scheduled, remaining
        return super().feasible(info, scheduled, remaining)

    def placements(self, info: PodGroupInfo, within: Placement) -> Sequence[Placement] | Status:
        """As in the real cycle; where no node has the label of the group, all nodes, to be given
        it.
        """
        found = super().placements(info, within)
        key = topology_key_of(info.group)
        if key is None or not isinstance(found, Status) or not found.is_rejection:
            return found
        names = within.node_names if within.node_names is not None else dict.fromkeys(self._snapshot.all_nodes)
        return [Placement(NEW_DOMAIN, names)]

    def best_placement(self, info: PodGroupInfo, found: Sequence[tuple[Placement, Sequence[PodResult]]]) -> Placement | Status:
        """The placement to which the least was granted, and of several the first."""
        costs = [sum(grant.cost for each in pods if (grant := self._grants.get(id(each)))) for _, pods in found]
        return found[costs.index(min(costs))][0]

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        """Look for a node; where none fits and the group needs the pod, for that which lacks least.
        """
        result = await super().try_pod(queued, placement)
        if result.fit_error is None or self._asked >= MAX_GRANTS or not self._is_needed(queued):
            return result
        self._asked += 1
        added = [grant.node.name for grant in self._grants.values() if grant.node is not None and grant.stands]
        names = placement.node_names
        if added and names is None:
            names = dict.fromkeys(name for name in self._snapshot.all_nodes if name not in added)
        self._snapshot.placement = names
        found = self._room.least(queued.info, self._snapshot)
        self._snapshot.placement = None
        if found is None:
            return self._with_new_node(result, placement)
        given = PodResult(queued, None, found.node.name, self._new_state())
        self._grants[id(given)] = Grant(given, found.changes, found.cost)
        given.status = self.assume(given)
        return given

    def _with_new_node(self, result: PodResult, placement: Placement) -> PodResult:
        """The same pod on a node of its own, where the placement is not of certain nodes."""
        bare = smallest.bare_node(self._snapshot, self._room, result.queued.info) if placement.node_names is None else None
        if bare is None:
            return result
        given = PodResult(result.queued, None, bare.node.name, self._new_state())
        self._grants[id(given)] = Grant(given, (bare.times(1),), COST_OF_NODE, bare.node)
        given.status = self.assume(given)
        return given

    def _is_needed(self, queued: QueuedPodInfo) -> bool:
        """Whether all groups above a pod would be lost without it."""
        key: EntityKey | None = self._leaf_of[queued.info.uid]
        if self._gives_all:
            return True
        if self._is_partial:
            return not self._grants
        while key is not None:
            scheduled, remaining = self._progress.get(key, (0, 1))
            status = super().feasible(self._infos[key], scheduled, remaining - 1)
            if status is None or not status.is_rejection:
                return False
            key = self._parents.get(key)
        return True

    # what stands in the snapshot

    def assume(self, result: PodResult) -> Status | None:
        """Assume a pod's node, which has what was granted to it."""
        grant = self._grants.get(id(result))
        if grant is not None and not grant.stands:
            self._do(grant)
            pod = result.queued.info
            # plugins reserve what PreFilter and Filter have noted
            self._algorithm.framework.run_pre_filter_plugins(result.state, pod, self._snapshot)
            self._framework.run_filter_plugins(result.state, pod, self._snapshot.all_nodes[result.node_name])
        return super().assume(result)

    def _do(self, grant: Grant) -> None:
        """Have what is granted in the snapshot."""
        grant.stands, grant.proposed = True, self._snapshot.proposed
        if grant.node is not None:
            grant.before = {grant.node.name: None}
            self._snapshot.put(grant.node.name, grant.node)
            return
        after = trial.changed(self._snapshot, grant.changes)
        nodes = self._snapshot.all_nodes
        grant.before = {name: nodes[name] for name, _ in after.all_nodes.changes_since(nodes)}
        for name in grant.before:
            self._snapshot.put(name, after.all_nodes[name])
        self._snapshot.proposed = after.proposed

    def revert(self, result: PodResult) -> None:
        """Give the node back, and what was granted to it.

        The last that was assumed is the first that is reverted, so the node is as it was.
        """
        super().revert(result)
        grant = self._grants.get(id(result))
        if grant is not None and grant.stands:
            for name, node in grant.before.items():
                self._snapshot.put(name, node)
            self._snapshot.proposed, grant.stands = grant.proposed, False


def missing_labels(info: PodGroupInfo, snapshot: Snapshot, node_names: Sequence[str]) -> list[Change]:
    """The label that nodes of a group's placement do not have yet, all with the same new value."""
    key = topology_key_of(info.group)
    assert key is not None, "the group has a placement"
    found = {name: meta.labels_of(node).get(key) for name in snapshot.all_nodes if (node := snapshot.all_nodes[name].node)}
    values = dict.fromkeys(found.values())
    names = (f"{NEW_DOMAIN}{number or ''}" for number in range(len(values) + 1))
    value = next(name for name in names if name not in values)
    return [changes.set_label(f"node/{name}", key, value) for name in dict.fromkeys(node_names) if found.get(name) is None]
