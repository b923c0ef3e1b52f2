"""The best node for a pod without asking each: nodes that look the same are asked once, and full ones not at all.

What comes out is what asking every node would give: the highest total score, and of several the first in name order. It is for
plugins that say what of a node they look at (``Sign``, ``Load``, ``AskedLast``); where one does not, ``cycle`` asks every node.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

from fakekube.util.memory import Memo
from fakekube_controllers.scheduler import cache
from fakekube_controllers.scheduler.framework.interface import Filter, Load, PreScore, Score, Sign, Snapshot, State
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.index import Best, Bound, Index, NodeClass

REMEMBERED = 4096  # answers of plugins about classes of nodes


def total_scores(
    plugins: Sequence[Score], pre_score: Sequence[PreScore], state: State, pod: PodInfo, nodes: Sequence[NodeInfo],
) -> dict[str, int]:
    """What plugins score together, by the name of the node: each between 0 and 100, by its weight.

    Those whose ``pre_score`` asks to be skipped are left out.
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
    """The plugins that filter and score, by what they say of what they look at."""

    sign: Sequence[Sign]
    load: Load
    asked_last: Sequence[Filter]


class Search:
    """Finds nodes for one set of plugins. Answers about classes of nodes are kept: they go by what the plugins sign."""

    def __init__(self, plugins: Plugins, pre_score: Sequence[PreScore], score: Sequence[Score]) -> None:
        self._plugins, self._pre_score = plugins, pre_score
        self._score = [plugin for plugin in score if plugin.name != plugins.load.name]
        self._load_weight: int = getattr(plugins.load, "weight", 0)
        self._last = dict.fromkeys(plugin.name for plugin in plugins.asked_last)
        self._signing = dict.fromkeys(plugin.name for plugin in plugins.sign)
        self._index: Index | None = None
        self._fits: Memo[tuple[Hashable, ...], bool] = Memo(REMEMBERED)

    @classmethod
    def of_plugins(cls, filters: Sequence[Filter], pre_score: Sequence[PreScore], score: Sequence[Score]) -> Self | None:
        """The search with these plugins; None where one does not say what it looks at."""
        everyone: dict[str, Any] = {plugin.name: plugin for plugin in (*filters, *pre_score, *score)}
        sign = [plugin for plugin in everyone.values() if hasattr(plugin, "sign_node")]
        load = [plugin for plugin in everyone.values() if hasattr(plugin, "bound")]
        last = [plugin for plugin in everyone.values() if getattr(plugin, "asked_last", False)]
        if len(load) != 1 or load[0] not in score or len(sign) + len(load) + len(last) != len(everyone):
            return None
        return cls(Plugins(sign, load[0], last), pre_score, score)

    def covers(self, snapshot: Snapshot, skipped: Sequence[str]) -> bool:
        """Whether it can look into a snapshot for a pod to which these filters do not apply."""
        return isinstance(snapshot, cache.Snapshot) and self._plugins.load.name not in skipped

    def best(self, state: State, pod: PodInfo, snapshot: Snapshot, filters: Sequence[Filter]) -> str | None:
        """The best node's name, or None when no node fits."""
        assert isinstance(snapshot, cache.Snapshot), "it covers the snapshot"
        if self._index is None or self._index.snapshot is not snapshot:
            self._index = Index(snapshot, self._plugins.sign, self._plugins.load)
        nodes = snapshot.nodes
        last = [plugin for plugin in filters if plugin.name in self._last]
        looking = [plugin for plugin in filters if plugin.name in self._signing]

        def accepts(name: str) -> bool:
            return all(plugin.filter(state, pod, nodes[name]) is None for plugin in last)

        bounds: dict[Hashable, Bound | None] = {}
        fitting: list[tuple[NodeClass, Best]] = []
        for node_class in self._fitting_classes(state, pod, snapshot, looking):
            for shape in node_class.trees:
                if shape not in bounds:
                    bounds[shape] = self._plugins.load.bound(pod, shape)
            best = node_class.best(bounds, accepts if last else None)
            if best is not None:
                fitting.append((node_class, best))
        if len(fitting) <= 1:
            return fitting[0][1].name if fitting else None
        totals = total_scores(self._score, self._pre_score, state, pod, [nodes[best.name] for _, best in fitting])
        return min((-totals[best.name] - self._load_weight * best.score, best.name) for _, best in fitting)[1]

    def statuses(
        self, state: State, pod: PodInfo, filters: Sequence[Filter],
    ) -> tuple[dict[str, Status], dict[str, None]]:
        """Why the pod fits none of the nodes, by name, and the plugins that say so, once ``best`` has found none.

        Where only asking each node tells, a node is left out.
        """
        assert self._index is not None, "best was asked"
        nodes = self._index.snapshot.nodes
        statuses: dict[str, Status] = {}
        plugins: dict[str, None] = {}
        for node_class in self._index.view(pod).classes:
            for tree in node_class.trees.values():
                told: dict[Hashable, Status] = {}
                for name in tree:
                    node = nodes[name]
                    status = told.get(node.load)
                    if status is None:
                        found = self._rejection(state, pod, filters, node)
                        if found is None:
                            continue
                        status = told[node.load] = found[0]
                        plugins[found[1]] = None
                    statuses[name] = status
        return statuses, plugins

    def _rejection(
        self, state: State, pod: PodInfo, filters: Sequence[Filter], node: NodeInfo,
    ) -> tuple[Status, str] | None:
        """What the first filter says that rejects a node; None where one comes before it whose word is for one node alone."""
        for plugin in filters:
            if plugin.name in self._last:
                return None
            status = plugin.filter(state, pod, node)
            if status is not None:
                return status, plugin.name
        return None

    def _fitting_classes(
        self, state: State, pod: PodInfo, snapshot: cache.Snapshot, filters: Sequence[Filter],
    ) -> list[NodeClass]:
        """The classes of nodes that no plugin rejects which looks at nodes themselves."""
        assert self._index is not None
        signs: tuple[Hashable, ...] = tuple([plugin.sign(pod) for plugin in self._plugins.sign])
        asked = tuple([plugin.name for plugin in filters])
        found = []
        for node_class in self._index.view(pod).classes:
            key = (asked, signs, node_class.signs)
            fits = self._fits.get(key)
            if fits is None:
                node = snapshot.nodes[node_class.some()]
                fits = all(plugin.filter(state, pod, node) is None for plugin in filters)
                self._fits.put(key, fits)
            if fits:
                found.append(node_class)
        return found
