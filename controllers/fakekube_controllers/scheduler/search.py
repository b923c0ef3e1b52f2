"""Finds the best node for a pod without asking each: nodes with the same signatures are asked once,
full ones not at all.

The answer is that of asking every node, see ``cycle.py``. Plugins that are none of
``framework/search.py``'s kinds must be inactive for the pod; else every node is asked.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from fakekube.util.memory import Memo
from fakekube_controllers.scheduler.framework.interface import FilterPlugin
from fakekube_controllers.scheduler.framework.search import FEASIBLE, ResourcePlugin, ResourceScore, SignPlugin
from fakekube_controllers.scheduler.framework.snapshot import NodeMap, Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, NodeStatuses, Status
from fakekube_controllers.scheduler.framework.types import SHARE, NodeInfo, PodInfo, Usage
from fakekube_controllers.scheduler.index import Best, Bound, Capacity, Index, NodeClass, NodeTree, View
from fakekube_controllers.scheduler.runtime import Framework

FITS = 4096  # answers of SignPlugins about classes of nodes that are kept


class Statuses(NodeStatuses):
    """Those that nodes of the same tree and usage share; some nodes have ``others``."""

    def __init__(
        self, nodes: NodeMap, view: View, by_tree: Mapping[NodeTree, Mapping[Usage, Status | None]],
        others: Mapping[str, Status],
    ) -> None:
        self._nodes, self._entries, self._by_tree, self._others = nodes, view.entries(), by_tree, others
        counts: dict[Status, int] = {}
        for tree, found in by_tree.items():
            groups = tree.by_usage()
            for usage, status in found.items():
                if status is not None:
                    counts[status] = counts.get(status, 0) + len(groups[usage])
        for name, status in others.items():
            usual = by_tree[self._entries[name].tree][nodes[name].usage]
            if usual is not None:
                counts[usual] -= 1
            counts[status] = counts.get(status, 0) + 1
        self.counts = [(status, count) for status, count in counts.items() if count]

    def __getitem__(self, name: str) -> Status:
        other = self._others.get(name)
        if other is not None:
            return other
        status = self._by_tree[self._entries[name].tree][self._nodes[name].usage]
        assert status is not None, "the others have a status of their own"
        return status

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class Found(NamedTuple):
    """The best node's name; None: no node fits, for the reasons in ``statuses``, by their names."""

    name: str | None
    statuses: Mapping[str, Status]


class Plugins(NamedTuple):
    """The plugins of a profile that filter and score, by kind."""

    sign: Sequence[SignPlugin]
    resource: Sequence[ResourcePlugin]
    deferred: Sequence[FilterPlugin]
    others: Sequence[Any]


