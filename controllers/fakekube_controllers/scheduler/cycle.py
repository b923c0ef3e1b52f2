"""One pod's way from the snapshot to the chosen node.

Upstream: pkg/scheduler/schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes). All
nodes are candidates, unless a configuration says that a part of them is enough (``sampling.py``).

Of several that are best, of which upstream takes any, one is taken by rule, so that a seed gives
one history: under LeastAllocated the one of which the least cpu and memory is requested (a score is
a whole number, and rounds away what small pods take), and then the first in name order.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fakekube.util import memory
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, counted
from fakekube_controllers.scheduler.framework.types import SHARE, NodeInfo, PodInfo
from fakekube_controllers.scheduler.runtime import Framework
from fakekube_controllers.scheduler.sampling import Sampling
from fakekube_controllers.scheduler.search import NodeSearch


class SchedulingError(Exception):
    """A plugin returned an error, rather than that the pod does not fit."""


class Feasible(NamedTuple):
    """The nodes that a pod fits, and why the others do not; ``best`` where it is known already.

    ``named_by``: PreFilter plugins that have named the only nodes to look at.
    """

    nodes: Sequence[NodeInfo]
    statuses: Mapping[str, Status]
    named_by: Sequence[str] = ()
    best: str | None = None


class Algorithm:
    """Finds nodes for the pods of one profile.

    ``groups_nodes``: plugins are asked once about nodes that look the same to them, where
    NodeSearch can; else about each. ``sampling``: how many nodes are enough; None: all of them.
    """

    def __init__(self, framework: Framework, *, groups_nodes: bool = memory.ENABLED, sampling: Sampling | None = None) -> None:
        self.framework, self._sampling = framework, sampling
        self._search = NodeSearch.of_framework(framework) if groups_nodes else None

    @property
    def of_all_nodes(self) -> "Algorithm":
        """The same with all nodes as candidates."""
        return self if self._sampling is None else Algorithm(self.framework)

    def schedule(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> str:
        """The best node's name, without extenders.

        Raises FitError when none fits, SchedulingError when a plugin fails.
        """
        feasible = self.feasible_nodes(state, pod, snapshot)
        if feasible.best is not None:
            return feasible.best
        if not feasible.nodes:
            raise self.fit_error(feasible.statuses, len(snapshot.nodes), *feasible.named_by)
        return self.best_of(state, pod, feasible.nodes)

    def feasible_nodes(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, *, all_of_them: bool = False) -> Feasible:
        """The nodes that the pod fits. ``all_of_them``: not only the best, for extenders.

        Raises FitError when it fits none by PreFilter alone, SchedulingError when a plugin fails.
        """
        nodes = snapshot.nodes
        if not nodes:
            raise FitError({}, 0)
        names, status, named_by = self.framework.run_pre_filter_plugins(state, pod, snapshot)
        if status is not None:
            if not status.is_rejection:
                raise SchedulingError(status.message)
            plugins = (status.plugin,) if status.plugin else named_by
            pending = plugins if status.code == Code.PENDING else ()
            raise FitError({}, len(nodes), pre_filter_status=status, plugins=plugins, pending_plugins=pending)
        nominated = (pod.pod.get("status") or {}).get("nominatedNodeName")
        if nominated and nominated in nodes:
            status = self._rejection(state, pod, nodes[nominated])
            if status is None:
                return Feasible([nodes[nominated]], {})
        is_sampled = self._sampling is not None and self._sampling.enough(len(nodes)) < len(nodes)
        if names is None and not all_of_them and not is_sampled and self._search is not None:
            found = self._search.best(state, pod, snapshot)
            if found is not None:
                return Feasible((), found.statuses, best=found.name)
        return self._ask_each(state, pod, nodes, names, named_by)

    def _ask_each(
        self, state: CycleState, pod: PodInfo, nodes: Mapping[str, NodeInfo], names: Mapping[str, None] | None,
        named_by: Sequence[str],
    ) -> Feasible:
        """Ask every plugin about every node; about those alone that PreFilter plugins have named.
        """
        statuses: dict[str, Status] = {}
        candidates: Iterable[NodeInfo] = nodes.values()
        if names is not None:
            candidates = [nodes[name] for name in names if name in nodes]
            not_named = Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{' '.join(named_by)}]",), named_by[0])
            statuses = {name: not_named for name in nodes if name not in names}
        if self._sampling is not None:
            return self._ask_enough(self._sampling, state, pod, list(candidates), Feasible([], statuses, named_by), len(nodes))
        fitting = []
        for node in candidates:
            status = self._rejection(state, pod, node)
            if status is None:
                fitting.append(node)
            else:
                statuses[node.name] = status
        return Feasible(fitting, statuses, named_by)

    def _ask_enough(
        self, sampling: Sampling, state: CycleState, pod: PodInfo, candidates: Sequence[NodeInfo], known: Feasible,
        num_nodes: int,
    ) -> Feasible:
        """Ask about one node after the other, until more fit than are enough; ``num_nodes`` are all
        there are.
        """
        fitting: list[NodeInfo] = []
        statuses: dict[str, Status] = {}
        enough = sampling.enough(len(candidates))
        for node in sampling.in_turn(candidates):
            status = self._rejection(state, pod, node)
            if status is not None:
                statuses[node.name] = status
            elif len(fitting) == enough:
                break
            else:
                fitting.append(node)
        sampling.go_on(len(fitting) + len(statuses), num_nodes)
        return Feasible(fitting, {**known.statuses, **statuses}, known.named_by)

    def _rejection(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        status = self.framework.run_filter_plugins_with_nominated_pods(state, pod, node)
        if status is not None and not status.is_rejection:
            raise SchedulingError(status.message)
        return status

    @staticmethod
    def fit_error(statuses: Mapping[str, Status], num_all_nodes: int, *more_plugins: str) -> FitError:
        """That no node fits, with the plugins that have said so."""
        distinct = [status for status, _ in counted(statuses)]
        plugins = dict.fromkeys([each.plugin for each in distinct if each.plugin] + list(more_plugins))
        pending = dict.fromkeys(each.plugin for each in distinct if each.code == Code.PENDING)
        return FitError(statuses, num_all_nodes, plugins=tuple(plugins), pending_plugins=tuple(pending))

    def scores(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """The total scores of nodes by name. Raises SchedulingError."""
        failed = self.framework.run_pre_score_plugins(state, pod, nodes)
        if failed is not None:
            raise SchedulingError(failed.message)
        return self.framework.total_scores(state, pod, nodes)

    def best_of(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> str:
        """The name of the node with the highest score. Raises SchedulingError."""
        if len(nodes) == 1:
            return nodes[0].name
        return self.best_by(self.scores(state, pod, nodes), nodes)

    def best_by(self, totals: Mapping[str, int], nodes: Sequence[NodeInfo]) -> str:
        """The name of the node with the highest total."""
        most, emptier_first = max(totals.values()), self.framework.emptier_first
        best = [node for node in nodes if totals[node.name] == most]
        return min((node.usage[SHARE] if emptier_first else 0, node.name) for node in best)[1]
