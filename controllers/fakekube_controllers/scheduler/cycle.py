"""One pod's way through the extension points, from the snapshot to the chosen node.

Upstream: pkg/scheduler/schedule_one.go, framework/runtime/framework.go. All nodes are candidates
(upstream samples large clusters), and of several that are best the first in name order is taken, so
that a seed gives one history.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fakekube.util import memory
from fakekube_controllers.scheduler.framework.interface import (
    BindPlugin,
    CycleState,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueingHint,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Snapshot,
)
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.search import NodeSearch, total_scores


class PreFilterResult(NamedTuple):
    """The only nodes that are candidates (None: all), and the plugins that returned them.

    Upstream: PreFilterResult.
    """

    node_names: dict[str, None] | None = None
    plugins: tuple[str, ...] = ()

    def merge(self, names: Sequence[str], plugin: str) -> "PreFilterResult":
        """The nodes that are both in this result and in that of one more plugin."""
        kept = [name for name in names if self.node_names is None or name in self.node_names]
        return PreFilterResult(dict.fromkeys(kept), tuple(sorted([*self.plugins, plugin])))


class SchedulingError(Exception):
    """A plugin returned an error, rather than that the pod does not fit."""


def _having(plugins: Sequence[Plugin], method: str) -> list[Any]:
    """The plugins of an extension point, by its method: isinstance of a Protocol takes a hundred
    times as long.
    """
    return [plugin for plugin in plugins if hasattr(plugin, method)]


class Framework:
    """The plugins of one profile, by extension point.

    ``groups_nodes``: plugins are asked once about nodes with the same signatures, where NodeSearch
    can; else about each.
    """

    def __init__(self, plugins: Sequence[Plugin], *, groups_nodes: bool = memory.ENABLED) -> None:
        self.queue_sort_plugin: QueueSortPlugin = _having(plugins, "sort_key")[0]
        self.pre_enqueue_plugins: list[PreEnqueuePlugin] = _having(plugins, "pre_enqueue")
        self.pre_filter_plugins: list[PreFilterPlugin] = _having(plugins, "pre_filter")
        self.filter_plugins: list[FilterPlugin] = _having(plugins, "filter")
        self.post_filter_plugins: list[PostFilterPlugin] = _having(plugins, "post_filter")
        self.pre_score_plugins: list[PreScorePlugin] = _having(plugins, "pre_score")
        self.score_plugins: list[ScorePlugin] = _having(plugins, "score")
        self.reserve_plugins: list[ReservePlugin] = _having(plugins, "reserve")
        self.permit_plugins: list[PermitPlugin] = _having(plugins, "permit")
        self.pre_bind_plugins: list[PreBindPlugin] = _having(plugins, "pre_bind")
        self.bind_plugins: list[BindPlugin] = _having(plugins, "bind")
        self.post_bind_plugins: list[PostBindPlugin] = _having(plugins, "post_bind")
        hinting: list[QueueingHint] = _having(plugins, "is_schedulable_after")
        self.queueing_hints = {plugin.name: plugin for plugin in hinting}
        self._search: NodeSearch | None = None
        if groups_nodes:
            self._search = NodeSearch.of_plugins(self.filter_plugins, self.pre_score_plugins, self.score_plugins)

    def schedule(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> str:
        """The best node's name.

        Raises FitError when none fits, SchedulingError when a plugin fails.
        """
        nodes = snapshot.nodes
        if not nodes:
            raise FitError({}, 0)
        candidates, skipped = self._pre_filter(state, pod, snapshot)
        filters = [plugin for plugin in self.filter_plugins if plugin.name not in skipped]
        fitting: list[NodeInfo] = []
        grouped = candidates.node_names is None and self._search is not None and self._search.covers(snapshot, skipped)
        if grouped:
            assert self._search is not None
            name = self._search.best(state, pod, snapshot, filters)
            if name is not None:
                return name
        else:
            names = nodes if candidates.node_names is None else [name for name in candidates.node_names if name in nodes]
            fitting = [nodes[name] for name in names if self._rejection(filters, state, pod, nodes[name]) is None]
        if not fitting:
            raise self._all_rejections(state, pod, snapshot, candidates, filters, grouped=grouped)
        if len(fitting) == 1:
            return fitting[0].name
        totals = total_scores(self.score_plugins, self.pre_score_plugins, state, pod, fitting)
        best = max(totals.values())
        return min(name for name, total in totals.items() if total == best)

    def _pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult, list[str]]:
        candidates = PreFilterResult()
        skipped: list[str] = []
        for plugin in self.pre_filter_plugins:
            result = plugin.pre_filter(state, pod, snapshot)
            if isinstance(result, Status):
                if result.code == Code.SKIP:
                    skipped.append(plugin.name)
                    continue
                self._raise_error(result, plugin.name)
                raise self._fit_error(state, pod, snapshot, FitError(
                    {}, len(snapshot.nodes), pre_filter_status=result, plugins=(plugin.name,)))
            if result is not None:
                candidates = candidates.merge(result, plugin.name)
        return candidates, skipped

    def _rejection(
        self, filters: Sequence[FilterPlugin], state: CycleState, pod: PodInfo, node: NodeInfo,
    ) -> tuple[Status, str] | None:
        """The first rejection of a node and the filter's name, or None."""
        for plugin in filters:
            status = plugin.filter(state, pod, node)
            if status is not None:
                self._raise_error(status, plugin.name)
                return status, plugin.name
        return None

    def _all_rejections(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, candidates: PreFilterResult,
        filters: Sequence[FilterPlugin], *, grouped: bool,
    ) -> FitError:
        """The rejections of all nodes. ``grouped``: NodeSearch.best has found none."""
        nodes = snapshot.nodes
        statuses: dict[str, Status] = {}
        plugins: dict[str, None] = {}
        if candidates.node_names is not None:
            not_named = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(candidates.plugins)}]")
            statuses = {name: not_named for name in nodes if name not in candidates.node_names}
            if statuses:
                plugins = dict.fromkeys(candidates.plugins)
        elif grouped:
            assert self._search is not None
            statuses, plugins = self._search.statuses(state, pod, filters)
        for name, node in nodes.items():
            if name not in statuses:
                rejection = self._rejection(filters, state, pod, node)
                assert rejection is not None, "no node fits"
                statuses[name] = rejection[0]
                plugins[rejection[1]] = None
        return self._fit_error(state, pod, snapshot, FitError(statuses, len(nodes), plugins=tuple(plugins)))

    def _fit_error(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, error: FitError) -> FitError:
        for plugin in self.post_filter_plugins:
            _, text = plugin.post_filter(state, pod, snapshot, error.statuses)
            if text:
                return FitError(error.statuses, error.num_all_nodes, error.pre_filter_status, text, error.plugins)
        return error

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Run the Reserve and Permit plugins; a rejection undoes the reservations, and is returned.

        None: the pod may be bound.
        """
        for plugin in self.reserve_plugins:
            status = plugin.reserve(state, pod, node_name)
            if status is not None:
                self.unreserve(state, pod, node_name)
                return status
        for permit in self.permit_plugins:
            status = permit.permit(state, pod, node_name)
            if status is not None:
                self.unreserve(state, pod, node_name)
                return status
        return None

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo all reservations, the last first."""
        for plugin in reversed(self.reserve_plugins):
            plugin.unreserve(state, pod, node_name)

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Run the PreBind, Bind and PostBind plugins; what went wrong, WAIT to be called again, or
        None.
        """
        for plugin in self.pre_bind_plugins:
            status = await plugin.pre_bind(state, pod, node_name)
            if status is not None and status.code == Code.ERROR:
                return Status(Code.ERROR, (f'running PreBind plugin "{plugin.name}": {status.message}',))
            if status is not None:
                return status
        for binder in self.bind_plugins:
            status = await binder.bind(state, pod, node_name)
            if status is None or status.code != Code.SKIP:
                break
        if status is None:
            for observer in self.post_bind_plugins:
                observer.post_bind(state, pod, node_name)
        return status

    @staticmethod
    def _raise_error(status: Status, plugin: str) -> None:
        if status.code == Code.ERROR:
            raise SchedulingError(f"running {plugin}: {status.message}")
