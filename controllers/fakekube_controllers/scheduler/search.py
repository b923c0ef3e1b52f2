"""Finds the best node for a pod without asking each: nodes with the same signatures are asked once,
full ones not at all.

The answer is that of asking every node: the highest total score, and of several the first in name
order. Every plugin with a filter or a score has to be a ``SignPlugin``, the ``ResourcePlugin`` or a
``DeferredFilterPlugin``; else every node is asked.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

from fakekube.util.memory import Memo
from fakekube_controllers.scheduler import cache
from fakekube_controllers.scheduler.framework.interface import (
    CycleState,
    FilterPlugin,
    PreScorePlugin,
    ResourcePlugin,
    ScorePlugin,
    SignPlugin,
    Snapshot,
)
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.index import Best, Bound, Index, NodeClass

FITS = 4096  # answers of SignPlugins about classes of nodes that are kept


def total_scores(
    plugins: Sequence[ScorePlugin], pre_score: Sequence[PreScorePlugin], state: CycleState, pod: PodInfo,
    nodes: Sequence[NodeInfo],
) -> dict[str, int]:
    """The sum of all plugins' normalized scores, by the name of the node, each multiplied by the
    plugin's weight.

    Plugins whose ``pre_score`` returns SKIP are left out.
    """
    skipped = [
        plugin.name for plugin in pre_score
        if (status := plugin.pre_score(state, pod, nodes)) is not None and status.code == Code.SKIP
    ]
    totals = {node.name: 0 for node in nodes}
    for plugin in plugins:
        if plugin.name not in skipped:
            scores = {node.name: plugin.score(state, pod, node) for node in nodes}
            plugin.normalize_score(state, pod, scores)
            for name, score in scores.items():
                totals[name] += score * plugin.weight
    return totals


class Plugins(NamedTuple):
    """The plugins that filter and score, by kind."""

    sign: Sequence[SignPlugin]
    resource: ResourcePlugin
    deferred: Sequence[FilterPlugin]


class NodeSearch:
    """Finds nodes for one set of plugins.

    Answers about classes of nodes are kept by the signatures of pod and node.
    """

    def __init__(self, plugins: Plugins, pre_score: Sequence[PreScorePlugin], score: Sequence[ScorePlugin]) -> None:
        self._plugins, self._pre_score = plugins, pre_score
        self._score = [plugin for plugin in score if plugin.name != plugins.resource.name]
        self._resource_weight: int = getattr(plugins.resource, "weight", 0)
        self._deferred = dict.fromkeys(plugin.name for plugin in plugins.deferred)
        self._signing = dict.fromkeys(plugin.name for plugin in plugins.sign)
        self._index: Index | None = None
        self._fits: Memo[tuple[Hashable, ...], bool] = Memo(FITS)

    @classmethod
    def of_plugins(
        cls, filters: Sequence[FilterPlugin], pre_score: Sequence[PreScorePlugin], score: Sequence[ScorePlugin],
    ) -> Self | None:
        """The search with these plugins; None when one of them is of none of the three kinds."""
        plugins: dict[str, Any] = {plugin.name: plugin for plugin in (*filters, *pre_score, *score)}
        sign = [plugin for plugin in plugins.values() if hasattr(plugin, "sign_node")]
        resource = [plugin for plugin in plugins.values() if hasattr(plugin, "score_bound")]
        deferred = [plugin for plugin in plugins.values() if getattr(plugin, "deferred", False)]
        if len(resource) != 1 or resource[0] not in score or len(sign) + len(resource) + len(deferred) != len(plugins):
            return None
        return cls(Plugins(sign, resource[0], deferred), pre_score, score)

    def covers(self, snapshot: Snapshot, skipped: Sequence[str]) -> bool:
        """Whether it can search a snapshot for a pod that these filters skip."""
        return isinstance(snapshot, cache.Snapshot) and self._plugins.resource.name not in skipped

    def best(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, filters: Sequence[FilterPlugin]) -> str | None:
        """The best node's name, or None when no node fits."""
        assert isinstance(snapshot, cache.Snapshot), "covers() said so"
        if self._index is None or self._index.snapshot is not snapshot:
            self._index = Index(snapshot, self._plugins.sign, self._plugins.resource)
        nodes = snapshot.nodes
        deferred = [plugin for plugin in filters if plugin.name in self._deferred]
        signing = [plugin for plugin in filters if plugin.name in self._signing]

        def accepts(name: str) -> bool:
            return all(plugin.filter(state, pod, nodes[name]) is None for plugin in deferred)

        bounds: dict[Hashable, Bound | None] = {}
        fitting: list[tuple[NodeClass, Best]] = []
        for node_class in self._fitting_classes(state, pod, snapshot, signing):
            for capacity in node_class.trees:
                if capacity not in bounds:
                    bounds[capacity] = self._plugins.resource.score_bound(pod, capacity)
            best = node_class.best(bounds, accepts if deferred else None)
            if best is not None:
                fitting.append((node_class, best))
        if len(fitting) <= 1:
            return fitting[0][1].name if fitting else None
        totals = total_scores(self._score, self._pre_score, state, pod, [nodes[best.name] for _, best in fitting])
        return min((-totals[best.name] - self._resource_weight * best.score, best.name) for _, best in fitting)[1]

    def statuses(
        self, state: CycleState, pod: PodInfo, filters: Sequence[FilterPlugin],
    ) -> tuple[dict[str, Status], dict[str, None]]:
        """After ``best`` has found none: why the pod does not fit, by name of the node, and the
        plugins that rejected it.

        Nodes that only a deferred filter may reject are left out.
        """
        assert self._index is not None, "best was asked"
        nodes = self._index.snapshot.nodes
        statuses: dict[str, Status] = {}
        plugins: dict[str, None] = {}
        for node_class in self._index.view(pod).classes:
            for tree in node_class.trees.values():
                by_usage: dict[Hashable, Status] = {}
                for name in tree:
                    node = nodes[name]
                    status = by_usage.get(node.usage)
                    if status is None:
                        found = self._rejection(state, pod, filters, node)
                        if found is None:
                            continue
                        status = by_usage[node.usage] = found[0]
                        plugins[found[1]] = None
                    statuses[name] = status
        return statuses, plugins

    def _rejection(
        self, state: CycleState, pod: PodInfo, filters: Sequence[FilterPlugin], node: NodeInfo,
    ) -> tuple[Status, str] | None:
        """The first rejection of a node and the plugin's name; None when a deferred filter comes
        before it.
        """
        for plugin in filters:
            if plugin.name in self._deferred:
                return None
            status = plugin.filter(state, pod, node)
            if status is not None:
                return status, plugin.name
        return None

    def _fitting_classes(
        self, state: CycleState, pod: PodInfo, snapshot: cache.Snapshot, filters: Sequence[FilterPlugin],
    ) -> list[NodeClass]:
        """The classes of nodes that no SignPlugin rejects."""
        assert self._index is not None
        signatures: tuple[Hashable, ...] = tuple([plugin.sign_pod(pod) for plugin in self._plugins.sign])
        names = tuple([plugin.name for plugin in filters])
        found = []
        for node_class in self._index.view(pod).classes:
            key = (names, signatures, node_class.signatures)
            fits = self._fits.get(key)
            if fits is None:
                node = snapshot.nodes[node_class.any_node()]
                fits = all(plugin.filter(state, pod, node) is None for plugin in filters)
                self._fits.put(key, fits)
            if fits:
                found.append(node_class)
        return found
