"""What would let a tree of groups be scheduled.

The group's own algorithm is run on a copy of the nodes: with less and less of what was missing, and
with more nodes. A large group is counted instead of tried.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.runtime.why import Changes, Place, Reason
from fakekube.util.tasks import finish
from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.groups.algorithm import ALL_NODES, GroupAlgorithm
from fakekube_controllers.scheduler.groups.entities import topology_key_of
from fakekube_controllers.scheduler.groups.placer import SnapshotPlacer
from fakekube_controllers.scheduler.groups.results import PodResult, Results, succeeded_leaves
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.why import generous, smallest, trial
from fakekube_controllers.scheduler.why.room import Room

MAX_WORK = 20_000  # pods times nodes: a larger group is not tried over and over


class Needed(NamedTuple):
    """The smallest change, and what would do as well; None: it fits as it is."""

    changes: Changes | None
    alternatives: tuple[Changes, ...]


class GangRoom:
    """Asks about one tree of groups on one snapshot."""

    def __init__(
        self, algorithm: Algorithm, states: GroupStates, snapshot: Snapshot, root: PodGroupInfo, *, uses_placements: bool,
    ) -> None:
        self._algorithm, self._states, self._snapshot, self._root = algorithm, states, snapshot, root
        self._uses_placements = uses_placements
        self._pods = sum(len(leaf.unscheduled_pods) for leaf in root.leaves())
        self._is_large = self._pods * max(1, len(snapshot.all_nodes)) > MAX_WORK

    def _run(self, placer: SnapshotPlacer) -> Results:
        return finish(GroupAlgorithm(placer, self._states, uses_placements=self._uses_placements).run(self._root))

    def fits(self, snapshot: Snapshot) -> bool:
        """Whether the real algorithm succeeds, whatever the names of the nodes that are added."""
        return all(self._succeeds(each) for each in trial.with_other_names(snapshot, self._snapshot))

    def _succeeds(self, snapshot: Snapshot) -> bool:
        return self._run(SnapshotPlacer(self._algorithm, snapshot.copy(), CycleState()))[self._root.key].succeeded

    def needed(self) -> Needed:
        """What would let the tree be scheduled."""
        if self.fits(self._snapshot):
            return Needed(None, ())
        if self._is_large:
            return Needed(self._counted(), ())
        found = self._least_granted()
        nodes = self._more_nodes() or self._unlike_nodes()
        if found is None:
            return Needed(nodes or (), ())
        return Needed(found, (nodes,) if nodes is not None else ())

    def _more_nodes(self) -> Changes | None:
        """The fewest nodes that will do, in a new placement or in one that is there."""
        key = topology_key_of(self._root.group)
        nodes = [node.node for node in self._snapshot.all_nodes.infos() if key and node.node]
        values = [value for each in nodes if (value := meta.labels_of(each).get(key or "")) is not None]
        for domain in (generous.NEW_DOMAIN, *list(dict.fromkeys(values))[:smallest.MAX_SHAPES]):
            found = smallest.more_nodes(self._snapshot, self.fits, self._bare_node(domain))
            if found is not None:
                return found
        return None

    def _counted(self) -> Changes:
        """For a large group: a node for each pod that found none, where that will do."""
        results = self._run(SnapshotPlacer(self._algorithm, self._snapshot.copy(), CycleState()))
        placed = sum(pod.fits for result in results.values() for pod in result.pods)
        bare = self._bare_node()
        if bare is None:
            return ()
        wanted = (bare.times(max(1, self._pods - placed)),)
        return wanted if self.fits(trial.changed(self._snapshot, wanted)) else ()

    def _least_granted(self) -> Changes | None:
        """The least of what is granted that will do.

        What the pods that are needed are granted may not: others, which are tried before them, may
        take it. Then it is what all pods lack.
        """
        for is_partial, gives_all in ((False, False), (True, False), (False, True)):
            wanted = self._granted(is_partial=is_partial, gives_all=gives_all)
            found = smallest.shrunk(self._snapshot, wanted, self.fits) if wanted else None
            if found is not None:
                return found
        return None

    def _granted(self, *, is_partial: bool, gives_all: bool) -> Changes:
        """What a cycle grants in which nodes are given what is missing; nothing: it does not help.
        """
        snapshot, state = self._snapshot.copy(), CycleState()
        placer = generous.GenerousPlacer(self._algorithm, snapshot, state, self._root, is_partial=is_partial, gives_all=gives_all)
        results = self._run(placer)
        if not results[self._root.key].succeeded:
            return ()
        placed = [pod for leaf in succeeded_leaves(self._root, results) for pod in leaf.pods if pod.fits]
        labels = [change for info in _all(self._root) if topology_key_of(info.group) is not None
                  for change in generous.missing_labels(info, self._snapshot, _nodes_of(info, results))]
        return trial.merged([*labels, *placer.granted(placed)])

    def _bare_node(self, domain: str = generous.NEW_DOMAIN) -> smallest.NewNode | None:
        """A node in a placement that will do for a pod of any group; None where no node can."""
        kinds = self._bare_nodes(domain)
        return kinds[0][0] if len(kinds) == 1 else None

    def _bare_nodes(self, domain: str = generous.NEW_DOMAIN) -> Sequence[tuple[smallest.NewNode, int]]:
        """Nodes that differ in labels that no node can have together, each as large as the largest,
        with the number of pods that it is for; nothing where no such nodes would do.
        """
        keys = [topology_key_of(info.group) for info in _all(self._root)]
        labels = {key: domain for key in keys if key is not None}
        room, found = Room(self._algorithm.framework), list[tuple[smallest.NewNode, int]]()
        for leaf in self._root.leaves():
            if not leaf.unscheduled_pods:
                continue
            bare = smallest.bare_node(self._snapshot, room, leaf.unscheduled_pods[0].info, labels)
            if bare is None:
                return ()
            found.append((bare, len(leaf.unscheduled_pods)))
        return smallest.as_few_kinds(self._snapshot, found)

    def _unlike_nodes(self) -> Changes | None:
        """Nodes of several kinds, as few as will do.

        Where one for each pod is not enough, since pods that may go to any kind take those of
        others, there are as many of each kind as there are pods.
        """
        kinds = self._bare_nodes()
        if len(kinds) < 2:
            return None
        for most in (0, self._pods):
            wanted = tuple([node.times(max(count, most)) for node, count in kinds])
            found = smallest.shrunk(self._snapshot, wanted, self.fits)
            if found is not None:
                return found
        return None

    # what is said of each placement

    def places(self) -> Iterator[Place]:
        """Each placement of the root, and why it will not do. A placement of all nodes has the name
        ``all nodes``.
        """
        snapshot, state = self._snapshot.copy(), CycleState()
        placer = SnapshotPlacer(self._algorithm, snapshot, state)
        found: Sequence[Placement] | Status = [ALL_NODES]
        if self._uses_placements:
            found = placer.placements(self._root, ALL_NODES)
        if isinstance(found, Status):
            key = topology_key_of(self._root.group)
            more = f": no node has the label {key}" if key and found.is_rejection else ""
            yield Place("placements", (Reason(found.plugin, f"{found.message}{more}"),))
            return
        for placement in found:
            placer = SnapshotPlacer(self._algorithm, self._snapshot.copy(), CycleState())
            algorithm = GroupAlgorithm(placer, self._states, uses_placements=self._uses_placements)
            trial_ = finish(algorithm.in_placement(self._root, placement))
            yield Place(self._name(placement), tuple(self._reasons(trial_)))

    def _name(self, placement: Placement) -> str:
        key = topology_key_of(self._root.group)
        return "all nodes" if placement.node_names is None else f"placement {key}={placement.name}"

    def _reasons(self, results: Results) -> Iterator[Reason]:
        """What is said of the groups, and of the first pod of each that does not fit."""
        for result in results.values():
            if result.status is None:
                continue
            kind = result.info.key.type
            yield Reason(f"{kind}/{result.info.key.name}", ", ".join(result.status.reasons) or result.status.message)
            rejected = next((pod for pod in result.pods if not pod.fits), None)
            if kind is EntityType.POD_GROUP and rejected is not None:
                yield from _of_pod(rejected, sum(not pod.fits for pod in result.pods))


def _of_pod(pod: PodResult, count: int) -> Iterator[Reason]:
    assert pod.status is not None, "it was rejected"
    more = f", as {count - 1} more" if count > 1 else ""
    yield Reason(f"pod/{pod.queued.key.name}", f"{pod.status.message}{more}")


def _all(info: PodGroupInfo) -> Iterator[PodGroupInfo]:
    yield info
    for child in info.children:
        yield from _all(child)


def _nodes_of(info: PodGroupInfo, results: Results) -> list[str]:
    return [pod.node_name for leaf in succeeded_leaves(info, results) for pod in leaf.pods if pod.fits]