class NodeSearch:
    """Finds nodes for the pods of one profile.

    Answers about classes of nodes are kept by the signatures of pod and node.
    """

    def __init__(self, framework: Framework, plugins: Plugins) -> None:
        self._framework, self._plugins = framework, plugins
        named = dict.fromkeys
        self._resource_names = named(plugin.name for plugin in plugins.resource)
        self._deferred_names = named(plugin.name for plugin in plugins.deferred)
        self._sign_names = named(plugin.name for plugin in plugins.sign)
        self._counting_names = named(plugin.name for plugin in plugins.sign if getattr(plugin, "counts_pods", False))
        self._pre_score = [plugin for plugin in framework.pre_score_plugins if plugin.name in self._sign_names]
        self._score = [plugin for plugin in framework.score_plugins if plugin.name in self._sign_names]
        self._scores = named(plugin.name for plugin in framework.score_plugins)
        self._index = Index(plugins.sign)
        self._fits: Memo[tuple[Hashable, ...], bool] = Memo(FITS)

    @classmethod
    def of_framework(cls, framework: Framework) -> Self | None:
        """The search for a profile; None when a plugin of it is asked about every node anyway."""
        plugins: dict[str, Any] = {
            plugin.name: plugin
            for plugin in (*framework.filter_plugins, *framework.pre_score_plugins, *framework.score_plugins)}
        sign, resource, deferred, others = [], [], [], []
        scoring = dict.fromkeys(plugin.name for plugin in framework.score_plugins)
        may_skip = dict.fromkeys(plugin.name for plugin in framework.pre_filter_plugins)
        for name, plugin in plugins.items():
            if hasattr(plugin, "sign_node"):
                sign.append(plugin)
            elif hasattr(plugin, "resource_score"):
                resource.append(plugin)
            elif getattr(plugin, "deferred", False):
                deferred.append(plugin)
            elif hasattr(plugin, "is_inactive") or (name in may_skip and name not in scoring):
                others.append(plugin)
            else:
                return None
        return cls(framework, Plugins(sign, resource, deferred, others)) if resource else None

    def _covers(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> bool:
        """Whether it can search a snapshot for a pod."""
        skipped = state.skip_filter_plugins
        if snapshot.placement is not None or any(name in skipped for name in self._resource_names):
            return False
        for plugin in self._plugins.others:
            if plugin.name in skipped and plugin.name not in self._scores:
                continue
            if not hasattr(plugin, "is_inactive") or not plugin.is_inactive(state, pod, snapshot):
                return False
        return True

    def best(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Found | None:
        """The best node, or that none fits; None when every node is to be asked."""
        if not self._covers(state, pod, snapshot):
            return None
        nodes, skipped = snapshot.all_nodes, state.skip_filter_plugins
        view = self._index.view(pod, nodes)
        deferred = [each for each in self._plugins.deferred if each.name not in skipped]
        signing = [each for each in self._framework.filter_plugins if each.name in self._sign_names and each.name not in skipped]
        apart = self._nodes_apart(pod, snapshot)

        def accepts(name: str) -> bool:
            return name not in apart and all(plugin.filter(state, pod, nodes[name]) is None for plugin in deferred)

        bounds: dict[Capacity, Bound | None] = {}
        fitting: list[Best] = []
        counts: dict[str, int] = {}
        for node_class in self._fitting_classes(state, pod, snapshot, view, signing):
            for capacity in node_class.trees:
                if capacity not in bounds:
                    bounds[capacity] = self._bound(pod, capacity)
            best = node_class.best(bounds, accepts if deferred or apart else None)
            if best is not None:
                fitting.append(best)
                if view.counts_pods:
                    counts[best.name] = node_class.count(bounds, accepts if deferred or apart else None)
        rejected: dict[str, Status] = {}
        for name, node in apart.items():
            status = self._framework.run_filter_plugins_with_nominated_pods(state, pod, node)
            if status is None:
                by = self._bound(pod, tuple(node.allocatable.items()))
                assert by is not None, "it fits"
                share = node.usage[SHARE] if by.emptier_first else 0
                fitting.append(Best(by.score(node.usage), share, name))
            else:
                rejected[name] = status
        if not fitting:
            return Found(None, self._statuses(state, pod, snapshot, view, rejected))
        if len(fitting) == 1:
            return Found(fitting[0].name, {})
        if view.counts_pods:
            state[FEASIBLE] = counts
        totals = self._sign_totals(state, pod, [nodes[best.name] for best in fitting])
        return Found(min((-totals[best.name] - best.score, best.share, best.name) for best in fitting)[2], {})

    def _nodes_apart(self, pod: PodInfo, snapshot: Snapshot) -> dict[str, NodeInfo]:
        """Nodes that are asked one by one, as pods are nominated for them that count there."""
        nominator = self._framework.nominator
        return {
            name: snapshot.all_nodes[name] for name in nominator.nodes() if name in snapshot.all_nodes
            and any(each.priority >= pod.priority and each.uid != pod.uid for each in nominator.nominated_pods_for_node(name))}

    def _bound(self, pod: PodInfo, capacity: Capacity) -> Bound | None:
        """The weighted scores of all ResourcePlugins together, for nodes of one capacity."""
        allocatable = dict(capacity)
        parts: list[tuple[ResourceScore, int]] = []
        for plugin in self._plugins.resource:
            part = plugin.resource_score(pod, allocatable)
            if part is None:
                return None
            parts.append((part, self._framework.weights[plugin.name] if plugin.name in self._scores else 0))
        is_exact = all(part.bound is part.score for part, _ in parts)
        bound = _sum([(part.bound, weight) for part, weight in parts])
        score = bound if is_exact else _sum([(part.score, weight) for part, weight in parts])
        return Bound(bound, score, emptier_first=self._framework.emptier_first)

    def _statuses(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, view: View, rejected: dict[str, Status],
    ) -> "Statuses":
        """Why the pod fits no node."""
        nodes = snapshot.all_nodes
        by_tree: dict[NodeTree, dict[Usage, Status | None]] = {}
        others = dict(rejected)
        for node_class in view.classes:
            for tree in node_class.trees.values():
                groups = tree.by_usage()
                found = by_tree[tree] = {
                    usage: self._rejection(state, pod, nodes[next(iter(names))]) for usage, names in groups.items()}
                for usage, status in found.items():
                    for name in groups[usage] if status is None else ():  # a deferred filter has a say
                        if name not in others:
                            others[name] = self._deferred_rejection(state, pod, nodes[name])
        return Statuses(nodes, view, by_tree, others)

    def _deferred_rejection(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        """The rejection of a node that a deferred filter may have a say in."""
        status = self._framework.run_filter_plugins(state, pod, node)
        if status is None:
            raise RuntimeError(f"a plugin's signatures contradict its filter on node {node.name}")
        return status

    def _rejection(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The first rejection of a node; None when a deferred filter comes before it."""
        for plugin in self._framework.filter_plugins:
            if plugin.name in state.skip_filter_plugins:
                continue
            if plugin.name in self._deferred_names:
                return None
            status: Status | None = plugin.filter(state, pod, node)
            if status is not None:
                return status.of_plugin(plugin.name)
        return None

    def _fitting_classes(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, view: View, filters: Sequence[FilterPlugin],
    ) -> list[NodeClass]:
        """The classes of nodes that no SignPlugin rejects."""
        signatures: tuple[Hashable, ...] = tuple([plugin.sign_pod(pod) for plugin in self._plugins.sign])
        counting = [plugin for plugin in filters if plugin.name in self._counting_names]
        filters = [plugin for plugin in filters if plugin.name not in self._counting_names]
        names = tuple([plugin.name for plugin in filters])
        found = []
        for node_class in view.classes:
            key = (names, signatures, node_class.signatures)
            fits = self._fits.get(key)
            if fits is None:
                node = snapshot.all_nodes[node_class.any_node()]
                fits = all(plugin.filter(state, pod, node) is None for plugin in filters)
                self._fits.put(key, fits)
            if fits and counting:
                node = snapshot.all_nodes[node_class.any_node()]
                fits = all(plugin.filter(state, pod, node) is None for plugin in counting)
            if fits:
                found.append(node_class)
        return found

    def _sign_totals(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """The normalized and weighted scores of SignPlugins, by the name of the node."""
        skipped = [
            plugin.name for plugin in self._pre_score
            if (status := plugin.pre_score(state, pod, nodes)) is not None and status.code == Code.SKIP]
        totals = {node.name: 0 for node in nodes}
        for plugin in self._score:
            if plugin.name not in skipped:
                scores = {node.name: plugin.score(state, pod, node) for node in nodes}
                if hasattr(plugin, "normalize_score"):
                    plugin.normalize_score(state, pod, scores)
                weight = self._framework.weights[plugin.name]
                for name, score in scores.items():
                    totals[name] += score * weight
        return totals


def _sum(parts: Sequence[tuple[Callable[[Usage], int], int]]) -> Callable[[Usage], int]:
    """One function for several with weights; -1 where any is."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]

    if len(parts) == 2:
        (first, first_weight), (second, second_weight) = parts

        def total_of_two(usage: Usage) -> int:
            score = first(usage)
            if score < 0:
                return -1
            more = second(usage)
            return -1 if more < 0 else score * first_weight + more * second_weight

        return total_of_two

    def total(usage: Usage) -> int:
        result = 0
        for function, weight in parts:
            score = function(usage)
            if score < 0:
                return -1
            result += score * weight
        return result

    return total
